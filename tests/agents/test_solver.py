"""Solvers: what is learned, the file it is kept in, the bot that plays by it, small games."""

from __future__ import annotations

import functools
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation.exact import Enumeration
from agents.evaluation.exploit import FixedExploiter, exploit, gain_of, swings_of
from agents.policies import TablesPolicy, make
from agents.training import cli
from agents.training.config import ConfigError, from_mapping
from agents.training.exploit import LearnedExploiter
from agents.training.solver.learning import Learner, Recipe, solver_of
from tests.agents.deciding import assert_alike, assert_blind, play_outside
from tests.engine import processes
from tests.engine.situations import fresh_seed
from tests.env.helpers import generator
from thirtyone_env import PRESETS, Rules, game, make_bot
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.solvers import Solver, SolverError, part_sizes
from thirtyone_env.tree import Tree

DANISH = PRESETS["danish"]
TINY = Recipe(rounds=160, batches=3)
SHORT = "As Ks 9s Ah Kh 9h Qd 9d"
KNOWN = "As Ah Ks Kh"


def learned(recipe: Recipe = TINY, threads: int = 1, seats: int = 2, **options) -> Learner:
    learner = Learner(DANISH, seats, recipe, seed=1, threads=threads, **options)
    for _ in range(recipe.batches):
        learner.learn()
    return learner


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """A solver that has learned a little, for two and three."""
    path = tmp_path_factory.mktemp("solver") / "little.npz"
    learners = {seats: learned(seats=seats) for seats in (2, 3)}
    path.write_bytes(solver_of(learners, "little", {"seed": 1}).to_bytes())
    return path


# --- the file ----------------------------------------------------------------------------------


def test_a_file_gives_the_same_solver_back(file):
    solver = Solver.load(file)
    assert sorted(solver.tables) == [2, 3]
    assert solver.rules == DANISH
    assert solver.card == {"seed": 1}
    assert solver.to_bytes() == file.read_bytes()
    assert Solver.from_bytes(solver.to_bytes()).tables[3].tolist() == solver.tables[3].tolist()
    assert len(file.read_bytes()) < 5_000_000


def test_a_damaged_file_is_refused(file, tmp_path):
    content = file.read_bytes()
    (tmp_path / "x.npz").write_bytes(content[: len(content) // 2])
    with pytest.raises(SolverError, match=r"x\.npz is not a readable solver"):
        Solver.load(tmp_path / "x.npz")
    with pytest.raises(SolverError, match=r"no solver at .*nowhere"):
        make_bot("solver:nowhere.npz")
    for bad in (b"", b"PK\x03\x04", json.dumps({}).encode()):
        with pytest.raises(SolverError):
            Solver.from_bytes(bad)


def test_tables_that_do_not_fit_are_refused():
    solver = solver_of({2: learned(replace(TINY, batches=1))}, "x", {})
    with pytest.raises(SolverError, match="expected int16"):
        replace(solver, tables={2: solver.tables[2][:-1]})
    with pytest.raises(SolverError, match="expected int16"):
        replace(solver, tables={3: solver.tables[2]})
    with pytest.raises(SolverError, match="turns"):
        replace(solver, turns=0)
    with pytest.raises(SolverError, match="expected int16"):
        replace(solver, rules=PRESETS["schwimmen_a7"])


def test_other_rules_and_seats_are_refused_by_name(file):
    with pytest.raises(SolverError, match="three_of_a_kind is 60 for the solver, 0 at the table"):
        play_matches(PRESETS["swedish"], [f"solver:{file}"] * 2, seed=1, matches=[0])
    with pytest.raises(SolverError, match="tables of 2 and 3, not of 4"):
        TablesPolicy(file).check(DANISH, 4)
    TablesPolicy(file).check(Rules.preset("danish", lives=5), 3)


# --- learning ----------------------------------------------------------------------------------


def test_the_same_learning_gives_the_same_tables_whatever_the_threads():
    one, two = learned(), learned(threads=2)
    assert one.tables().tobytes() == two.tables().tobytes()
    other = Learner(DANISH, 2, TINY, seed=2)
    other.learn()
    first = learned(replace(TINY, batches=1))
    assert other.worth.tobytes() != first.worth.tobytes()


def test_every_table_is_learned():
    sizes = part_sizes(831, TINY.turns, 3)
    counts = np.split(learned(seats=3)._counts, np.cumsum(sizes)[:-1])
    assert min(int(part.sum()) for part in counts) > 50


def test_learning_does_not_depend_on_what_others_hold_in_the_end():
    """All seats alike: what one gains the others lose, so that values average to 0 at the start."""
    policies = [make(name) for name in ("threshold:25", "threshold:27", "swedish")]
    swings = swings_of(policies, DANISH, np.arange(200), 3)
    np.testing.assert_allclose(swings.sum(axis=2), 0, atol=1e-12)


def test_it_soon_beats_its_first_guess(tmp_path):
    files = [tmp_path / "before.npz", tmp_path / "after.npz"]
    learner = Learner(DANISH, 2, Recipe(rounds=4_000), seed=1)
    for path, batches in zip(files, (0, 60), strict=True):
        for _ in range(batches):
            learner.learn()
        path.write_bytes(solver_of({2: learner}, "x", {}).to_bytes())
    before, after = (f"solver:{path}" for path in files)
    gain = gain_of(after, before, rules=DANISH, num_players=2, deals=3_000, seed=7)
    assert gain.low > 0.03


# --- the bot -----------------------------------------------------------------------------------


def test_it_plays_legally_with_fewer_and_more_seats_than_it_knows(file):
    for seats in (2, 3, 4):
        tables = Tables(DANISH, seats, seed=fresh_seed(), matches=np.arange(8))
        bot = make_bot(f"solver:{file}")
        play_outside(tables, bot)
        assert (tables.winner >= 0).any()


def test_outside_and_inside_the_kernel_it_decides_alike(file):
    assert_alike(f"solver:{file}", DANISH)


def test_it_does_not_peek(file):
    bot = make_bot(f"solver:{file}")
    asked, different = assert_blind(bot, DANISH, generator("peek"), steps=40)
    assert asked > 200
    assert different > asked / 2


@pytest.mark.integration
def test_interpreted_it_decides_as_compiled(file):
    code = (
        "import hashlib, sys, numpy as np\n"
        "from thirtyone_env import PRESETS\n"
        "from thirtyone_env.arena import play_matches\n"
        "bots = ['solver:' + sys.argv[1], 'solver:' + sys.argv[1]]\n"
        "paid = play_matches(PRESETS['danish'], bots, seed=3, matches=np.arange(3))\n"
        "print(paid.tolist())\n"
    )
    both = [
        processes.run("-c", code, str(file), NUMBA_DISABLE_JIT=flag)[0].splitlines()[-1]
        for flag in (None, "1")
    ]
    assert both[0] == both[1]


# --- small games -------------------------------------------------------------------------------


def toy(max_turns: int = 4) -> Tree:
    rules = Rules.preset("danish", max_turns=max_turns)
    cards, deck = (tuple(game.checked_deck(rules, text)) for text in (SHORT, KNOWN))
    return Tree(rules, 2, one_round=True, cards=cards, deck=deck)


@functools.cache
def enumerated() -> Enumeration:
    return Enumeration(toy())


def small_learner(recipe: Recipe, opponents=None) -> Learner:
    tree = toy()
    return Learner(
        tree.rules, 2, recipe, seed=1, opponents=opponents, cards=tree.cards, deck=tree.deck
    )


def test_in_a_small_game_it_is_far_less_exploitable_than_random_play(tmp_path):
    """Not an exact method: two unseen cards tell apart hands that its tables join."""
    exact = enumerated()
    learner = small_learner(Recipe(turns=4, rounds=4_000, batches=120, ramp=0.05))
    for _ in range(120):
        learner.learn()
    path = tmp_path / "solver.npz"
    path.write_bytes(solver_of({2: learner}, "x", {}).to_bytes())
    profile = exact.of_policies([f"solver:{path}"] * 2, samples=100)
    bots = {
        name: exact.exploitability(exact.of_policies([name] * 2))
        for name in ("threshold:27", "threshold:29", "swedish", "lookahead:4")
    }
    found = exact.exploitability(profile)
    sys.stdout.write(f"solver {found:.4f}, bots {bots}\n")
    assert found < 0.5 * exact.exploitability(exact.uniform())


def test_a_learned_response_gains_most_of_what_can_be_gained(tmp_path):
    exact = enumerated()
    name = "threshold:27"
    others = exact.of_policies([name] * 2)
    best = np.mean([exact.best_response(others, seat).value for seat in range(2)])
    recipe = Recipe(turns=4, rounds=4_000, batches=60, half_life=5, ramp=0.002)
    learner = small_learner(recipe, {name: 1.0})
    for _ in range(recipe.batches):
        learner.learn()
    path = tmp_path / "solver.npz"
    path.write_bytes(solver_of({2: learner}, "x", {}).to_bytes())
    mine = exact.of_policies([f"solver:{path}"] * 2, samples=20)
    gained = np.mean(
        [
            exact.values(exact.joined([mine, others] if seat == 0 else [others, mine]))[seat]
            for seat in range(2)
        ]
    )
    sys.stdout.write(f"learned {gained:.4f}, best {best:.4f}\n")
    assert best > 0.1
    assert 0.5 * best <= gained <= best + 1e-9


# --- the suite of exploiters -------------------------------------------------------------------


def test_a_suite_finds_who_gains_most():
    suite = [FixedExploiter(name) for name in ("random", "threshold:21", "threshold:30")]
    found = exploit(
        "threshold:31", suite, rules=DANISH, num_players=2, deals=1_000, seed=5, workers=2
    )
    means = [finding.gain.mean for finding in found.findings]
    assert means == sorted(means, reverse=True)
    assert found.bound.exploiter == found.findings[0].exploiter == "threshold:30"
    assert found.bound.gain.low > 0.02
    assert found.bound.gain != found.findings[0].gain
    assert json.loads(found.to_json())["bound"]["exploiter"] == "threshold:30"


def test_an_exploiter_that_learns_gains_more_than_bots(tmp_path):
    suite = [
        FixedExploiter("threshold:27"),
        LearnedExploiter(tmp_path, Recipe(rounds=4_000, batches=20, half_life=5, ramp=0.002)),
    ]
    found = exploit("threshold:31", suite, rules=DANISH, num_players=2, deals=1_000, seed=5)
    assert found.bound.exploiter == "learned response"
    assert found.bound.gain.low > found.findings[1].gain.high


def test_a_suite_without_an_answer_says_why(tmp_path):
    outside = make("python:examples/bots/function_bot.py:patient", outside=True)
    with pytest.raises(ValueError, match=r"learned response: .*external"):
        exploit(
            outside, [LearnedExploiter(tmp_path)], rules=DANISH, num_players=2, deals=10, seed=1
        )


# --- the command -------------------------------------------------------------------------------

CONFIG = """
algorithm: solver
name: small
players: [2, 3]
batches: 2
batches_at: {"3": 1}
rounds: 80
benchmark: {players: [2], opponents: [random], deals: 20, workers: 1}
"""


def test_a_run_leaves_a_policy_that_plays(tmp_path):
    (tmp_path / "small.yaml").write_text(CONFIG)
    runs = tmp_path / "runs"
    assert cli.main([str(tmp_path / "small.yaml"), "--runs", str(runs)]) == 0
    folder = runs / "small-1"
    assert {"solver.npz", "solver.json", "training.csv", "report.html", "config.yaml"} <= {
        path.name for path in folder.iterdir()
    }
    policy = make(str(folder))
    assert policy.name == "small-1"
    assert play_matches(DANISH, [policy.controller, "random"], seed=1, matches=[0]).shape == (1, 2)
    card = json.loads((folder / "solver.json").read_text())
    assert card["batches"] == {"2": 2, "3": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rules": "schwimmen_a7", "players": [7]}, "players"),
        ({"players": [12]}, "players"),
        ({"ramp": 0}, "ramp"),
        ({"opponents": {"selves": 1}}, "opponents.*selves"),
        ({"explore": 2}, "explore"),
        ({"batches_at": {"10": 9}}, "seat counts, 2 … 9"),
        ({"batches_at": {"2": 1.5}}, "batches_at"),
    ],
)
def test_configurations_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        from_mapping({"algorithm": "solver", **changes})
