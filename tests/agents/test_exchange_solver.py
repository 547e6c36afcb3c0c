"""Solvers of the exchange family: what is learned, and the bot that plays by it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation.exploit import exploit, gain_of
from agents.policies import TablesPolicy, make
from agents.training import cli
from agents.training.config import SolverConfig, load
from agents.training.exploit import LearnedExploiter
from agents.training.solver import exchange
from agents.training.solver.learning import Learner, Recipe, solver_of
from tests.agents.deciding import assert_alike, assert_blind, play_outside
from tests.engine import house_rules, processes
from tests.engine.situations import fresh_seed, table
from tests.env.helpers import generator
from thirtyone_env import PRESETS, Rules, game, make_bot
from thirtyone_env.actions import FIRST_CARD
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.cards import NAMES
from thirtyone_env.exchange_parts import ExchangePart
from thirtyone_env.solvers import FOLDER, Solver, SolverError, solver_classes, table_sizes

SCHWIMMEN = PRESETS["schwimmen_a7"]
TINY = Recipe(turns=4, rounds=160, batches=2)


def learned(recipe: Recipe = TINY, seats: int = 2, rules: Rules = SCHWIMMEN, **options) -> Learner:
    learner = Learner(rules, seats, recipe, seed=1, **options)
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


# --- tables --------------------------------------------------------------------------------------


def test_a_file_gives_the_same_solver_back(file):
    solver = Solver.load(file)
    assert sorted(solver.tables) == [2, 3]
    assert solver.rules == SCHWIMMEN
    assert solver.to_bytes() == file.read_bytes()
    with pytest.raises(SolverError, match="expected int16"):
        replace(solver, tables={3: solver.tables[2]})


def test_other_rules_and_seats_are_refused_by_name(file):
    with pytest.raises(SolverError, match="low_rank is 7 for the solver, 9 at the table"):
        play_matches(PRESETS["schwimmen_a9"], [f"solver:{file}"] * 2, seed=1, matches=[0])
    with pytest.raises(SolverError, match="exchange is 1 for the solver, 0 at the table"):
        play_matches(PRESETS["danish"], [f"solver:{file}"] * 2, seed=1, matches=[0])
    with pytest.raises(SolverError, match="tables of 2 and 3, not of 4"):
        TablesPolicy(file).check(SCHWIMMEN, 4)
    TablesPolicy(file).check(Rules.preset("schwimmen_a7", lives=5), 3)


def test_hands_are_told_apart_but_for_the_order_of_suits():
    assert len(solver_classes(SCHWIMMEN).hands) == 116
    assert len(solver_classes(PRESETS["danish"]).hands) == 831


def test_errors_are_shared_among_the_tables_of_a_sum():
    sizes = table_sizes(SCHWIMMEN, 4, 2)
    parts = np.split(exchange.shares(SCHWIMMEN, 4, 2), np.cumsum(sizes)[:-1])
    means = [part.mean() for part in parts]
    assert sum(means[ExchangePart.RACE : ExchangePart.KNOCK]) == pytest.approx(1)
    assert sum(means[ExchangePart.KNOCK : ExchangePart.RENEWAL]) == pytest.approx(1)
    assert sum(means[ExchangePart.RENEWAL : ExchangePart.DEALER]) == pytest.approx(1)
    assert means[ExchangePart.DEALER :] == [1, 1, 0]


# --- learning ------------------------------------------------------------------------------------


def test_the_same_learning_gives_the_same_tables_whatever_the_threads():
    one, two = learned(), learned(threads=2)
    assert one.tables().tobytes() == two.tables().tobytes()
    other = Learner(SCHWIMMEN, 2, TINY, seed=2)
    other.learn()
    first = learned(replace(TINY, batches=1))
    assert other.worth.tobytes() != first.worth.tobytes()


def test_every_table_is_learned():
    learner = learned(replace(TINY, rounds=600), seats=3)
    counts = np.split(learner._counts, np.cumsum(table_sizes(SCHWIMMEN, 4, 3))[:-1])
    assert min(int(part.sum()) for part in counts[: ExchangePart.NOTHING]) > 20


def test_it_soon_beats_bots_and_its_first_guess(tmp_path):
    files = [tmp_path / "before.npz", tmp_path / "after.npz"]
    learner = Learner(SCHWIMMEN, 2, Recipe(rounds=2_000), seed=1)
    for path, batches in zip(files, (0, 4), strict=True):
        for _ in range(batches):
            learner.learn()
        path.write_bytes(solver_of({2: learner}, "x", {}).to_bytes())
    before, after = (f"solver:{path}" for path in files)
    about = {"rules": SCHWIMMEN, "num_players": 2, "deals": 3_000, "seed": 7}
    for opponent in (before, "random", "threshold:27"):
        assert gain_of(after, opponent, **about).low > 0.03, opponent


# --- the bot -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", range(6))
def test_it_plays_legally_under_any_rules_with_more_and_fewer_seats(case, tmp_path):
    """An illegal action would raise: tables are strict."""
    rng = np.random.default_rng(fresh_seed() + case)
    fields = {
        name: values[int(rng.integers(len(values)))]
        for name, values in house_rules.FIELDS["exchange"].items()
    }
    rules, seats = house_rules.made("exchange", fields, int(rng.integers(2, 10)))
    learner = learned(Recipe(turns=2, rounds=8, batches=1), min(seats, 3), rules)
    path = tmp_path / "solver.npz"
    path.write_bytes(solver_of({min(seats, 3): learner}, "x", {}).to_bytes())
    tables = Tables(rules, seats, seed=int(rng.integers(1 << 30)), matches=np.arange(6))
    bot = make_bot(f"solver:{path}")
    play_outside(tables, bot)
    np.testing.assert_allclose(tables.payoffs("match").sum(axis=1), 0, atol=1e-9)


def test_outside_and_inside_the_kernel_it_decides_alike(file):
    assert_alike(f"solver:{file}", SCHWIMMEN)


def test_it_does_not_peek(file):
    bot = make_bot(f"solver:{file}")
    asked, different = assert_blind(bot, SCHWIMMEN, generator("peek at exchanges"), steps=60)
    assert asked > 200
    assert different > asked / 3


def test_on_the_last_turn_of_a_round_it_makes_the_strongest_hand(file):
    """Clubs stand above hearts, whatever the tables say."""
    t = table("schwimmen_a7", "Kh 7h 8s", "9h Qs Jc", table="Kc Ts 9d", dealer=1)
    t.play("keep knock")
    bot = make_bot(f"solver:{file}")
    for _ in range(2):
        game.step(t.states, choice := int(bot.choose(t.states.copy(), np.arange(1))[0]))
    assert NAMES[choice - FIRST_CARD] == "Kc"


@pytest.mark.integration
def test_interpreted_it_decides_as_compiled(file):
    code = (
        "import sys, numpy as np\n"
        "from thirtyone_env import PRESETS\n"
        "from thirtyone_env.arena import play_matches\n"
        "bots = ['solver:' + sys.argv[1], 'solver:' + sys.argv[1]]\n"
        "paid = play_matches(PRESETS['schwimmen_a7'], bots, seed=3, matches=np.arange(3))\n"
        "print(paid.tolist())\n"
    )
    both = [
        processes.run("-c", code, str(file), NUMBA_DISABLE_JIT=flag)[0].splitlines()[-1]
        for flag in (None, "1")
    ]
    assert both[0] == both[1]


def test_a_response_is_learned_against_a_target(tmp_path):
    recipe = Recipe(rounds=2_000, batches=3, half_life=5, ramp=0.002)
    found = exploit(
        "threshold:30.5",
        [LearnedExploiter(tmp_path, recipe)],
        rules=SCHWIMMEN,
        num_players=2,
        deals=2_000,
        seed=5,
    )
    assert found.bound.exploiter == "learned response"
    assert found.bound.gain.low > 0.05


def test_a_run_leaves_a_policy_that_plays(tmp_path):
    (tmp_path / "small.yaml").write_text(
        "algorithm: solver\nname: small\nrules: schwimmen_a7\nbatches: 1\nrounds: 40\n"
        "benchmark: {players: [2], opponents: [random], deals: 20, workers: 1}\n"
    )
    runs = tmp_path / "runs"
    assert cli.main([str(tmp_path / "small.yaml"), "--runs", str(runs)]) == 0
    policy = make(str(runs / "small-1"))
    assert play_matches(SCHWIMMEN, [policy.controller, "random"], seed=1, matches=[0]).shape == (
        1,
        2,
    )


def test_the_shipped_solver_says_how_it_was_made():
    solver = Solver.load("schwimmen_a7")
    about = json.loads((FOLDER / "schwimmen_a7.json").read_text())
    config = load(about["reproduce"].split()[-1])
    assert isinstance(config, SolverConfig)
    assert solver.rules == config.resolved_rules() == SCHWIMMEN
    assert tuple(sorted(solver.tables)) == config.players
    kept = {key: json.loads(json.dumps(getattr(config, key))) for key in about["config"]}
    assert solver.card["config"] == about["config"] == kept
    page = (FOLDER / "schwimmen_a7.md").read_text()
    assert about["reproduce"] in page
    assert (FOLDER / "schwimmen_a7.png").exists()
    assert (FOLDER / "schwimmen_a7.npz").stat().st_size < 5_000_000
