"""The game of OpenSpiel: its own tests, its solvers on a small game, returns of the engine."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.env.helpers import EVERY_TABLE, generator, scaled
from tests.env.trees import Mirror, at_random
from thirtyone_env import PRESETS, game
from thirtyone_env.observation import observation_size

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    cfr,
    exploitability,
    external_sampling_mccfr,
    generate_playthrough,
    mcts,
)
from open_spiel.python.observation import make_observation  # noqa: E402

from thirtyone_env.adapters import openspiel  # noqa: E402

NAME = "python_thirty_one"
SMALL = "rules=finnish,episode=round,dealer=0,max_turns=2,cards=As Ks 9s Ah Kh 9h Qd 9d"
KNOWN = f"{SMALL},deck=As Ah Ks Kh"
ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def load(parameters=""):
    return pyspiel.load_game(f"{NAME}({parameters})")


def some_states(loaded, rng, number=200):
    """States of random matches, chance nodes and ends included."""
    state = loaded.new_initial_state()
    for _ in range(number):
        yield state
        if state.is_terminal():
            state = loaded.new_initial_state()
        else:
            state = state.child(at_random(state.node, rng))


# --- OpenSpiel's own tests ----------------------------------------------------------------------


@pytest.mark.parametrize(("preset", "seats"), EVERY_TABLE)
def test_random_simulation(preset, seats):
    loaded = load(f"rules={preset},players={seats},max_rounds=2")
    pyspiel.random_sim_test(loaded, 1, serialize=False, verbose=False)
    pyspiel.random_sim_test(
        load(f"rules={preset},players={seats},episode=round"), 1, serialize=True, verbose=False
    )


@pytest.mark.parametrize(
    "parameters",
    [
        "",
        "reward=lives,players=4",
        "rules=dutch_buy_in,reward=equity,players=3,buy_ins=2",
        "rules=dutch_buy_in,reward=lives,players=3",
        "rules=swedish,start_lives=1 0 2,players=3,dealer=2",
        "episode=round,reward=match,lives=1",
        "rules=danish_joker,low_rank=7,jokers=4,three_aces=33.0,min_knock=21.5,free_ride=1",
        "rules=danish,three_of_a_kind=0.0,stock_out=reshuffle,hand_size=4,blitz_value=41.0",
        "rules=schwimmen_german,table_out=reshuffle,low_rank=9,players=6",
        KNOWN,
    ],
)
def test_random_simulation_with_parameters(parameters):
    pyspiel.random_sim_test(load(parameters), 1, serialize=True, verbose=False)


def test_playthroughs_are_the_same_twice():
    parameters = f"{NAME}(rules=danish,players=3,max_turns=5,max_rounds=2)"
    one, two = (generate_playthrough.playthrough(parameters, None, seed=7) for _ in range(2))
    assert one == two
    assert 'InformationStateString(0) = "0: round 1, dealer ' in one
    assert generate_playthrough.playthrough(parameters, None, seed=8) != one


def test_chance_outcomes_sum_to_one_everywhere():
    for state in some_states(load("rules=schwimmen_a7,players=4"), generator("chance")):
        if state.is_chance_node():
            assert sum(p for _, p in state.chance_outcomes()) == pytest.approx(1, abs=1e-12)


# --- returns ------------------------------------------------------------------------------------


def returns_are_the_engines(preset: str, seats: int, rng: np.random.Generator) -> int:
    """A match of the engine played in OpenSpiel; returns how many actions were taken."""
    mirror = Mirror(PRESETS[preset], seats, int(rng.integers(1 << 60)))
    state = load(f"rules={preset},players={seats}").new_initial_state()
    taken = 0
    while not mirror.recorder.over:
        for action in mirror.go_on(rng):
            state.apply_action(action)
            taken += 1
    assert state.is_terminal()
    assert state.returns() == game.payoffs(mirror.recorder.states).tolist()
    assert sum(state.returns()) == pytest.approx(0, abs=1e-12)
    assert len(state.full_history()) == taken
    return taken


@pytest.mark.parametrize(("preset", "seats"), EVERY_TABLE)
def test_returns_are_the_payoffs_of_the_engine(preset, seats):
    rng = generator("returns", preset, seats)
    for _ in range(4):
        returns_are_the_engines(preset, seats, rng)


@pytest.mark.slow
def test_returns_of_many_matches_are_the_payoffs_of_the_engine():
    rng = generator("many returns")
    tables = [(p, s) for p, r in PRESETS.items() for s in range(2, r.max_players + 1)]
    for match in range(scaled(100_000)):
        returns_are_the_engines(*tables[match % len(tables)], rng)


# --- states -------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["danish_reshuffle", "schwimmen_german", "dutch_buy_in"])
def test_copies_go_on_by_themselves(preset):
    loaded, rng = load(f"rules={preset},players=3"), generator("copies", preset)
    for state in some_states(loaded, rng):
        if state.is_terminal():
            continue
        before, seen = state.serialize(), str(state)
        copy = state.clone()
        assert copy.serialize() == before
        copy.apply_action(copy.legal_actions()[0])
        assert (state.serialize(), str(state)) == (before, seen)
        again = loaded.deserialize_state(before)
        again.apply_action(again.legal_actions()[0])
        assert str(again) == str(copy)
        assert again.history() == copy.history()
        for player in range(3):
            one, two = (s.information_state_string(player) for s in (again, copy))
            assert one == two


def test_legal_actions_are_sorted_and_named():
    for state in some_states(load("rules=schwimmen_a7,players=3"), generator("legal")):
        legal = state.legal_actions()
        assert legal == sorted(set(legal))
        names = [state.action_to_string(action) for action in legal]
        assert len(set(names)) == len(names)
        if not state.is_chance_node() and not state.is_terminal():
            assert set(names) == set(game.legal_names(state.node.states))


def test_the_game_is_loaded_again_from_its_string():
    loaded = load(
        "rules=dutch,players=3,three_of_a_kind=30.0,cards=As Ks 9s Ah Kh 9h Qd 9d Tc 9c 8c"
    )
    assert str(pyspiel.load_game(str(loaded))) == str(loaded)
    assert loaded.tree.rules == PRESETS["scat"]


def test_lengths_and_utilities():
    loaded = load("rules=danish,max_turns=7,max_rounds=11,players=3")
    assert loaded.max_game_length() == 11 * 2 * (7 + 2)
    assert (loaded.min_utility(), loaded.max_utility()) == (-0.5, 1.0)
    assert load("episode=round").min_utility() == -2
    assert load("rules=finnish,episode=round").max_utility() == 1
    assert load("rules=dutch_buy_in,players=3").max_utility() == 2
    assert load("rules=danish_joker").max_chance_outcomes() == 54


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("rules=dansk", "unknown preset 'dansk' .did you mean 'danish'"),
        ("players=10", "num_players = 10 is not allowed"),
        ("episode=day", "episode = 'day' is not allowed; allowed: 'match', 'round'"),
        ("reward=money", "reward = 'money' is not allowed"),
        ("dealer=2", "dealer = 2 is not allowed; allowed: 0 … 1"),
        ("start_lives=3 x", "start_lives = '3 x' is not allowed"),
        ("free_ride=2", "free_ride = 2 is not allowed; allowed: 0, 1, or −1"),
        ("three_of_a_kind=29.0", "three_of_a_kind = 29.0 is not allowed"),
        ("cards=As Ks", "cards: 2 are too few"),
        ("deck=As 1x", "unknown card '1x'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        load(parameters)


def test_unknown_parameters_and_types_are_refused_by_openspiel():
    with pytest.raises(pyspiel.SpielError, match="Unknown parameter 'colour'"):
        load("colour=red")
    with pytest.raises(pyspiel.SpielError, match="Wrong type for parameter min_knock"):
        load("min_knock=21")


# --- what players see ---------------------------------------------------------------------------


def test_tensors_tell_information_states_apart():
    """Equal strings have equal tensors and the other way round, over the whole small game."""
    loaded = load(KNOWN)
    observer = make_observation(loaded, pyspiel.IIGObservationType(perfect_recall=True))
    tensor_of: dict[str, bytes] = {}
    string_of: dict[bytes, str] = {}

    def visit(state):
        if not state.is_chance_node():
            for player in range(2):
                string = observer.string_from(state, player)
                observer.set_from(state, player)
                tensor = observer.tensor.tobytes()
                assert tensor_of.setdefault(string, tensor) == tensor
                if not state.is_terminal():
                    assert string_of.setdefault(tensor, string) == string
        for action in state.legal_actions():
            visit(state.child(action))

    visit(loaded.new_initial_state())
    assert len(string_of) > 400


def test_observation_tensors_are_the_environments():
    loaded = load("rules=schwimmen_a7,players=3")
    for state in some_states(loaded, generator("tensors")):
        for player in range(3):
            tensor = np.array(state.observation_tensor(player))
            assert tensor.shape == (3 + observation_size(3),)
            assert tensor[:3].tolist() == [float(seat == player) for seat in range(3)]
            if state.node.has_begun:
                assert (tensor[3:] == game.observe(state.node.states, player)).all()


def test_public_and_private_strings():
    loaded = load("rules=danish,episode=round,dealer=0")
    kinds = pyspiel.PrivateInfoType
    public = make_observation(loaded, pyspiel.IIGObservationType(True, False, kinds.NONE))
    private = make_observation(
        loaded, pyspiel.IIGObservationType(False, False, kinds.SINGLE_PLAYER)
    )
    state = loaded.new_initial_state()
    for card in (0, 14, 28, 1, 15, 29, 40):  # 2c 3d 4h, 3c 4d 5h, upcard
        state.apply_action(card)
    assert private.string_from(state, 1) == "hand 2c 3d 4h"
    assert private.string_from(state, 0) == "hand 3c 4d 5h"
    assert public.string_from(state, 0) == public.string_from(state, 1)
    assert not {"2c", "3d", "4h", "3c"} & set(public.string_from(state, 0).split())
    assert state.information_state_string(1) == "1: round 1, dealer 0, upcard 3s (2c 3d 4h); "
    state.apply_action(0)
    state.apply_action(51)
    assert private.string_from(state, 1) == "hand 2c 3d 4h As, drawn As"
    assert state.information_state_string(0).endswith("(3c 4d 5h); 1 draw_stock; ")
    assert public.tensor is None


# --- solvers ------------------------------------------------------------------------------------


def test_cfr_solves_the_small_game():
    loaded = load(KNOWN)
    tree = pyspiel.convert_to_cached_tree(loaded)
    solver, lost = cfr.CFRSolver(tree), []
    for iteration in range(1, 61):
        solver.evaluate_and_update_policy()
        if iteration in (1, 10, 60):
            lost.append(exploitability.nash_conv(tree, solver.average_policy()))
    assert lost[0] > 5 * lost[1] > 0
    assert lost[1] > 3 * lost[2]
    assert lost[2] < 0.05
    # The same tree without the cache.
    assert exploitability.nash_conv(loaded, solver.average_policy()) == pytest.approx(lost[2])


def test_mccfr_runs_on_the_small_game():
    np.random.seed(int(generator("mccfr").integers(1 << 31)))  # noqa: NPY002 (what it draws from)
    tree = pyspiel.convert_to_cached_tree(load(KNOWN))
    solver = external_sampling_mccfr.ExternalSamplingSolver(tree)
    lost = []
    for iteration in range(1, 501):
        solver.iteration()
        if iteration in (10, 500):
            lost.append(exploitability.nash_conv(tree, solver.average_policy()))
    assert lost[1] < lost[0] / 2


@pytest.mark.parametrize("parameters", [KNOWN, "rules=schwimmen_a7,episode=round,max_turns=5"])
def test_tree_search_beats_random_play(parameters):
    rng = np.random.RandomState(3)
    loaded = load(parameters)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    bot = mcts.MCTSBot(loaded, 2.0, 20, evaluator, random_state=rng)
    won, chance = 0.0, generator("search", parameters)
    for _ in range(20):
        state = loaded.new_initial_state()
        while not state.is_terminal():
            if state.current_player() == 0:
                action = bot.step(state)
            else:
                action = at_random(state.node, chance)
            assert action in state.legal_actions()
            state.apply_action(action)
        won += state.returns()[0]
    assert won > 0


def test_learning_environments_run():
    rng = generator("learning")
    environment = rl_environment.Environment(load("rules=danish,players=3,max_rounds=3"))
    environment.seed(int(rng.integers(1 << 31)))
    step = environment.reset()
    while not step.last():
        player = step.observations["current_player"]
        legal = step.observations["legal_actions"][player]
        step = environment.step([int(rng.choice(legal))])
    assert sum(step.rewards) == pytest.approx(0, abs=1e-12)


def test_names_of_parameters_are_those_of_the_rules():
    assert set(PRESETS["danish"].to_dict()) <= set(openspiel.PARAMETERS)


@pytest.mark.integration
def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, "examples/openspiel_cfr.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no illegal action" in done.stdout
