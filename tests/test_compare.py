"""The comparison with other libraries: its rows, its table, and peers that are not there."""

import re
import subprocess
from pathlib import Path

import pytest

from benchmarks import compare
from benchmarks.compare import PEERS, ROWS, Result, Row, Unavailable, cells, rate, written
from benchmarks.peers.clock import Measurement, rates
from benchmarks.peers.ours import MEASUREMENTS

SCRIPTS = Path(compare.__file__).parent / "peers"
WITH_PEER = next(row for row in ROWS if row.peer and row.wanted)


def found(ours, theirs=None, row=WITH_PEER, reason=""):
    return Result(row, ours, theirs, "9.9.9" if theirs else "", reason, 0.5)


def test_every_row_is_measurable_and_has_a_title():
    assert {row.ours for row in ROWS} <= set(MEASUREMENTS)
    assert set(MEASUREMENTS) == set(compare.OURS)
    assert {row.peer for row in ROWS} == {"", *PEERS}
    for peer in PEERS.values():
        assert (SCRIPTS / f"{peer.script}.py").is_file()
        pinned = (SCRIPTS.parent / "constraints" / f"{peer.venv}.txt").read_text(encoding="utf-8")
        assert all(re.fullmatch(r"#.*|[\w.-]+==\S+", line) for line in pinned.splitlines())
    assert len({(row.ours, row.peer, row.theirs) for row in ROWS}) == len(ROWS)


def test_the_makefile_installs_every_peer():
    files = {path.stem for path in (SCRIPTS.parent / "constraints").glob("*.txt")}
    assert files == {peer.venv for peer in PEERS.values()}


def test_the_clock_runs_over_the_work_alone():
    calls = []
    measurement = Measurement(
        work=lambda: sum(range(200_000)),
        decisions=lambda result: calls.append("counted") or 7,
        prepare=lambda: calls.append("prepared"),
    )
    values = rates(measurement, runs=3)
    assert len(values) == 3
    assert all(value > 0 for value in values)
    assert calls == ["prepared"] + 3 * ["prepared", "counted"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(31_900_000, "31.9 M"), (2_240_000, "2.24 M"), (204_500, "204 k"), (4_661, "4.66 k")],
)
def test_rates_have_three_figures(value, text):
    assert rate(value) == text


def test_a_ratio_that_is_missed_is_called_missed():
    row = Row("bots", "openspiel", "crazy_eights, bots", 15)
    assert cells(found(30e6, 2e6, row))[-3:] == ["15.0", "≥ 15", "yes"]
    assert cells(found(29e6, 2e6, row))[-3:] == ["14.5", "≥ 15", "no"]
    assert cells(found(99e3, row=Row("single", wanted=100e3)))[-2:] == ["≥ 100 k", "no"]
    assert cells(found(101e3, row=Row("single", wanted=100e3)))[-2:] == ["≥ 100 k", "yes"]


def test_a_peer_that_is_not_there_is_a_row_that_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(compare, "ROOT", tmp_path)
    peer = PEERS["pufferlib"]
    with pytest.raises(Unavailable, match="make bench-peers"):
        compare.interpreter(peer)
    venv = tmp_path / ".venv-bench-pufferlib"
    venv.mkdir()
    log = "Collecting it\n  urllib.error.URLError: <no network>\n\nnote: a subprocess\n"
    (venv / "install.log").write_text(log, encoding="utf-8")
    with pytest.raises(Unavailable) as refusal:
        compare.interpreter(peer)
    assert "URLError" in str(refusal.value)
    line = cells(found(5e6, reason=str(refusal.value)))
    assert "not installed: URLError: no network" in line[2]
    assert line[3] == line[4] == line[6] == ""
    (venv / ".ready").touch()
    assert compare.interpreter(peer) == venv / "bin" / "python"


def test_a_script_that_fails_is_a_row_that_says_so(monkeypatch):
    def run(*args, **options):
        return subprocess.CompletedProcess(args, 1, "", "Traceback …\nValueError: no such game\n")

    monkeypatch.setattr(compare.subprocess, "run", run)
    with pytest.raises(Unavailable, match="failed: ValueError: no such game"):
        compare.measured("python", "pgx", "chess")


def test_the_table_takes_its_place_in_the_page():
    page = compare.PAGE.read_text(encoding="utf-8")
    new = written(page, [found(5e6, 2e6)])
    before, after = (compare.BLOCK.split(text) for text in (page, new))
    assert before == after
    rows = re.findall(r"^\|.*\|$", compare.BLOCK.search(new)[0], re.MULTILINE)
    assert len(rows) == 3
    assert {row.count("|") for row in rows} == {8}
    assert written(new, [found(5e6, 2e6)]).count("<!-- peers -->") == 1
    with pytest.raises(ValueError, match="no place"):
        written("nothing", [])


def test_words_choose_rows():
    assert compare.chosen([]) == list(ROWS)
    assert {row.peer for row in compare.chosen(["pgx"])} == {"pgx"}
    assert compare.chosen(["no such library"]) == []
