"""Match records: of matches in progress and over, on the command line, and when they are spoilt."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thirtyone_env
from tests.engine.house_rules import random_house_rules
from tests.env.helpers import (
    DRAW,
    EVERY_TABLE,
    KNOCK,
    PASS,
    at_random,
    by_bots,
    deal,
    generator,
    play,
    play_some,
    scaled,
    shuffled_deck,
    snapshot,
    some_player,
    turns,
)
from tests.independent import checker
from thirtyone_env import PRESETS, Rules
from thirtyone_env.cards import NAMES
from thirtyone_env.record import Fault, check, dump, play_match, read, replay, write
from thirtyone_env.record.__main__ import run
from thirtyone_env.state import Phase

Record = dict[str, Any]


def accepted(record: Record) -> None:
    """Both checkers accept a record, and a replay makes the same bytes of it."""
    line = dump(record)
    check(json.loads(line))
    checker.check_match(json.loads(line))
    assert dump(replay(json.loads(line))) == line


# --- what the environment records ---------------------------------------------------------------


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
def test_a_match_in_progress_is_recorded_at_any_time(rules, num_players):
    rng = generator("in progress", rules, num_players)
    env = thirtyone_env.env(rules=rules, num_players=num_players)
    env.reset(seed=int(rng.integers(1 << 60)))
    accepted(env.record())
    looks = set(rng.geometric(1 / 150, 4).tolist())
    for step, _ in enumerate(turns(env, some_player(rng, num_players))):
        if step in looks:
            before = snapshot(env)
            record = env.record()
            assert snapshot(env) == before
            assert record.get("unfinished", False) == (env._states["phase"][0] != Phase.OVER)
            accepted(record)
        if step > 1000:
            break
    record = env.record(["danish", None, *["random"] * (num_players - 2)])
    assert record.get("unfinished", False) == (env._states["phase"][0] != Phase.OVER)
    assert record["policies"][:2] == ["danish", None]
    accepted(record)


def test_a_record_names_what_its_cards_derive_from():
    env = thirtyone_env.env(num_players=3)
    env.reset(seed=12)
    env.reset()
    record = env.record()
    assert (record["seed"], record["deal"], record["preset"]) == (12, 1, "danish")
    again = thirtyone_env.new_match("danish", 3, seed=12, match=1)
    assert record["rounds"][0]["dealer"] == again["dealer"][0]


@pytest.mark.parametrize("rules", ["danish", "schwimmen_a7", "danish_joker", "danish_four_cards"])
def test_a_match_from_a_situation_is_recorded(rules):
    rng = generator("situation", rules)
    env = thirtyone_env.env(rules=rules, num_players=3)
    deck = shuffled_deck(PRESETS[rules], rng)
    env.reset(seed=5, options={"deck": deck[:9], "dealer": 1})
    play_some(env, at_random(rng), 30)
    record = env.record()
    assert (record["seed"], record["deal"], record["rounds"][0]["dealer"]) == (None, None, 1)
    accepted(record)
    play(env, at_random(rng))
    accepted(env.record())


def test_a_record_cannot_begin_with_other_lives():
    env = thirtyone_env.env(num_players=2)
    env.reset(seed=1, options={"lives": [1, 3]})
    with pytest.raises(ValueError, match=r"lives \[1, 3\]; a record can only begin with 3 each"):
        env.record()


@pytest.mark.parametrize("policies", [[], ["random"], ["random"] * 3])
def test_a_record_wants_a_name_for_each_seat(policies):
    env = thirtyone_env.env(num_players=2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="2 names are needed"):
        env.record(policies)


@pytest.mark.parametrize(
    "changes",
    [
        {"preset": "danish"},
        {"preset": "danish", "lives": 1},
        {"preset": "danish", "lives": 1, "decider": "draw"},
        {"preset": "danish", "max_rounds": 1},
        {"preset": "dutch_buy_in", "lives": 1},
        {"preset": "dutch_buy_in", "lives": 1, "max_rounds": 1},
        {"preset": "schwimmen_a7", "lives": 1},
        {"preset": "widow", "lives": 1, "free_ride": False, "decider": "draw"},
    ],
    ids=str,
)
def test_a_single_round_is_recorded_as_the_beginning_of_its_match(changes):
    rng = generator("single round", changes)
    for _ in range(25):
        env = thirtyone_env.env(rules=changes, num_players=2, episode="round")
        env.reset(seed=int(rng.integers(1 << 60)))
        play(env, at_random(rng))
        record = env.record()
        assert len(record["rounds"]) == 1
        accepted(record)


def test_a_settled_deal_is_recorded():
    for lives in (1, 2):
        rules = Rules.preset("danish", lives=lives)
        env = thirtyone_env.env(rules=rules, num_players=2)
        env.reset(seed=1, options={"dealer": 0, "deck": deal(["2c 3d 4h", "As Ks Qs"], 0)})
        record = env.record()
        assert record["rounds"][0]["end"] == "dealt_blitz"
        assert record["winner"] == (1 if lives == 1 else None)
        accepted(record)


def test_house_rules_are_recorded():
    rng = generator("house rules")
    names = random.Random(int(rng.integers(1 << 60)))
    for _ in range(60):
        rules, seats = random_house_rules(names)
        env = thirtyone_env.env(rules=rules, num_players=seats)
        env.reset(seed=int(rng.integers(1 << 60)))
        play_some(env, some_player(rng, seats), int(rng.integers(200)))
        accepted(env.record())


# --- spoilt records -----------------------------------------------------------------------------

WORDS = (
    *("draw_stock", "take_upcard", "discard", "knock", "pass", "swap_all", "give", "take"),
    *("keep", "refuse", "buy_in", "decline", "reshuffle", "renew_table", "blitz", "dealt_blitz"),
    *("void", "stock_out", "max_turns", "others", "lowest", "danish", ""),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from places(part, (*path, key))


def another_list(value: list[Any], rng: random.Random) -> Any:
    """A list with one thing left out, moved, doubled, or cut off."""
    other = copy.deepcopy(value)
    kind = rng.randrange(5)
    if not other or kind == 4:
        return None
    place = rng.randrange(len(other))
    if kind == 0:
        del other[place]
    elif kind == 1:
        del other[place:]
    elif kind == 2:
        other.insert(rng.randrange(len(other) + 1), copy.deepcopy(other[place]))
    else:
        other.insert(rng.randrange(len(other)), other.pop(place))
    return other


def another_object(value: Record, rng: random.Random) -> Any:
    """An object with a key left out, added or moved."""
    keys = list(value)
    kind = rng.randrange(4)
    if kind == 0:
        keys.remove(rng.choice(keys))
    elif kind == 1:
        rng.shuffle(keys)
    elif kind == 2:
        return value | {"more": 1}
    else:
        return None
    return {key: value[key] for key in keys}


def another(value: Any, rng: random.Random) -> Any:
    """Something else in place of a value, most often of the same kind."""
    if isinstance(value, list):
        return another_list(value, rng)
    if isinstance(value, dict):
        return another_object(value, rng)
    if isinstance(value, bool):
        return rng.choice([not value, not value, int(value), None])
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, 0, 1, -1, float(value), str(value), None])
    if isinstance(value, float):
        return rng.choice([-value, value + 0.5, round(value, 2), int(value), None])
    if isinstance(value, str):
        return rng.choice(NAMES if value in NAMES and rng.random() < 0.9 else (*WORDS, None, 5))
    return rng.choice([0, 1, [], "", False, {}, [0], "Kh", True])


def spoil(record: Record, rng: random.Random) -> tuple[tuple[Any, ...], Record]:
    """A record with one thing changed, and where; every kind of place is as likely."""
    kinds = defaultdict(list)
    for path in places(record):
        kinds[tuple(key for key in path if isinstance(key, str))].append(path)
    kind = rng.choice(list(kinds))
    *path, last = rng.choice(kinds[kind])
    spoilt = copy.deepcopy(record)
    inside = spoilt
    for key in path:
        inside = inside[key]
    inside[last] = another(inside[last], rng)
    return kind, spoilt


def verdict(judge: Callable[[Record], Any], record: Record) -> bool:
    try:
        judge(record)
    except (Fault, checker.Fault):
        return False
    return True


# Where the independent checker is content and ours is not: rules that no `Rules` can have, preset
# names that are none of ours, seeds below 0, no rounds at all, open cards that are not sorted.
STRICTER_PLACES = {"preset", "rules", "seed", "deal", "rounds", "table", "cards"}


def compare_verdicts(number: int) -> None:
    rng = random.Random(int(generator("spoilt").integers(1 << 60)))
    players = np.random.default_rng(rng.randrange(1 << 60))
    tally: Counter[tuple[bool, bool]] = Counter()
    for match in range(-(-number // 40)):
        rules, seats = random_house_rules(rng)
        if match % 3:
            rules = PRESETS[rng.choice(list(PRESETS))]
            rules = rng.choice([rules, Rules.from_dict(rules.to_dict() | {"max_rounds": 2})])
            seats = rng.randint(2, 4)
        env = thirtyone_env.env(rules=rules, num_players=seats)
        env.reset(seed=rng.randrange(1 << 60))
        play_some(env, some_player(players, seats), rng.choice([30, 80, 10_000]))
        good = json.loads(dump(env.record()))
        for _ in range(40):
            kind, spoilt = spoil(good, rng)
            ours, theirs = verdict(check, spoilt), verdict(checker.check_match, spoilt)
            tally[ours, theirs] += 1
            if ours != theirs:
                assert theirs, f"{kind}: only the independent checker refuses it"
                assert kind[-1] in STRICTER_PLACES or kind[0] == "rules", kind
    assert tally[False, False] > 0.8 * number
    assert tally[False, True] < 0.05 * number


def test_both_checkers_judge_spoilt_records_alike():
    compare_verdicts(1000)


@pytest.mark.slow
def test_both_checkers_judge_many_spoilt_records_alike():
    compare_verdicts(scaled(50_000))


@pytest.mark.parametrize(
    ("rules", "seats"), [("danish_reshuffle", 9), ("schwimmen_german", 2), ("schwimmen_german", 5)]
)
def test_both_checkers_judge_spoilt_reshuffles_alike(rules, seats):
    rng = random.Random(int(generator("reshuffles", rules, seats).integers(1 << 60)))
    env = thirtyone_env.env(rules=rules, num_players=seats)
    tally: Counter[tuple[bool, bool]] = Counter()
    for _ in range(6):
        env.reset(seed=rng.randrange(1 << 60))
        for _, (seen, *_) in turns(env, running_out(rng)):
            if env._states["reshuffles"][0] > 1 or not seen["action_mask"].any():
                break
        good = json.loads(dump(env.record()))
        accepted(good)
        events = [e for row in good["rounds"] for e in row["events"] if e["action"] == "reshuffle"]
        for event in events:
            cards = event["cards"]
            for _ in range(12):
                spoilt, place = list(cards), rng.randrange(len(cards))
                others = [card for card in NAMES if card not in cards] + cards
                kind = rng.randrange(4)
                if kind < 2:
                    spoilt[place] = rng.choice(others)
                elif kind == 2:
                    spoilt.insert(place, rng.choice(others))
                else:
                    del spoilt[place]
                event["cards"] = spoilt
                tally[verdict(check, good), verdict(checker.check_match, good)] += 1
            event["cards"] = cards
    assert tally[True, False] == tally[False, True] == 0
    assert tally[False, False] > 50


def running_out(rng: random.Random) -> Callable[[Any, dict[str, np.ndarray]], int]:
    """Draws, or passes where there is nothing to draw, and never knocks."""

    def choose(env: Any, seen: dict[str, np.ndarray]) -> int:
        legal = np.flatnonzero(seen["action_mask"]).tolist()
        lasting = PASS if env.rules.family == "exchange" else DRAW
        return lasting if lasting in legal else rng.choice([a for a in legal if a != KNOCK])

    return choose


# --- the command line ---------------------------------------------------------------------------


def record_file(path: Path, rules: str = "danish", matches: int = 3, **options: str) -> Path:
    more = [word for name, value in options.items() for word in (f"--{name}", value)]
    arguments = ["play", "--rules", rules, "--matches", str(matches), "--out", str(path), *more]
    assert run(arguments) == 0
    return path


def test_the_documented_command_line(tmp_path):
    path = tmp_path / "matches.jsonl"
    command = [sys.executable, "-m", "thirtyone_env.record"]
    play_it = [
        *("play", "--rules", "danish", "--players", "4"),
        *("--policies", "random,threshold:25,danish,dutch", "--matches", "100", "--seed", "7"),
    ]
    done = subprocess.run(
        [*command, *play_it, "--out", str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == f"100 matches written to {path}"
    done = subprocess.run([*command, "check", str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{path}: 100 matches, no fault\n")
    assert checker.check_file(path)["matches"] == 100
    records = [record for _, record in read(path)]
    assert [record["deal"] for record in records] == list(range(100))
    assert {record["seed"] for record in records} == {7}
    assert {tuple(r["policies"]) for r in records} == {
        ("random", "threshold:25", "danish", "dutch")
    }
    fifth = play_match(PRESETS["danish"], records[5]["policies"], seed=7, deal=5)
    assert dump(fifth) == dump(records[5])


@pytest.mark.parametrize("rules", PRESETS)
def test_every_preset_is_played_and_checked(rules, tmp_path, capsys):
    path = record_file(tmp_path / "matches.jsonl", rules, 4, policies="random,danish,swedish")
    assert run(["check", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: 4 matches, no fault\n"
    assert checker.check_file(path)["matches"] == 4
    assert [record["preset"] for _, record in read(path)] == [rules] * 4


def test_house_rules_come_from_the_command_line(tmp_path):
    rows = ["min_knock=20.5", "three_aces=none", "free_ride=yes", "stock_out=reshuffle", "lives=2"]
    arguments = [word for row in rows for word in ("--set", row)]
    path = tmp_path / "house.jsonl"
    assert run(["play", "--rules", "finnish", *arguments, "--out", str(path)]) == 0
    ((_, record),) = read(path)
    expected = Rules.preset(
        "finnish", min_knock=20.5, three_aces=None, free_ride=True, stock_out="reshuffle", lives=2
    )
    assert (record["preset"], record["rules"]) == (None, expected.to_dict())
    accepted(record)


def test_packed_and_plain_files_and_standard_output_hold_the_same(tmp_path, capsysbinary):
    plain = record_file(tmp_path / "a.jsonl").read_bytes()
    packed = record_file(tmp_path / "a.jsonl.gz")
    assert gzip.decompress(packed.read_bytes()) == plain
    assert record_file(tmp_path / "b.jsonl.gz").read_bytes() == packed.read_bytes()
    capsysbinary.readouterr()
    assert run(["play", "--matches", "3", "--out", "-"]) == 0
    written = capsysbinary.readouterr()
    assert written.out == plain
    assert written.err == b"3 matches written to -\n"
    assert run(["check", str(packed), str(tmp_path / "a.jsonl")]) == 0
    assert capsysbinary.readouterr().out.count(b"3 matches, no fault") == 2


def test_records_are_read_from_standard_input(tmp_path, monkeypatch, capsys):
    text = record_file(tmp_path / "a.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert run(["check", "-"]) == 0
    assert capsys.readouterr().out == "-: 3 matches, no fault\n"


def test_more_matches_go_on_from_an_index(tmp_path):
    whole = record_file(tmp_path / "a.jsonl", matches=5).read_text().splitlines()
    rest = record_file(tmp_path / "b.jsonl", matches=2, first="3").read_text().splitlines()
    assert rest == whole[3:]


def test_one_bot_plays_every_seat(tmp_path):
    path = record_file(tmp_path / "a.jsonl", policies="threshold_by_turn:21,25.5", players="3")
    assert {tuple(record["policies"]) for _, record in read(path)} == {
        ("threshold_by_turn:21,25.5",) * 3
    }
    path = record_file(tmp_path / "b.jsonl", policies="threshold_by_turn:21,25,danish")
    assert next(r["policies"] for _, r in read(path)) == ["threshold_by_turn:21,25", "danish"]


def test_nothing_is_overwritten(tmp_path, capsys):
    path = record_file(tmp_path / "a.jsonl")
    before = path.read_bytes()
    assert run(["play", "--seed", "9", "--out", str(path)]) == 2
    assert "exists; choose another name" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileExistsError):
        write(path, [])


def test_a_file_appears_when_it_is_complete(tmp_path):
    def records() -> Iterator[Record]:
        yield play_match(PRESETS["danish"], ["random", "random"], seed=1, deal=0)
        assert list(tmp_path.glob("*.jsonl")) == []
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a.jsonl", records())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--rules danisch", "unknown preset 'danisch' (did you mean 'danish'?)"),
        ("--set live=2", "unknown rule 'live' (did you mean 'lives'?)"),
        ("--set lives=0", "lives = 0 is not allowed"),
        ("--set lives", "--set 'lives': expected RULE=VALUE"),
        ("--set free_ride=1", "free_ride = 1 is not allowed"),
        ("--players 1 --policies random", "num_players = 1 is not allowed"),
        ("--players 10 --policies random", "num_players = 10 is not allowed"),
        ("--players 0", "--players 0"),
        ("--players 3 --policies random,danish", "2 bots for --players 3"),
        ("--policies random,clever", "unknown bot 'clever'"),
        ("--policies random,external", "'external' decides outside"),
        ("--policies random,", "unknown bot ''"),
        ("--policies random,threshold:99", "thresholds are 1 to 8 numbers"),
        ("--matches 0", "--matches 0: at least 1"),
        ("--matches -3", "--matches -3: at least 1"),
        ("--seed -1", "--seed -1: 0 … 2**64 − 1"),
        (f"--seed {1 << 64}", f"--seed {1 << 64}: 0 … 2**64 − 1"),
        ("--first -1", "--first -1: 0 … 2**63 − 1"),
        (f"--first {1 << 63}", f"--first {1 << 63}: 0 … 2**63 − 1"),
    ],
)
def test_a_wrong_argument_gives_one_clear_line(arguments, message, tmp_path, capsys):
    out = tmp_path / "a.jsonl"
    assert run(["play", *arguments.split(), "--out", str(out)]) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith("error: ")
    assert written.err.count("\n") == 1
    assert message in written.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", ["", "play", "check", "show", "plays", "play --matches x --out -", "play --o"]
)
def test_an_incomplete_command_line_shows_how_it_goes(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        run(arguments.split())
    assert end.value.code == 2
    assert "usage: python -m thirtyone_env.record" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["play", "--out"], ["check"], ["show"]])
def test_a_path_that_leads_nowhere_gives_one_clear_line(command, tmp_path, capsys):
    assert run([*command, str(tmp_path / "nowhere" / "a.jsonl")]) == 2
    assert run([*command, str(tmp_path)]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2
    assert all(error.startswith("error: ") for error in errors)


def test_a_record_in_words(tmp_path, capsys):
    path = record_file(tmp_path / "a.jsonl", "schwimmen_german", policies="random,danish,dutch")
    records = [record for _, record in read(path)]
    capsys.readouterr()
    for number, record in enumerate(records, 1):
        assert run(["show", str(path), "--match", str(number)]) == 0
        words = capsys.readouterr().out
        assert words.startswith(f"schwimmen_german, 3 players, seed 0, deal {number - 1}")
        assert f"Seat {record['winner']} wins." in words
        assert words.count("Round ") == len(record["rounds"])
    for number in ("0", "4", "-1"):
        assert run(["show", str(path), "--match", number]) == 2
        assert "has matches 1 … 3" in capsys.readouterr().err


# --- what is wrong, and where -------------------------------------------------------------------


def change(*path: Any, to: Any) -> Callable[[Record], None]:
    def apply(record: Record) -> None:
        inside = record
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = to

    return apply


def draw_twice(record: Record) -> None:
    events = record["rounds"][1]["events"]
    events.insert(1, events[0])


def leave_out_the_end(record: Record) -> None:
    record["rounds"][1]["events"].pop()


def swap_two_dealt_cards(record: Record) -> None:
    hands, stock = record["rounds"][0]["hands"], record["rounds"][0]["stock"]
    hands[0][0], stock[-1] = stock[-1], hands[0][0]


def swap_two_stock_cards(record: Record) -> None:
    stock = record["rounds"][0]["stock"]
    stock[0], stock[1] = stock[1], stock[0]


FAULTS: list[tuple[str, Callable[[Record], None]]] = [
    ("line 2: format 'chess' is not", change("format", to="chess")),
    ("line 2: version 2 is not known", change("version", to=2)),
    ("line 2: preset is", change("preset", to="dutch")),
    ("line 2: rules: lives = 0 is not allowed", change("rules", "lives", to=0)),
    ("line 2: rules: ", change("num_players", to=12)),
    ("line 2: policies: ", change("policies", to=["random"])),
    ("line 2: seed 1.5 is neither null nor", change("seed", to=1.5)),
    ("line 2: winner is", change("winner", to=7)),
    ("line 2: returns is", change("returns", to=[1.0, -1.0])),
    ("line 2: pot is", change("pot", to=9)),
    ("line 2: rounds: ", change("rounds", to=[])),
    ("line 2, round 0: dealer 5 is not a seat", change("rounds", 0, "dealer", to=5)),
    ("line 2, round 0: in_play", change("rounds", 0, "in_play", to=[0])),
    ("line 2, round 0: stock: unknown card 'Zz'", change("rounds", 0, "stock", 3, to="Zz")),
    ("line 2, round 0: stock: ", change("rounds", 0, "stock", to=None)),
    ("line 2, round 1: end is", change("rounds", 1, "end", to="void")),
    ("line 2, round 1: values is", change("rounds", 1, "values", to=[31, 31])),
    ("line 2, round 1: losses is", change("rounds", 1, "losses", to=[1, 1])),
    ("line 2, round 1: lives is", change("rounds", 1, "lives", to=[9, 9])),
    ("line 2, round 1: free_ride is", change("rounds", 1, "free_ride", to=[True, True])),
    ("line 2, round 1: eliminated is", change("rounds", 1, "eliminated", to=[0])),
    ("line 2, round 1: decider is", change("rounds", 1, "decider", to=True)),
    ("line 2, round 1: final_hands is", change("rounds", 1, "final_hands", to=[[], []])),
    ("line 2, round 1: dealer is", change("rounds", 1, "dealer", to=9)),
    ("line 2, round 0: keys are", lambda r: r["rounds"][0].update(more=1)),
    ("line 2, round 0: ", swap_two_dealt_cards),
    ("line 2, round 0, event ", swap_two_stock_cards),
    ("line 2, round 1, event 1: ", draw_twice),
    ("line 2, round 1: ", leave_out_the_end),
    ("line 2, round 1, event 0: ", change("rounds", 1, "events", 0, "seat", to=5)),
    (
        "line 2, round 1, event 0: unknown action",
        change("rounds", 1, "events", 0, "action", to="x"),
    ),
    ("line 2, round 1, event 0: ", change("rounds", 1, "events", 0, to=None)),
    ("line 2, round 1, event 0: ", lambda r: r["rounds"][1]["events"][0].update(more=1)),
]


@pytest.fixture(scope="module")
def three_lines() -> list[str]:
    bots = ["random", "threshold:25"]
    return [dump(play_match(PRESETS["danish"], bots, seed=4, deal=k)) for k in range(3)]


def test_the_spoilt_match_is_long_enough(three_lines):
    record = json.loads(three_lines[1])
    assert len(record["rounds"]) > 2
    assert len(record["rounds"][1]["events"]) > 4


@pytest.mark.parametrize(("where", "spoiling"), FAULTS, ids=[where for where, _ in FAULTS])
def test_a_fault_is_named_with_its_place(where, spoiling, three_lines, tmp_path, capsys):
    record = json.loads(three_lines[1])
    spoiling(record)
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([three_lines[0], dump(record), three_lines[2], ""]))
    assert run(["check", str(path)]) == 1
    written = capsys.readouterr()
    assert written.out.startswith(f"{path}: {where}")
    assert written.out.count("\n") == 1
    assert written.err == ""
    with pytest.raises(checker.Fault):
        checker.check_file(path)


@pytest.mark.parametrize(
    ("where", "edit"),
    [
        ("line 3: not a record: the line is cut off", lambda text: text[:-1]),
        ("line 3: not a record: ", lambda text: text[:-40]),
        ("line 3: not a record: ", lambda text: text[:-40] + "\n"),
        ("line 2: not a record: ", lambda text: text.replace("\n", "\n\n", 1)),
        ("line 1: not in canonical form", lambda text: text.replace(":", ": ", 1)),
        ("line 1: not in canonical form", lambda text: text.replace('"deal":0', '"deal":0e0')),
        ("line 1: not in canonical form", lambda text: text.replace("format", "form\\u0061t", 1)),
        ("line 1: not a record: a key is there twice", lambda t: '{"format":1,' + t[1:]),
        ("line 1: not a record: ", lambda text: "[" * 100_000 + text),
        ("line 1: a record is a JSON object", lambda text: "[1]\n" + text),
        ("line 1: not a record: ", lambda text: "\ufeff" + text),
    ],
)
def test_a_line_that_is_no_record_is_named(where, edit, three_lines, tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    path.write_text(edit("\n".join([*three_lines, ""])), encoding="utf-8")
    assert run(["check", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"{path}: {where}")


def test_bytes_that_are_no_text_are_named(three_lines, tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    path.write_bytes(three_lines[0].encode() + b"\n\xff\n")
    assert run(["check", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"{path}: line 2: not a record: ")


def test_a_damaged_packed_file_is_refused(three_lines, tmp_path, capsys):
    packed = gzip.compress("\n".join([*three_lines, ""]).encode())
    path = tmp_path / "a.jsonl.gz"
    rng = random.Random(3)
    damages = [packed[:-9], packed[: len(packed) // 2], b"not packed\n", packed + b"more"]
    for _ in range(40):
        spoilt = bytearray(packed)
        spoilt[rng.randrange(12, len(packed))] ^= 1 << rng.randrange(8)
        damages.append(bytes(spoilt))
    for damage in damages:
        path.write_bytes(damage)
        assert run(["check", str(path)]) == 1
        assert capsys.readouterr().out.startswith(f"{path}: line ")


def test_bots_play_the_same_match_in_the_environment():
    names = ["random", "threshold:25", "swedish"]
    env = thirtyone_env.env(num_players=3)
    env.reset(seed=11)
    play(env, by_bots(names))
    assert dump(env.record(names)) == dump(play_match(PRESETS["danish"], names, seed=11, deal=0))
