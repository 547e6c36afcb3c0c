"""Solvers of short games: nothing is joined that a seat can tell apart, and nobody can gain."""

from __future__ import annotations

import functools
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation.exact import Enumeration
from agents.evaluation.exploit import RULE_BOTS
from agents.policies import TablesPolicy, make
from agents.policies.choices import Decider
from agents.training import cli
from agents.training.config import ConfigError, from_mapping
from agents.training.solver import seeing
from agents.training.solver.seeing import SeenLearner, TooManySetsError, profile_of
from benchmarks.small_games import GAMES, curve_of, small_game
from tests.engine import processes
from tests.env.helpers import SCALE, generator
from thirtyone_env import PRESETS, game, make_bot
from thirtyone_env.arena import play_matches
from thirtyone_env.bots.seeing import keys_of
from thirtyone_env.policy import KernelBot
from thirtyone_env.seen import SeenSolver, load_solver, solver_in
from thirtyone_env.solvers import Solver, SolverError
from thirtyone_env.state import NOBODY

SHORT = {
    "danish": small_game("danish", "As Ah Ks Kh", 2),
    "swedish": small_game("swedish", "Ah 9d Ks Kh", 2),
    "finnish": small_game("finnish", "As Qd Ks 9h", 2),
}
THREE = small_game("danish", "As Ah Ad Ks Kh Kd 9s", 2, "As Ks 9s Ah Kh 9h Ad Kd 9d Qd Qs", 3)


@functools.cache
def enumerated(name: str) -> Enumeration:
    return Enumeration(THREE if name == "three" else SHORT[name])


def learner(name: str, seed: int = 1) -> SeenLearner:
    tree = enumerated(name).tree
    return SeenLearner(tree.rules, tree.num_players, seed=seed, cards=tree.cards, deck=tree.deck)


@functools.cache
def learned(name: str, batches: int = 16, seed: int = 1) -> SeenSolver:
    mine = learner(name, seed)
    for _ in range(batches):
        mine.learn(250)
    return mine.solver("short", {"seed": seed})


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "short.npz"
    path.write_bytes(learned("danish").to_bytes())
    return path


def states_of(exact: Enumeration) -> np.ndarray:
    return np.concatenate([node.states for node in exact.nodes])


# --- what the tables go by -----------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SHORT, "three"])
def test_a_key_joins_nothing_but_the_order_of_own_draws(name):
    exact = enumerated(name)
    states = states_of(exact)
    seats = states["seat"].astype(int)
    hands = states["hands"][np.arange(len(states)), seats].tolist()
    dealers = states["dealer"].tolist()
    seen: dict[tuple[int, int, int], tuple[str, int, list[int]]] = {}
    for n, key in enumerate(keys_of(states).tolist()):
        what = (exact.nodes[n].history(NOBODY), hands[n], exact.actions[n])
        assert seen.setdefault((key, dealers[n], int(seats[n])), what) == what
    assert len(seen) > 0.5 * len(states)


def test_a_key_is_the_same_for_every_dealer():
    """Who sits where does not matter, only who comes first."""
    keys = keys_of(states_of(enumerated("danish")))
    dealers = states_of(enumerated("danish"))["dealer"]
    assert set(keys[dealers == 0].tolist()) == set(keys[dealers == 1].tolist())


# --- learning ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(SHORT))
def test_exploitability_falls_towards_zero(name):
    exact = enumerated(name)
    few, many = (exact.exploitability(profile_of(exact, learned(name, n))) for n in (1, 16))
    sys.stdout.write(f"{name}: {few:.5f} after 250 rounds, {many:.5f} after 4,000\n")
    assert exact.exploitability(exact.uniform()) > 0.35
    assert -1e-9 <= many < 0.01
    assert many < few / 4


def test_with_three_it_falls_too():
    exact = enumerated("three")
    found = exact.exploitability(profile_of(exact, learned("three", 16)))
    sys.stdout.write(f"three players: {found:.5f} after 4,000 rounds\n")
    assert found < 0.1 * exact.exploitability(exact.uniform())


@pytest.mark.slow
@pytest.mark.parametrize("name", list(GAMES))
def test_exploitability_goes_on_falling(name):
    batches = max(64, int(128 * SCALE))
    curve = list(curve_of(Enumeration(GAMES[name]), 500, batches, seed=1).values())
    sys.stdout.write(f"{name}: {curve}\n")
    assert curve[-1] < 2e-3
    assert all(later < earlier for earlier, later in zip(curve[::2], curve[2::2], strict=False))


def test_the_same_seed_learns_the_same():
    one, same, other = (learned.__wrapped__("danish", 2, seed) for seed in (1, 1, 2))
    assert one.to_bytes() == same.to_bytes()
    assert one.chances.tobytes() != other.chances.tobytes()


def test_learning_leaves_the_global_generators_alone():
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    learner("danish").learn(10)
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


def test_a_game_that_is_too_large_is_told(monkeypatch):
    monkeypatch.setattr(seeing, "MAX_SETS", 1 << 6)
    with pytest.raises(TooManySetsError, match="more than 64 information sets"):
        learner("danish").learn(50)


# --- the file ------------------------------------------------------------------------------------


def test_a_file_gives_the_same_solver_back(file):
    solver = load_solver(file)
    assert isinstance(solver, SeenSolver)
    assert solver.to_bytes() == file.read_bytes()
    assert solver.card == {"seed": 1}
    assert solver.players == (2,)
    assert (solver.cards, solver.known) == (SHORT["danish"].cards, SHORT["danish"].deck)


def test_tables_that_are_none_are_refused(file):
    solver = load_solver(file)
    with pytest.raises(SolverError, match="ascending"):
        replace(solver, keys=solver.keys[::-1].copy())
    with pytest.raises(SolverError, match="chances"):
        replace(solver, chances=solver.chances // 2)
    with pytest.raises(SolverError, match="players"):
        replace(solver, players=(1,))
    with pytest.raises(SolverError, match="draw family"):
        replace(solver, rules=PRESETS["schwimmen_a7"])
    with pytest.raises(SolverError):
        solver_in(file.read_bytes()[:-200])
    with pytest.raises(SolverError, match="not a readable solver"):
        Solver.load(file)


def test_other_rules_and_seats_are_refused(file):
    policy = make(str(file))
    with pytest.raises(SolverError, match="max_turns is 2 for the solver, 100 at the table"):
        policy.check(PRESETS["danish"], 2)
    with pytest.raises(SolverError, match="tables of 2, not of 3"):
        policy.check(SHORT["danish"].rules, 3)


# --- the bot -----------------------------------------------------------------------------------


def test_the_bot_plays_by_its_table(file):
    exact = enumerated("danish")
    wanted = profile_of(exact, learned("danish"))
    drawn = exact.of_policies([f"solver:{file}"] * 2, samples=400)
    assert np.abs(drawn - wanted).max() < 0.13
    asked = Decider(TablesPolicy(file), exact.tree.rules, 2)
    for n in range(0, len(exact.nodes), 37):
        told = asked.probabilities(exact.nodes[n].states)
        part = wanted[exact.first[n] : exact.first[n + 1]]
        for action, chance in zip(exact.actions[n], part.tolist(), strict=True):
            assert told.get(action, 0.0) == pytest.approx(chance, abs=1 / 256)


def test_it_does_not_peek(file):
    """The same key and the same choice after the hidden cards are dealt anew."""
    exact, rng = enumerated("danish"), generator("peek")
    bot, different = make_bot(f"solver:{file}"), 0
    for n in range(0, len(exact.nodes), 3):
        states = exact.nodes[n].states
        guess = game.clone(states)
        game.resample_hidden(guess, int(states["seat"][0]), rng)
        streams = rng.integers(1 << 62, size=states["policy_streams"].shape[1])
        states, guess = states.copy(), guess.copy()
        states["policy_streams"][0] = guess["policy_streams"][0] = streams
        assert keys_of(states) == keys_of(guess)
        assert bot.choose(states, np.arange(1)) == bot.choose(guess, np.arange(1))
        different += guess["hands"].tobytes() != states["hands"].tobytes()
    assert different > 50


def test_at_a_table_that_it_does_not_know_it_plays_for_value(file):
    rules = SHORT["danish"].rules
    mine, value = (
        play_matches(rules, [name, "threshold:25"], seed=3, matches=range(20))
        for name in (f"solver:{file}", "never_knock")
    )
    np.testing.assert_array_equal(mine, value)


@pytest.mark.integration
def test_interpreted_it_learns_and_plays_as_compiled(tmp_path):
    code = (
        "import hashlib, numpy as np\n"
        "from agents.training.solver.seeing import SeenLearner\n"
        "from benchmarks.small_games import small_game\n"
        "tree = small_game('danish', 'As Ah Ks Kh', 2)\n"
        "mine = SeenLearner(tree.rules, 2, seed=1, cards=tree.cards, deck=tree.deck)\n"
        "mine.learn(6)\n"
        "print(hashlib.sha256(mine.solver('x', {}).to_bytes()).hexdigest())\n"
    )
    both = [
        processes.run("-c", code, NUMBA_DISABLE_JIT=flag)[0].splitlines()[-1]
        for flag in (None, "1")
    ]
    assert both[0] == both[1]


# --- the suite of exploiters, against the truth --------------------------------------------------


@pytest.mark.parametrize("name", list(SHORT))
def test_no_exploiter_gains_more_than_the_best_response(name):
    """Rule bots, tables and a network, each in the seat of either player."""
    exact = enumerated(name)
    others = exact.of_policies(["threshold:29"] * 2)
    best = [exact.best_response(others, seat).value for seat in range(2)]
    network = make("network:ppo_danish_heads_up")
    asked = Decider(network, PRESETS["danish"], 2)
    suite = {bot: exact.of_policies([bot] * 2, samples=20) for bot in RULE_BOTS}
    suite["network"] = exact.profile(lambda node: asked.probabilities(node.states))
    suite["short solver"] = profile_of(exact, learned(name))
    gains = {}
    for exploiter, mine in suite.items():
        for seat in range(2):
            profiles = [mine, others] if seat == 0 else [others, mine]
            value = exact.values(exact.joined(profiles))[seat]
            assert value <= best[seat] + 1e-9, exploiter
            gains[exploiter] = float(value)
    sys.stdout.write(f"{name}: best {best}, gains {gains}\n")
    assert max(gains.values()) > 0


def test_what_a_suite_gains_is_what_enumeration_says():
    """A bot's exploitability by enumeration bounds every bot's, and the solver has none."""
    exact = enumerated("danish")
    solved = profile_of(exact, learned("danish", 64))
    for bot in ("threshold:25", "swedish", "never_knock"):
        mine = exact.of_policies([bot] * 2)
        for seat in range(2):
            profiles = [mine, solved] if seat == 0 else [solved, mine]
            assert exact.values(exact.joined(profiles))[seat] < 2e-3
    assert exact.exploitability(solved) < 2e-3


# --- the command -------------------------------------------------------------------------------

CONFIG = """
algorithm: solver
name: short
information: seen
house_rules: {max_turns: 2}
cards: As Ks 9s Ah Kh 9h Qd 9d
known: As Ah Ks Kh
batches: 4
rounds: 100
"""


def test_a_run_leaves_a_policy_and_its_curve(tmp_path, capsys):
    (tmp_path / "short.yaml").write_text(CONFIG)
    runs = tmp_path / "runs"
    assert cli.main([str(tmp_path / "short.yaml"), "--runs", str(runs)]) == 0
    folder = runs / "short-1"
    names = {path.name for path in folder.iterdir()}
    assert {"solver.npz", "solver.json", "exploitability.csv", "exploitability.png"} <= names
    assert isinstance(make(str(folder)).solver(), SeenSolver)
    lines = (folder / "exploitability.csv").read_text().splitlines()
    assert lines[0] == "rounds,exploitability"
    assert [line.split(",")[0] for line in lines[1:]] == ["100", "200", "400"]
    card = json.loads((folder / "solver.json").read_text())
    assert card["rounds"] == 400
    assert card["config"]["information"] == "seen"
    assert "policy:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"information": "all"}, "information"),
        ({"cards": "As Ks"}, "information: seen alone"),
        ({"information": "seen"}, "max_turns to at most 12, not 100"),
        ({"information": "seen", "rules": "schwimmen_a7"}, "draw family, not for schwimmen_a7"),
        ({"information": "seen", "players": [2, 3]}, "one size"),
        ({"information": "seen", "opponents": {"swedish": 1}}, "self-play"),
        (
            {"information": "seen", "house_rules": {"max_turns": 2}, "cards": "As Ks"},
            "cards and known: cards: 2 are too few",
        ),
        (
            {"information": "seen", "house_rules": {"max_turns": 2}, "known": "1x"},
            "cards and known",
        ),
    ],
)
def test_configurations_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        from_mapping({"algorithm": "solver", **changes})


def test_bots_by_a_table_are_kernel_bots(file):
    assert isinstance(make_bot(f"solver:{file}"), KernelBot)
