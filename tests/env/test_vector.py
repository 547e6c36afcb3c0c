"""The native vector environments against Gymnasium's vectors of single ones."""

from __future__ import annotations

import copy
import random
from multiprocessing.reduction import ForkingPickler
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.vector.async_vector_env import CloudpickleWrapper

from tests.env.helpers import BOTS, generator, scaled
from tests.env.oracle import random_table
from tests.env.test_single import Faulty, Outside, arrays, for_knocking
from thirtyone_env import PRESETS, make_bot
from thirtyone_env.vector import ThirtyOneVectorEnv

IDS = ("ThirtyOne-v0", "KnockTiming-v0")
MODES = tuple(AutoresetMode)


def native(name: str, rows: int | str, mode: Any = AutoresetMode.NEXT_STEP, **options: Any) -> Any:
    return gymnasium.make_vec(
        name,
        num_envs=rows,
        vectorization_mode="vector_entry_point",
        autoreset_mode=mode,
        **{"illegal": "raise", **options},
    )


def of_singles(
    name: str, rows: int, mode: AutoresetMode, kind: str = "sync", **options: Any
) -> Any:
    kwargs: dict[str, Any] = {"autoreset_mode": mode}
    if kind == "async":
        kwargs["context"] = "spawn"
    return gymnasium.make_vec(
        name,
        num_envs=rows,
        vectorization_mode=kind,
        vector_kwargs=kwargs,
        **{"illegal": "raise", **options},
    )


def same(one: Any, two: Any, where: str = "") -> None:
    """Equal through and through: values, types, shapes, keys."""
    assert type(one) is type(two), where
    if isinstance(one, dict):
        assert one.keys() == two.keys(), where
        for key in one:
            same(one[key], two[key], f"{where}/{key}")
    elif isinstance(one, tuple | list):
        assert len(one) == len(two), where
        for i, (a, b) in enumerate(zip(one, two, strict=True)):
            same(a, b, f"{where}/{i}")
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape), where
        if one.dtype == object:
            same(list(one), list(two), where)
        else:
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-12, err_msg=where)
    else:
        assert one == two, where


def legal_actions(rng: np.random.Generator, masks: np.ndarray, patience: float) -> np.ndarray:
    """A legal action a row; any where there is none."""
    chosen = np.zeros(len(masks), np.int64)
    knock = 1 if masks.shape[1] == 2 else 2
    for row, mask in enumerate(masks):
        legal = np.flatnonzero(mask)
        if len(legal) > 1 and rng.random() < patience:
            legal = legal[legal != knock]
        if len(legal):
            chosen[row] = rng.choice(legal)
    return chosen


def compare(one: Any, two: Any, steps: int, rng: np.random.Generator, mode: AutoresetMode) -> int:
    """Play both alike; returns how many episodes ended."""
    seed = int(rng.integers(1 << 40))
    patience = float(rng.choice([0.0, 0.9]))
    results = one.reset(seed=seed), two.reset(seed=seed)
    same(*results)
    ended = 0
    over = np.zeros(one.num_envs, bool)
    for _ in range(steps):
        if mode == AutoresetMode.DISABLED and over.any():
            results = (
                one.reset(options={"reset_mask": over}),
                two.reset(options={"reset_mask": over.copy()}),
            )
            same(*results)
        actions = legal_actions(rng, one.unwrapped.action_masks(), patience)
        results = one.step(actions), two.step(actions.copy())
        same(*results)
        over = results[0][2] | results[0][3]
        ended += int(over.sum())
    return ended


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("name", IDS)
def test_native_is_gymnasiums_vector_of_singles_row_by_row(name, mode):
    rng = generator("vector", name, mode)
    ended = 0
    for preset in rng.choice(list(PRESETS), 5, replace=False):
        table = random_table(rng, str(preset))
        if name == "KnockTiming-v0":
            table = for_knocking(table)
        table["opponents"] = [str(bot) for bot in rng.choice(BOTS, table["num_players"] - 1)]
        table["learner_seat"] = ["rotate", "random", 0][rng.integers(3)]
        rows = int(rng.integers(1, 6))
        one, two = native(name, rows, mode, **table), of_singles(name, rows, mode, **table)
        ended += compare(one, two, 150, rng, mode)
    assert ended > 20


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_native_is_gymnasiums_vector_in_every_preset(preset):
    rng = generator("vector", preset)
    for name in IDS:
        for mode in MODES:
            table = random_table(rng, preset)
            table = for_knocking(table) if name == "KnockTiming-v0" else table
            one, two = native(name, 8, mode, **table), of_singles(name, 8, mode, **table)
            compare(one, two, scaled(1500), rng, mode)


@pytest.mark.integration
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_native_is_gymnasiums_vector_of_spawned_processes(mode):
    rng = generator("async", mode)
    options: dict[str, Any] = {"num_players": 3, "opponents": ("random", "danish"), "flatten": True}
    one = native("thirtyone_env:ThirtyOne-v0", 2, mode, **options)
    two = of_singles("thirtyone_env:ThirtyOne-v0", 2, mode, "async", **options)
    try:
        assert compare(one, two, 120, rng, mode) > 2
    finally:
        two.close()


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_the_mode_is_declared_and_rows_have_hands_of_their_own(mode):
    env = native("ThirtyOne-v0", 64, mode)
    assert env.metadata["autoreset_mode"] is mode
    assert native("ThirtyOne-v0", 2, mode.name.lower()).metadata["autoreset_mode"] is mode
    env.reset(seed=1)
    states = env.unwrapped._core.tables.states
    assert len({hands.tobytes() for hands in states["hands"]}) == 64
    first = {hands.tobytes() for hands in states["hands"]}
    env.reset()
    assert not first & {hands.tobytes() for hands in states["hands"]}
    other = native("ThirtyOne-v0", 64, mode)
    other.reset()
    assert len({hands.tobytes() for hands in other.unwrapped._core.tables.states["hands"]}) == 64


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_options_stay_in_force_through_automatic_resets(mode):
    """Those of the environment and those of the reset, row by row as in Gymnasium's vector."""
    options: dict[str, Any] = {"num_players": 2, "opponents": "random", "episode": "round"}
    one, two = (
        native("ThirtyOne-v0", 3, mode, **options),
        of_singles("ThirtyOne-v0", 3, mode, **options),
    )
    situation = {"lives": [1, 3], "dealer": 1}
    same(one.reset(seed=4, options=dict(situation)), two.reset(seed=4, options=dict(situation)))
    rng = generator("options", mode)
    over = np.zeros(3, bool)
    for _ in range(120):
        if mode == AutoresetMode.DISABLED and over.any():
            same(
                one.reset(options={"reset_mask": over}),
                two.reset(options={"reset_mask": over.copy()}),
            )
        states = one.unwrapped._core.tables.states
        assert (states["lives"][~over, 0] <= 1).all()
        actions = legal_actions(rng, one.unwrapped.action_masks(), 0.5)
        results = one.step(actions), two.step(actions)
        same(*results)
        over = results[0][2] | results[0][3]
    mask = np.array([False, True, False])
    there = {"dealer": 0, "reset_mask": mask}
    same(one.reset(options=dict(there)), two.reset(options=dict(there)))
    seeds = [7, None, 9]
    same(one.reset(seed=seeds), two.reset(seed=seeds))


def test_final_observations_and_infos_are_those_of_the_match_that_ended():
    """Against a vector without automatic resets, which shows the ends themselves."""
    one = native("ThirtyOne-v0", 16, "same_step", opponents="danish")
    two = native("ThirtyOne-v0", 16, "disabled", opponents="danish")
    seen, _ = one.reset(seed=3)
    two.reset(seed=3)
    rng, ended = generator("finals"), 0
    for _ in range(200):
        actions = legal_actions(rng, seen["action_mask"], 0.5)
        seen, rewards, terminated, truncated, infos = one.step(actions)
        last, *results, info = two.step(actions)
        same([rewards, terminated, truncated], results)
        over = terminated | truncated
        assert ("final_obs" in infos) == over.any()
        if over.any():
            ended += over.sum()
            assert infos["_final_obs"].tolist() == over.tolist()
            for row in range(16):
                final = infos["final_obs"][row]
                if over[row]:
                    same(final, {key: last[key][row] for key in last})
                else:
                    assert final is None
            assert (infos["final_info"]["winner"][over] == info["winner"][over]).all()
            two.reset(options={"reset_mask": over})
    assert ended > 10


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("flatten", [False, True])
def test_what_was_handed_out_never_changes(mode, flatten):
    env = native("ThirtyOne-v0", 4, mode, flatten=flatten)
    rng = generator("kept", mode)
    kept: list[tuple[np.ndarray, bytes]] = []
    seen, info = env.reset(seed=1)
    over = np.zeros(4, bool)
    for _ in range(60):
        if mode == AutoresetMode.DISABLED and over.any():
            seen, info = env.reset(options={"reset_mask": over})
        parts = [seen, info, {"m": env.unwrapped.action_masks()}]
        finals = [one for one in info.get("final_obs", []) if one is not None]
        for part in (*parts, *finals, info.get("final_info", {})):
            kept += [(a, a.tobytes()) for a in arrays(part) if a.dtype != object]
        actions = legal_actions(rng, env.unwrapped.action_masks(), 0.5)
        seen, reward, terminated, truncated, info = env.step(actions)
        kept += [(a, a.tobytes()) for a in (reward, terminated, truncated)]
        over = terminated | truncated
    assert all(array.tobytes() == was for array, was in kept)
    distinct = {id(array): array for array, _ in kept}
    ordered = list(distinct.values())
    for i, one in enumerate(ordered):
        assert not any(np.shares_memory(one, other) for other in ordered[i + 1 : i + 30])
    masks = env.unwrapped.action_masks()
    for array in ordered:
        array[...] = 0
    assert (env.unwrapped.action_masks() == masks).all()
    if mode == AutoresetMode.DISABLED:
        rest = np.array([True, False, False, False])
        seen, _ = env.reset(options={"reset_mask": rest})
        assert (seen if flatten else seen["observation"]).any(axis=1).all()


def test_without_copies_the_buffers_are_the_same_and_the_play_too():
    one, two = (
        native("ThirtyOne-v0", 8, "same_step"),
        native("ThirtyOne-v0", 8, "same_step", copy=False),
    )
    (seen, _), (other, _) = one.reset(seed=1), two.reset(seed=1)
    rng = generator("buffers")
    for _ in range(100):
        actions = legal_actions(rng, seen["action_mask"], 0.5)
        (seen, *results), (again, *others) = one.step(actions), two.step(actions)
        assert again["observation"] is other["observation"]
        same(seen, again)
        same(results, others)


def test_the_number_of_rows_can_be_left_to_the_number_of_seats():
    assert native("ThirtyOne-v0", "auto", observation_format="compact").num_envs == 512
    assert native("KnockTiming-v0", "auto", num_players=2).num_envs == 512
    envs = native("ThirtyOne-v0", "auto", num_players=9)
    observations, infos = envs.reset(seed=1)
    envs.step(np.argmax(infos["action_mask"], axis=1))
    assert len(observations["observation"]) == envs.num_envs == 256
    for wrong in ("many", 0, -1, 2.5, True):
        with pytest.raises(ValueError, match="num_envs"):
            ThirtyOneVectorEnv(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads):
    options: dict[str, Any] = {"opponents": ("danish", Outside("random"), "random")}
    one = native("ThirtyOne-v0", 50, "next_step", **options)
    two = native("ThirtyOne-v0", 50, "next_step", threads=threads, **options)
    compare(one, two, 60, generator("threads", threads), AutoresetMode.NEXT_STEP)


def test_policies_are_asked_for_many_rows_at_once():
    outside = Outside("threshold:25")
    one = native("ThirtyOne-v0", 200, opponents=outside, num_players=3)
    two = native("ThirtyOne-v0", 200, opponents="threshold:25", num_players=3)
    compare(one, two, 40, generator("batches"), AutoresetMode.NEXT_STEP)
    assert np.mean(outside.batches) > 20


def test_opponents_never_change_in_the_middle_of_a_match():
    env = native("ThirtyOne-v0", 30, "same_step", opponents="never_knock", num_players=3)
    env.reset(seed=1)
    core = env.unwrapped._core
    rng = generator("opponents")
    policies = [Outside("danish"), Outside("swedish"), Outside("threshold:25")]
    sits = [core.tables.states["controllers"][row].tobytes() for row in range(30)]
    numbers = core.tables.states["match"].copy()
    for step in range(200):
        if step % 10 == 0:
            env.unwrapped.set_opponents(policies[step // 10 % 3])
            assert len(core._line_ups) <= 31
        env.step(legal_actions(rng, env.unwrapped.action_masks(), 0.5))
        now = [core.tables.states["controllers"][row].tobytes() for row in range(30)]
        same_match = core.tables.states["match"] == numbers
        for row in np.flatnonzero(same_match):
            assert now[row] == sits[row]
        sits, numbers = now, core.tables.states["match"].copy()
    assert (numbers > 0).all()


def test_episode_returns_are_the_payoffs_of_the_engine():
    """The states' own payoffs at the end of every episode, all presets, seats and rewards."""
    from thirtyone_env import game

    rng = generator("payoffs")
    for preset in PRESETS:
        table = random_table(rng, preset)
        kind = table["reward"] or ("match" if table["episode"] == "match" else "lives")
        env = native("ThirtyOne-v0", 40, "disabled", learner_seat="random", **table)
        seen, _ = env.reset(seed=int(rng.integers(1 << 30)))
        core = env.unwrapped._core
        sums, at_start = np.zeros(40), 0.0
        if kind == "equity":
            at_start = 1.0 / table["num_players"]
        for _ in range(60):
            seen, rewards, terminated, truncated, _ = env.step(
                legal_actions(rng, seen["action_mask"], 0.0)
            )
            sums += rewards
            over = np.flatnonzero(terminated | truncated)
            for row in over:
                states = core.tables.states[row : row + 1]
                paid = game.payoffs(states, kind)[core.learners["seat"][row]]
                assert sums[row] == pytest.approx(paid - at_start, abs=1e-9)
            if len(over):
                mask = terminated | truncated
                sums[mask] = 0.0
                seen, _ = env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("name", IDS)
def test_copies_go_on_alike(name):
    env = native(name, 6, "same_step", opponents=("random", make_bot("random"), Outside("danish")))
    env.reset(seed=9)
    rng = generator("copies", name)
    for _ in range(7):
        env.step(legal_actions(rng, env.unwrapped.action_masks(), 0.0))
    copies = [
        copy.copy(env),
        copy.deepcopy(env),
        ForkingPickler.loads(ForkingPickler.dumps(env)),
        ForkingPickler.loads(ForkingPickler.dumps(CloudpickleWrapper(lambda: env))).fn(),
    ]
    traces = []
    for one in (env, *copies):
        choices, trace = np.random.default_rng(5), []
        for _ in range(60):
            seen, rewards, *_ = one.step(legal_actions(choices, one.unwrapped.action_masks(), 0.5))
            trace.append((seen["observation"].tobytes(), rewards.tobytes()))
        traces.append(trace)
    assert all(trace == traces[0] for trace in traces)


def test_global_generators_change_nothing():
    def trace(scramble: bool) -> list[bytes]:
        env = native("ThirtyOne-v0", 5, opponents=("random", "danish", Outside("random")))
        rng = np.random.default_rng(3)
        seen, _ = env.reset(seed=8)
        found = []
        for step in range(100):
            if scramble and step % 10 == 5:
                random.seed(step)
                np.random.seed(step)  # noqa: NPY002
            seen, *_ = env.step(legal_actions(rng, seen["action_mask"], 0.5))
            found.append(seen["observation"].tobytes())
        return found

    assert trace(False) == trace(True)


# --- at the border -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(3),
        np.zeros(3, bool),
        np.zeros(2, int),
        np.array([0, 65, 0]),
        np.array([0, -1, 0]),
        None,
        [0, None, 0],
        [[0], [0, 1], 0],
        [0.0, 1.0, float("nan")],
    ],
    ids=str,
)
def test_what_are_no_actions_is_refused_and_changes_nothing(bad):
    env = native("ThirtyOne-v0", 3)
    env.reset(seed=1)
    before = env.unwrapped._core.tables.states.tobytes()
    with pytest.raises(ValueError, match="whole number"):
        env.step(bad)
    assert env.unwrapped._core.tables.states.tobytes() == before


def test_an_illegal_action_raises_and_changes_nothing_or_ends_that_row():
    env = native("ThirtyOne-v0", 3)
    seen, _ = env.reset(seed=1)
    kept = seen["observation"].tobytes()
    actions = np.argmax(seen["action_mask"], axis=1)
    actions[1] = np.flatnonzero(seen["action_mask"][1] == 0)[0]
    core = env.unwrapped._core
    before = core.tables.states.tobytes(), core.learners.tobytes()
    with pytest.raises(ValueError, match=rf"action {actions[1]} is illegal \(row 1, seat"):
        env.step(actions)
    assert (core.tables.states.tobytes(), core.learners.tobytes()) == before
    assert seen["observation"].tobytes() == kept
    assert env.unwrapped.action_masks()[0, actions[0]]
    env = native("ThirtyOne-v0", 3, illegal="terminate")
    env.reset(seed=1)
    _, rewards, terminated, _, infos = env.step(actions)
    assert rewards[1] == -1.0
    assert terminated.tolist() == [False, True, False]
    assert infos["illegal_action"][1] == actions[1]
    assert infos["_illegal_action"].tolist() == [False, True, False]


def test_calls_out_of_order_say_so():
    env = native(
        "ThirtyOne-v0", 2, "disabled", opponents="random", num_players=2, render_mode="ansi"
    )
    for call in (lambda: env.step(np.zeros(2, int)), env.unwrapped.action_masks, env.render):
        with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
            call()
    with pytest.raises(RuntimeError, match=r"call reset\(\) for all rows first"):
        env.reset(options={"reset_mask": np.array([True, False])})
    seen, _ = env.reset(seed=1)
    over = np.zeros(2, bool)
    while not over.any():
        seen, _, terminated, truncated, _ = env.step(np.argmax(seen["action_mask"], axis=1))
        over = terminated | truncated
    with pytest.raises(RuntimeError, match=r"rows \[\d.*\] are over; reset them"):
        env.step(np.zeros(2, int))


@pytest.mark.parametrize(
    "mask", [[True, False], np.array([1, 0]), np.zeros(2, bool), np.ones(3, bool), None]
)
def test_bad_reset_masks_are_refused(mask):
    env = native("ThirtyOne-v0", 2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"autoreset_mode": "never"}, "autoreset_mode = 'never' is not allowed; allowed: "),
        ({"copy": None}, "copy = None"),
        ({"max_episode_steps": 0}, "max_episode_steps = 0"),
        ({"threads": 0}, "threads = 0"),
        ({"num_envs": 0}, "num_envs = 0"),
        ({"num_envs": 2.0}, "num_envs = 2.0"),
        ({"render_mode": "human"}, "render_mode = 'human'"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        ThirtyOneVectorEnv(**options)


def test_bots_play_and_tables_are_shown():
    env = native("ThirtyOne-v0", 3, "same_step", render_mode="ansi")
    env.reset(seed=2)
    bot = make_bot("danish")
    for _ in range(50):
        env.step(env.unwrapped.bot_actions(bot))
    shown = env.render()
    assert len(shown) == 3
    assert all("stock" in text for text in shown)


@pytest.mark.parametrize("number", [0, -3, 1.5])
def test_seeds_are_checked(number):
    env = native("ThirtyOne-v0", 2)
    if number == 0:
        env.reset(seed=np.int64(5))
        first = env.unwrapped._core.tables.states.tobytes()
        env.reset(seed=[5, 6])
        assert env.unwrapped._core.tables.states.tobytes() == first
        env.reset(seed=np.array(5))
        assert env.unwrapped._core.tables.states.tobytes() == first
        with pytest.raises(ValueError, match="3 seeds for 2 rows"):
            env.reset(seed=[1, 2, 3])
    else:
        with pytest.raises(ValueError, match="seed = "):
            env.reset(seed=number)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_long_episodes_are_cut_as_by_gymnasium(mode):
    rng = generator("cut", mode)
    options: dict[str, Any] = {"num_players": 3, "max_episode_steps": 5}
    one, two = (
        native("ThirtyOne-v0", 6, mode, **options),
        of_singles("ThirtyOne-v0", 6, mode, **options),
    )
    assert compare(one, two, 60, rng, mode) >= 60


@pytest.mark.parametrize("flags", [{"copy": True}, {"copy": False}], ids=str)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=str)
def test_a_policy_that_raises_leaves_every_match_as_it_was(mode, flags):
    options: dict[str, Any] = {"num_players": 3, "episode": "round"}
    for at in (2, 5, 11, 23):
        faulty = Faulty("random", at, OSError("out of reach"))
        one = native("ThirtyOne-v0", 5, mode, opponents=(faulty, "random"), **options, **flags)
        two = native("ThirtyOne-v0", 5, mode, opponents=(Outside("random"), "random"), **options)
        try:
            one.reset(seed=3)
        except OSError:
            one.reset(seed=3)
        two.reset(seed=3)
        rng = generator("faults", at)
        for _ in range(40):
            masks = one.unwrapped.action_masks()
            actions = legal_actions(rng, masks, 0.5)
            try:
                results = one.step(actions)
            except OSError:
                assert (one.unwrapped.action_masks() == masks).all()
                results = one.step(actions)
            same(results, two.step(actions))
        assert faulty.asked > at


def test_final_infos_are_true_without_copies_too():
    """All rows end in the same step."""
    options: dict[str, Any] = {"num_players": 2, "episode": "round", "illegal": "terminate"}
    env = native("KnockTiming-v0", 1, "same_step", copy=False, **options)
    env.reset(seed=1)
    for _ in range(30):
        _, _, terminated, _, infos = env.step(np.array([1]))
        if terminated[0]:
            assert not infos["final_info"]["action_mask"].any()
            assert infos["action_mask"].any()
