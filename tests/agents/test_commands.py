"""What all subcommands share: formats, folders, rules, refusals, and full disks."""

import csv
import errno
import io
import json

import pytest

from agents.evaluation import store, watch
from agents.evaluation.cli import COMMANDS, main
from agents.training.exploit import ExploitCommand

EVERY = {**COMMANDS, "exploit": ExploitCommand}
HOUSE = ["--house-rules", "lives=2"]
WORDS = {
    "benchmark": "threshold:25 --players 2 --opponents random --deals 10",
    "tournament": "threshold:25 random --deals 10",
    "thresholds": "--first 26 --last 27 --deals 100",
    "exploit": "threshold:25 --exploiters random --learn 0 --deals 10",
    "advise": "--hand %HAND --deals 20",
    "chart": "threshold:25 --players 2 --deals 10",
    "claims": "a_blitz_is_rare --players 2 --deals 40",
    "watch": "threshold:25 random",
    "replay": "%RECORD --ask random",
    "play": "random --seed 3",
}
HANDS = {
    "danish": ["Kh 9h 4c", "--upcard", "7d"],
    "swedish": ["Kh 9h 4c", "--upcard", "7d"],
    "schwimmen_a7": ["Kh 9h 8c", "--table", "7d Td Ah"],
}


def test_every_command_is_here():
    assert WORDS.keys() == EVERY.keys()


def run(name, rules, *more, record=None):
    words = [name]
    for word in WORDS[name].split():
        words += HANDS[rules] if word == "%HAND" else [record if word == "%RECORD" else word]
    if name != "replay":
        words += ["--rules", rules, *HOUSE]
    return main([*words, *more], EVERY)


@pytest.mark.parametrize("rules", HANDS)
@pytest.mark.parametrize("name", WORDS)
def test_every_format(name, rules, tmp_path, capsys, monkeypatch):
    record = str(tmp_path / "match.jsonl")
    if name == "replay":
        assert run("watch", rules, "--record", record) == 0
    for kind in ("json", "csv", "parquet"):
        monkeypatch.setattr("sys.stdin", io.StringIO("knock\nkeep\npass\nq\n"))
        folder = tmp_path / kind
        capsys.readouterr()
        assert run(name, rules, "--format", kind, "--out", str(folder), record=record) == 0
        out = capsys.readouterr().out
        if kind == "json" and name in ("watch", "replay", "play"):
            assert all(json.loads(line)["action"] for line in out.splitlines())
        elif kind == "json":
            assert json.loads(out)
        elif kind == "csv":
            table = list(csv.DictReader(io.StringIO(out)))
            assert table
            assert None not in table[0]
        else:
            assert list(folder.glob("*.parquet"))
        whole = json.loads((folder / f"{name}.json").read_text("utf-8"))
        assert len(json.dumps(whole)) > 100
        assert list(folder.glob("*.csv"))


@pytest.mark.parametrize("name", WORDS)
def test_folders_that_cannot_be(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    (tmp_path / "file").write_text("x")
    assert run(name, "danish", "--format", "parquet", record="none.jsonl") == 2
    assert "--format parquet needs --out" in capsys.readouterr().err
    for place in ("file", "file/below"):
        out = str(tmp_path / place)
        assert run(name, "danish", "--out", out, record="none.jsonl") == 2
        assert f"error: --out {out}: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["benchmark", "tournament", "exploit", "watch"])
def test_a_full_disk_is_told(name, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "write_bytes", full)
    monkeypatch.setattr(watch._ShowCommand, "write_files", full)
    assert run(name, "danish", "--out", str(tmp_path / "out")) == 1
    assert "No space left on device" in capsys.readouterr().err


def test_decisions_tell_no_hidden_cards(tmp_path, capsys):
    words = ["watch", "chart:danish", "random", "--players", "3", "--seat", "1", "--format", "csv"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    drawn = [row for row in rows if row["action"] == "draw_stock"]
    assert all(bool(row["card"]) == (row["seat"] == "1") for row in drawn)
    assert all(bool(row["probability"]) == (row["seat"] == "1") for row in rows)
    assert len({row["seat"] for row in drawn}) > 1
    with (tmp_path / "probabilities.csv").open() as file:
        odds = list(csv.DictReader(file))
    assert {row["seat"] for row in odds} == {"1"}
    sums: dict = {}
    for row in odds:
        at = row["round"], row["event"]
        sums[at] = sums.get(at, 0.0) + float(row["probability"])
    assert all(total == pytest.approx(1) for total in sums.values())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("tournament danish swedish --deals 0", "deals = 0 is not allowed; allowed: 2 or more"),
        ("tournament danish swedish --players 3 --line-ups 0", "line_ups = 0 is not allowed"),
        ("benchmark danish --deals -5", "deals = -5 is not allowed; allowed: 2 or more"),
        ("benchmark danish --players ", "--players names nothing"),
        ("benchmark danish --opponents ", "--opponents names nothing"),
        ("chart danish --players ", "--players names nothing"),
        ("watch danish --deal -1", "deal = -1 is not allowed; allowed: 0 or more"),
        ("play danish --deal -1", "deal = -1 is not allowed; allowed: 0 or more"),
        ("replay", "name a file of match records"),
        ("exploit danish --exploiters random,nobot", "'nobot' is neither a bot"),
    ],
)
def test_nonsense_is_refused_before_anything_is_played(words, message, capsys):
    assert main(words.split(" "), EVERY) == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert message in errors
    assert "Traceback" not in errors
    assert "matches/s" not in errors


def test_a_size_that_is_named_twice_is_played_once(capsys):
    words = "benchmark danish --opponents random --deals 10 --players 2,3,2 --format csv"
    assert main(words.split()) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2


def test_who_gains_nothing_sets_no_bound(capsys):
    words = "exploit danish --exploiters random --learn 0 --deals 50"
    assert main(words.split(), EVERY) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "None of these exploiters gains against danish beyond chance" in out
    assert "at least -" not in out
