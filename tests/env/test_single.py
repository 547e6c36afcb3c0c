"""The Gymnasium environments against the PettingZoo one, and at their borders."""

from __future__ import annotations

import copy
import os
import random
import subprocess
import sys
import warnings
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector.async_vector_env import CloudpickleWrapper

import thirtyone_env
import thirtyone_env.single
from tests.env.helpers import BOTS, generator, scaled
from tests.env.oracle import Moment, play, random_table
from thirtyone_env import PRESETS, make_bot
from thirtyone_env.learner import DECIDES, PENDING

ROOT = Path(__file__).resolve().parents[2]
IDS = ("ThirtyOne-v0", "KnockTiming-v0")
KNOCK, PASS = 2, 3


def make(name: str = "ThirtyOne-v0", **options: Any) -> Any:
    return gymnasium.make(name, **{"illegal": "raise", **options}).unwrapped


def chooser(rng: np.random.Generator, patience: float = 0.0) -> Any:
    """Any legal action; knocks only now and then if patient."""

    def choose(moment: Moment) -> int:
        legal = np.flatnonzero(moment.mask)
        if len(legal) > 1 and rng.random() < patience:
            knock = 1 if len(moment.mask) == 2 else KNOCK
            legal = legal[legal != knock]
        return int(rng.choice(legal))

    return choose


def for_knocking(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != "action_format"}


def check_against_oracle(name: str, table: dict[str, Any], rng: np.random.Generator) -> int:
    """Play one match in both; returns its decisions."""
    knock_only = name == "KnockTiming-v0"
    if knock_only:
        table = for_knocking(table)
    seats = table["num_players"]
    opponents = [str(bot) for bot in rng.choice(BOTS, seats - 1)]
    wanted = ["rotate", "random", int(rng.integers(seats))][rng.integers(3)]
    env = make(name, opponents=opponents, learner_seat=wanted, **table)
    seed = int(rng.integers(1 << 40))
    other = thirtyone_env.env(**table)
    choices = int(rng.integers(1 << 30))
    seen, info = env.reset(seed=seed)
    other.reset(seed=seed)
    decisions = 0
    for match in range(2):
        seat = info["learner_seat"]
        assert 0 <= seat < seats
        if wanted == "rotate":
            assert seat == (seed + match) % seats
        elif wanted != "random":
            assert seat == wanted
        patience = float(rng.choice([0.0, 0.9, 0.99]))
        moments = play(
            other,
            opponents,
            seat,
            chooser(np.random.default_rng(choices + match), patience),
            knock_only,
        )
        choose = chooser(np.random.default_rng(choices + match), patience)
        first = next(moments)
        compare(first, seen, info, env)
        total, before = first.reward, first
        for moment in moments:
            seen, reward, terminated, truncated, info = env.step(choose(before))
            total += moment.reward
            compare(moment, seen, info, env)
            assert (terminated, truncated) == (moment.terminated, moment.truncated)
            expected = moment.reward + (first.reward if before is first else 0.0)
            assert reward == pytest.approx(expected, abs=1e-12)
            before = moment
            decisions += 1
        assert terminated or truncated
        if match == 0:
            seen, info = env.reset()
            other.reset()
    return decisions


def compare(moment: Moment, seen: Any, info: dict[str, Any], env: Any) -> None:
    assert seen["observation"].tobytes() == moment.seen.tobytes()
    assert (seen["action_mask"] == 1).tolist() == moment.mask.tolist()
    assert info["action_mask"].tolist() == seen["action_mask"].tolist()
    assert env.action_masks().tolist() == moment.mask.tolist()
    assert env.observation_space.contains(seen)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", IDS)
def test_a_learner_sees_and_earns_what_it_would_in_pettingzoo(name, preset):
    rng = generator("oracle", name, preset)
    for _ in range(6):
        assert check_against_oracle(name, random_table(rng, preset), rng)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_ten_thousand_matches_are_those_of_pettingzoo(preset):
    rng = generator("oracle", preset)
    for _ in range(scaled(10_000 // len(PRESETS) // 2)):
        check_against_oracle(str(rng.choice(IDS)), random_table(rng, preset), rng)


# --- matches that are decided early --------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_a_match_lost_before_the_first_decision_is_paid_and_flagged(name):
    """The dealt blitz of an opponent, everybody on the last life."""
    env = make(name, rules={"preset": "danish", "lives": 1}, num_players=2, learner_seat=1)
    found = 0
    for seed in range(20_000):
        _, info = env.reset(seed=seed)
        if env._core.learners["status"][0] != PENDING:
            continue
        found += 1
        only = 0 if name == "KnockTiming-v0" else PASS
        assert make_bot("threshold:25").act(env) == only
        if name == "ThirtyOne-v0":
            assert np.flatnonzero(info["action_mask"]).tolist() == [PASS]
            with pytest.raises(ValueError, match="illegal"):
                env.step(1)
        _, reward, terminated, truncated, info = env.step(only)
        assert reward in (-1.0, 1.0)
        assert terminated
        assert not truncated
        assert info["winner"] == (1 if reward > 0 else 0)
        if found == 5:
            return
    raise AssertionError("no match was decided by the deal")


def test_an_elimination_ends_the_episode_while_the_match_goes_on():
    env = make(num_players=4, opponents="threshold:27", learner_seat=2)
    rng = generator("elimination")
    early = 0
    for seed in range(30):
        _, info = env.reset(seed=seed)
        done = False
        while not done:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, reward, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        if info["winner"] == -1:
            early += 1
            assert reward < 0
            assert terminated
    assert early > 10


# --- at the border -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("form", [int, np.int64, np.int8, np.array, lambda a: np.array([a])])
def test_actions_in_every_form_act_alike(name, form):
    env, other = make(name), make(name)
    env.reset(seed=4)
    other.reset(seed=4)
    for _ in range(5):
        action = int(np.flatnonzero(env.action_masks())[-1])
        one, *rest = env.step(form(action))
        two, *others = other.step(action)
        assert one["observation"].tobytes() == two["observation"].tobytes()
        assert rest[:3] == others[:3]
        if rest[1] or rest[2]:
            return


@pytest.mark.parametrize("illegal", ["raise", "terminate"])
@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize(
    "bad", [2.5, 1.0, True, None, float("nan"), -1, "n", "0", np.array([0, 1]), np.True_, [0]]
)
def test_what_is_no_action_is_refused_and_changes_nothing(name, bad, illegal):
    env = make(name, illegal=illegal)
    env.reset(seed=4)
    before = env._core.tables.states.tobytes(), env._core.learners.tobytes()
    bad = env.action_space.n if isinstance(bad, str) and bad == "n" else bad
    with pytest.raises(ValueError, match="whole number in 0"):
        env.step(bad)
    assert (env._core.tables.states.tobytes(), env._core.learners.tobytes()) == before


def test_an_illegal_action_raises_and_changes_nothing_or_ends_the_episode():
    env = make()
    env.reset(seed=4)
    illegal = int(np.flatnonzero(~env.action_masks())[0])
    before = env._core.tables.states.tobytes(), env._core.learners.tobytes()
    with pytest.raises(ValueError, match=rf"action {illegal} is illegal.*legal: 0 \(draw_stock\)"):
        env.step(illegal)
    assert (env._core.tables.states.tobytes(), env._core.learners.tobytes()) == before
    env = make(illegal="terminate")
    env.reset(seed=4)
    seen, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["illegal_action"] == illegal
    assert not seen["action_mask"].any()
    assert env.observation_space.contains(seen)


@pytest.mark.parametrize("name", IDS)
def test_calls_out_of_order_say_so(name):
    env, bot = make(name, illegal="terminate", render_mode="ansi"), make_bot("danish")
    for call in (
        lambda: env.step(0),
        env.action_masks,
        env.render,
        env.view,
        lambda: bot.act(env),
        lambda: env.learner_seat,
    ):
        with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
            call()
    env.reset(seed=1)
    done = False
    while not done:
        *_, terminated, truncated, _ = env.step(int(np.flatnonzero(env.action_masks())[0]))
        done = terminated or truncated
    with pytest.raises(RuntimeError, match=r"the episode is over; call reset\(\)"):
        env.step(0)
    with pytest.raises(RuntimeError, match=r"over; call reset\(\)"):
        bot.act(env)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"opponents": "thresholt:25"}, "unknown bot 'thresholt:25'"),
        ({"opponents": "knock"}, "'knock' decides outside"),
        ({"opponents": ("danish",)}, "allowed: one for all, or 3"),
        ({"opponents": 3}, "a policy with act_batch"),
        ({"opponents": type(make_bot("danish"))}, "a policy with act_batch"),
        ({"learner_seat": 4}, r"learner_seat = 4 is not allowed; allowed: 0 … 3, 'rotate'"),
        ({"learner_seat": True}, "learner_seat = True"),
        ({"learner_seat": "rotating"}, "learner_seat = 'rotating'"),
        ({"num_players": 99}, "99"),
        ({"rules": "danisch"}, "danish"),
        ({"episode": "game"}, "episode = 'game'"),
        ({"reward": "points"}, "reward = 'points'"),
        ({"illegal": "ignore"}, "illegal = 'ignore'"),
        ({"flatten": 1}, "flatten = 1"),
        ({"render_mode": "video"}, "render_mode = 'video'"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        thirtyone_env.single.ThirtyOneEnv(**options)


def test_a_rule_that_does_not_draw_is_named():
    for draws in ("danish", None):
        with pytest.raises(ValueError, match=f"draws = {draws!r} is not allowed; allowed: 'greedy"):
            thirtyone_env.single.KnockTimingEnv(draws=draws)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, 1 << 64])
def test_bad_seeds_leave_the_match_in_progress(seed):
    env = make()
    env.reset(seed=3)
    before = env._core.tables.states.tobytes()
    with pytest.raises(ValueError, match="seed = "):
        env.reset(seed=seed)
    assert env._core.tables.states.tobytes() == before


# --- checkers ------------------------------------------------------------------------------------

VARIANTS: list[dict[str, Any]] = [
    {},
    {"flatten": True},
    {"observation_format": "compact", "flatten": True},
    {"rules": "schwimmen_a7", "num_players": 3},
    {"episode": "round", "num_players": 2, "reward": "equity"},
    {"opponents": ("danish", "swedish", "random"), "learner_seat": "random"},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("name", [*IDS, "thirtyone_env:ThirtyOne-v0"])
def test_gymnasiums_checker_is_content(name, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name, **options)
        check_env(env.unwrapped, skip_render_check=False)
        env.close()


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("name", IDS)
def test_stable_baselines_checker_is_content(name, options):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(gymnasium.make(name, **options), warn=True)


# --- what is handed out --------------------------------------------------------------------------


def arrays(thing: Any) -> list[np.ndarray]:
    if isinstance(thing, dict):
        return [array for part in thing.values() for array in arrays(part)]
    return [thing] if isinstance(thing, np.ndarray) else []


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("name", IDS)
def test_what_was_handed_out_never_changes(name, flatten):
    env = make(name, flatten=flatten)
    rng = generator("kept", name)
    kept: list[tuple[np.ndarray, bytes]] = []
    seen, info = env.reset(seed=1)
    for _ in range(60):
        masks = env.action_masks()
        kept += [(a, a.tobytes()) for part in (seen, info, {"m": masks}) for a in arrays(part)]
        seen, _, terminated, truncated, info = env.step(int(rng.choice(np.flatnonzero(masks))))
        if terminated or truncated:
            seen, info = env.reset()
    assert all(array.tobytes() == was for array, was in kept)
    for i, (one, _) in enumerate(kept):
        assert not any(np.shares_memory(one, other) for other, _ in kept[i + 1 : i + 12])
    for array, _ in kept:
        array[...] = 0
    assert env.action_masks().any()


@pytest.mark.parametrize("name", IDS)
def test_copies_go_on_alike(name):
    env = make(name, opponents=("random", make_bot("random"), "danish"))
    env.reset(seed=9)
    rng = generator("copies", name)
    for _ in range(7):
        if env._core.learners["status"][0] != DECIDES:
            env.reset()
        env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
    if env._core.learners["status"][0] != DECIDES:
        env.reset()
    copies = [
        copy.copy(env),
        copy.deepcopy(env),
        ForkingPickler.loads(ForkingPickler.dumps(env)),
        ForkingPickler.loads(ForkingPickler.dumps(CloudpickleWrapper(lambda: env))).fn(),
    ]
    ends = []
    for one in (env, *copies):
        trace = []
        choices = np.random.default_rng(5)
        for _ in range(80):
            legal = np.flatnonzero(one.action_masks())
            seen, reward, terminated, truncated, _ = one.step(int(choices.choice(legal)))
            trace.append((seen["observation"].tobytes(), reward, terminated, truncated))
            if terminated or truncated:
                one.reset()
        ends.append(trace)
    assert all(trace == ends[0] for trace in ends)


class Outside:
    """A bot that decides outside the kernel."""

    def __init__(self, name: str) -> None:
        self.name, self._bot = f"outside {name}", make_bot(name)
        self.batches: list[int] = []

    def act(self, env: Any) -> int:
        return self._bot.act(env)

    def act_batch(self, tables: Any, rows: Any = None) -> np.ndarray:
        self.batches.append(len(rows))
        return self._bot.act_batch(tables, rows)


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("preset", ["danish", "schwimmen_a7", "dutch_buy_in"])
def test_policies_outside_the_kernel_play_like_bots_in_it(name, preset):
    bots = ("swedish", "random", "threshold:25")
    one = make(name, rules=preset, opponents=bots, learner_seat="random")
    two = make(name, rules=preset, opponents=[Outside(b) for b in bots], learner_seat="random")
    rng = generator("outside", name, preset)
    seed = int(rng.integers(1 << 30))
    results = one.reset(seed=seed), two.reset(seed=seed)
    for _ in range(300):
        assert results[0][0]["observation"].tobytes() == results[1][0]["observation"].tobytes()
        assert results[0][1:-1] == results[1][1:-1]
        if len(results[0]) == 5 and (results[0][2] or results[0][3]):
            results = one.reset(), two.reset()
        action = int(rng.choice(np.flatnonzero(one.action_masks())))
        results = one.step(action), two.step(action)


def play_until_it_answers(env: Any) -> None:
    env.reset(seed=0)
    for _ in range(20):
        env.step(int(np.flatnonzero(env.action_masks())[0]))


def test_an_illegal_action_of_a_policy_names_it():
    class Stubborn(Outside):
        def act_batch(self, tables: Any, rows: Any = None) -> np.ndarray:
            return np.full(len(rows), 60)

    env = make(opponents=Stubborn("danish"), learner_seat=0)
    with pytest.raises(ValueError, match="opponent 'outside danish' chose the illegal action 60"):
        play_until_it_answers(env)


def test_opponents_change_between_matches_only():
    env = make(opponents="never_knock", learner_seat=0)
    env.reset(seed=2)
    before = env._core.tables.states["controllers"].copy()
    env.set_opponents(("danish", "swedish", Outside("random")))
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert (env._core.tables.states["controllers"] == before).all()
    env.reset()
    assert (env._core.tables.states["controllers"] != before).any()


# --- series, options, generators -----------------------------------------------------------------


def test_options_stay_in_force_through_a_series():
    env = make(num_players=3)
    env.reset(seed=5, options={"lives": [1, 2, 3], "dealer": 2})
    for _ in range(3):
        assert env._core.tables.states["lives"][0, :3].tolist() == [1, 2, 3]
        assert env._core.tables.states["dealer"][0] == 2
        env.reset()
    env.reset(seed=6)
    assert env._core.tables.states["lives"][0, :3].tolist() == [3, 3, 3]


def test_unknown_options_are_ignored_with_a_warning_and_bad_ones_refused():
    env = make()
    with pytest.warns(UserWarning, match="reset options \\['colour'\\] are unknown"):
        env.reset(seed=1, options={"colour": "red"})
    with pytest.raises(ValueError, match="dealer = 7"):
        env.reset(options={"dealer": 7})
    for bad in (5, [1], "deck"):
        with pytest.raises(ValueError, match=r"options = .* is not allowed; allowed: a dict"):
            env.reset(options=bad)


def test_the_deck_can_be_given():
    env = make(num_players=2, opponents="never_knock", learner_seat=0)
    env.reset(seed=1, options={"deck": "2c 3c 4c 5c 6c 7c 8c 9c", "dealer": 0})
    assert env._core.tables.states["lives"][0, 0] == 3


def test_global_generators_are_neither_used_nor_touched():
    torch = pytest.importorskip("torch")

    def trace(scramble: bool) -> list[Any]:
        env = make(opponents=("random", Outside("random"), "danish"), learner_seat="random")
        rng, found = np.random.default_rng(3), []
        seen, _ = env.reset(seed=8)
        for step in range(150):
            if scramble and step % 10 == 5:
                random.seed(step)
                np.random.seed(step)  # noqa: NPY002
                torch.manual_seed(step)
            states = random.getstate(), np.random.get_state()[1].tobytes(), torch.get_rng_state()  # noqa: NPY002
            action = int(rng.choice(np.flatnonzero(env.action_masks())))
            seen, reward, terminated, truncated, _ = env.step(action)
            found.append((seen["observation"].tobytes(), reward))
            if terminated or truncated:
                env.reset()
            assert states[0] == random.getstate()
            assert states[1] == np.random.get_state()[1].tobytes()  # noqa: NPY002
            assert (states[2] == torch.get_rng_state()).all()
        return found

    assert trace(False) == trace(True)


def test_bots_play_a_learner_with_no_illegal_action():
    for name in IDS:
        env = gymnasium.make(name, illegal="raise", opponents="swedish")
        for bot in map(make_bot, BOTS):
            _, info = env.reset(seed=3)
            done = False
            while not done:
                action = bot.act(env)
                assert info["action_mask"][action] == 1
                *_, terminated, truncated, info = env.step(action)
                done = terminated or truncated


def test_the_swedish_rule_draws_for_a_knock_timer():
    """Going on and never knocking with its draws is not the greedy rule."""
    traces = []
    for draws in ("greedy", "swedish"):
        env = make("KnockTiming-v0", draws=draws, learner_seat=0, num_players=2)
        env.reset(seed=1)
        trace = []
        for _ in range(40):
            seen, _, terminated, truncated, _ = env.step(0)
            trace.append(seen["observation"].tobytes())
            if terminated or truncated:
                env.reset()
        traces.append(trace)
    assert traces[0] != traces[1]


def test_masks_are_found_through_wrappers():
    env = gymnasium.make("ThirtyOne-v0")
    env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == bool
    assert masks.tolist() == env.unwrapped.action_masks().tolist()


@pytest.mark.parametrize("preset", ["danish", "schwimmen_a7", "dutch_buy_in"])
@pytest.mark.parametrize("name", IDS)
def test_being_watched_changes_nothing(name, preset):
    """Pictures want every decision of everybody; the play is the same to the byte."""
    opponents = ("random", Outside("danish"), "swedish")
    options = {"rules": preset, "opponents": opponents, "learner_seat": "random"}
    one, two = make(name, **options), make(name, render_mode="rgb_array", **options)
    rng = generator("watched", name, preset)
    seed = int(rng.integers(1 << 30))
    results, others = one.reset(seed=seed), two.reset(seed=seed)
    rounds = 0
    for _ in range(250):
        assert results[0]["observation"].tobytes() == others[0]["observation"].tobytes()
        assert (results[0]["action_mask"] == others[0]["action_mask"]).all()
        assert results[1:-1] == others[1:-1]
        rounds += two._last_round is not None
        if len(results) == 5 and (results[2] or results[3]):
            results, others = one.reset(), two.reset()
        else:
            action = int(rng.choice(np.flatnonzero(one.action_masks())))
            results, others = one.step(action), two.step(action)
    assert rounds > 10
    picture = two.render()
    assert picture.dtype == np.uint8
    assert picture.std() > 10
    assert "seat" in str(two.view())


class Faulty(Outside):
    """Raises once, at one of its decisions."""

    def __init__(self, name: str, at: int, fault: BaseException) -> None:
        super().__init__(name)
        self._at, self._fault, self.asked = at, fault, 0

    def act_batch(self, tables: Any, rows: Any = None) -> np.ndarray:
        self.asked += 1
        if self.asked == self._at:
            raise self._fault
        return super().act_batch(tables, rows)


@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
@pytest.mark.parametrize("fault", [OSError("out of reach"), KeyboardInterrupt()], ids=repr)
def test_a_policy_that_raises_leaves_the_match_as_it_was(fault, render_mode):
    """Asked again, it plays what it would have played."""
    options = {"num_players": 3, "render_mode": render_mode, "learner_seat": 0}
    for at in (1, 2, 5, 9):
        faulty = Faulty("random", at, fault)
        one = make(opponents=(faulty, "random"), **options)
        two = make(opponents=(Outside("random"), "random"), **options)
        traces: list[list[Any]] = [[], []]
        for env, trace in zip((one, two), traces, strict=True):
            choices = np.random.default_rng(at)
            try:
                env.reset(seed=11)
            except type(fault):
                env.reset(seed=11)
            for _ in range(40):
                action = int(choices.choice(np.flatnonzero(env.action_masks())))
                try:
                    seen, *rest = env.step(action)
                except type(fault):
                    seen, *rest = env.step(action)
                trace.append((seen["observation"].tobytes(), rest[0]))
                if rest[1] or rest[2]:
                    env.reset()
        assert faulty.asked > at
        assert traces[0] == traces[1]


def test_knocking_where_the_match_is_decided_is_as_good_as_going_on():
    """Learners without masks may answer either; no won match is lost by it."""
    rules = {"preset": "danish", "lives": 1}
    options = {"num_players": 2, "rules": rules, "opponents": "threshold:15", "learner_seat": 0}
    one, two = make("KnockTiming-v0", **options), make("KnockTiming-v0", **options)
    decided = []
    for seed in range(3000):
        one.reset(seed=seed)
        two.reset(seed=seed)
        if one._core.learners["status"][0] == PENDING:
            assert one.action_masks().tolist() == [True, True]
            results = one.step(0), two.step(1)
            assert results[0][1:4] == results[1][1:4]
            decided.append(results[0][1])
    assert 1.0 in decided
    assert -1.0 in decided


def test_what_is_handed_out_is_not_what_is_read():
    env = make()
    seen, info = env.reset(seed=3)
    before = env.action_masks()
    seen["action_mask"][:] = 0
    seen["observation"][:] = 9
    info["action_mask"][:] = 0
    assert (env.action_masks() == before).all()
    assert before.any()


@pytest.mark.parametrize("answer", [None, 1.0, [float("nan")], [[0, 0]], [0, 1], "draw"])
def test_a_policys_answer_is_checked(answer):
    class Odd(Outside):
        def act_batch(self, tables: Any, rows: Any = None) -> Any:
            return answer

    env = make(opponents=Odd("danish"), learner_seat=0)
    with pytest.raises(ValueError, match=r"opponent 'outside danish' answered .*int64\[1\] is exp"):
        play_until_it_answers(env)


TRACE = """
import gymnasium, hashlib, numpy as np, thirtyone_env
digest = hashlib.sha256()
rng = np.random.default_rng(7)
for name in ("ThirtyOne-v0", "KnockTiming-v0"):
    for rules in ("danish", "schwimmen_a7"):
        options = {"rules": rules, "num_players": 3, "opponents": ("random", "swedish")}
        env = gymnasium.make(name, illegal="raise", learner_seat="random", **options).unwrapped
        many = gymnasium.make_vec(
            name, num_envs=2, vectorization_mode="vector_entry_point", illegal="raise", **options
        )
        seen, info = env.reset(seed=1)
        lot, _ = many.reset(seed=1)
        for _ in range(12):
            digest.update(seen["observation"].tobytes() + info["action_mask"].tobytes())
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            seen, reward, terminated, truncated, info = env.step(action)
            digest.update(np.float64(reward).tobytes())
            if terminated or truncated:
                seen, info = env.reset()
            lot, rewards, *_ = many.step(np.argmax(lot["action_mask"], axis=1))
            digest.update(lot["observation"].tobytes() + rewards.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.integration
def test_interpreted_and_compiled_are_equal():
    digests = {
        subprocess.run(
            [sys.executable, "-W", "error", "-c", TRACE],
            env={**os.environ, "NUMBA_DISABLE_JIT": off, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for off, seed in (("0", "0"), ("1", "1"))
    }
    assert len(digests) == 1
