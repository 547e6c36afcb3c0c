"""Whole episodes through every interface: their returns are the engine's payoffs.

Bots sit on all seats. The learner's bot decides through the interface, and the same match is played
by the same bots inside the kernel: its payoffs are what the episode must have returned. The slow
test plays 100,000 matches through each interface, over all presets, seats and rewards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest

import thirtyone_env
from tests.env.helpers import BOTS, generator, scaled
from thirtyone_env import PRESETS, make_bot, resolve_rules
from thirtyone_env.arena import Tables
from thirtyone_env.game import RESULT_KINDS

MODES = ("next_step", "same_step", "disabled")


class Table(NamedTuple):
    """One table at random."""

    rules: str
    bots: tuple[str, ...]
    """By place: the learner's, then the opponents' clockwise."""
    seat: int
    episode: str
    reward: str
    seed: int

    @property
    def options(self) -> dict[str, Any]:
        """For an environment with one learner."""
        return {
            "rules": self.rules,
            "num_players": len(self.bots),
            "opponents": self.bots[1:],
            "learner_seat": self.seat,
            "episode": self.episode,
            "reward": self.reward,
            "illegal": "raise",
            "observation_format": "compact",
        }


def tables_of(rng: np.random.Generator) -> Iterator[Table]:
    """A table of every preset, again and again."""
    while True:
        for preset in PRESETS:
            most = PRESETS[preset].max_players
            seats = int(rng.choice(sorted({2, min(4, most), most})))
            yield Table(
                preset,
                tuple(str(bot) for bot in rng.choice(BOTS, seats)),
                int(rng.integers(seats)),
                str(rng.choice(["match", "round"])),
                str(rng.choice(RESULT_KINDS)),
                int(rng.integers(1 << 40)),
            )


def engine_payoffs(table: Table, seeds: np.ndarray, matches: np.ndarray) -> np.ndarray:
    """float64[N, S]: what every seat is paid in these matches, played inside the kernel."""
    seats = len(table.bots)
    played = Tables(resolve_rules(table.rules), seats, seed=0, matches=matches)
    played.states["seed"] = seeds
    played.states["one_round"] = table.episode == "round"
    for after, bot in enumerate(table.bots):
        played.set_controllers(None, (table.seat + after) % seats, bot)
    everywhere = np.arange(len(matches))
    if table.reward == "equity":
        at_start = 1.0 / seats
    else:
        at_start = 0.0
    played.deal(everywhere, matches)
    played.play()
    return played.payoffs(table.reward)[:, :seats] - at_start


Returns = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Seeds, match indices and returns of episodes."""


def through_gymnasium(table: Table, matches: int) -> Returns:
    env = gymnasium.make("ThirtyOne-v0", **table.options).unwrapped
    bot, returns = make_bot(table.bots[0]), np.zeros(matches)
    for match in range(matches):
        env.reset(seed=table.seed if match == 0 else None)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(bot.act(env))
            returns[match] += reward
            over = terminated or truncated
    return np.full(matches, table.seed), np.arange(matches), returns


def through_a_vector(mode: str) -> Callable[[Table, int], Returns]:
    def play(table: Table, matches: int) -> Returns:
        rows = min(50, matches)
        env = gymnasium.make_vec(
            "ThirtyOne-v0",
            num_envs=rows,
            vectorization_mode="vector_entry_point",
            autoreset_mode=mode,
            **table.options,
        ).unwrapped
        env.reset(seed=table.seed)
        bot, results = make_bot(table.bots[0]), []
        running, numbers = np.zeros(rows), np.zeros(rows, np.int64)
        while len(results) < matches:
            _, rewards, terminated, truncated, _ = env.step(env.bot_actions(bot))
            running += rewards
            over = terminated | truncated
            for row in np.flatnonzero(over).tolist():
                results.append((table.seed + row, numbers[row], running[row]))
                running[row] = 0.0
                numbers[row] += 1
            if mode == "disabled" and over.any():
                env.reset(options={"reset_mask": over})
        seeds, indices, returns = (np.array(part) for part in zip(*results, strict=True))
        return seeds, indices, returns

    return play


def through_stable_baselines(table: Table, matches: int) -> Returns:
    from thirtyone_env.adapters.sb3 import ThirtyOneVecEnv

    rows = min(50, matches)
    env = ThirtyOneVecEnv(rows, seed=table.seed, **table.options)
    env.reset()
    bot, results = make_bot(table.bots[0]), []
    running, numbers = np.zeros(rows), np.zeros(rows, np.int64)
    while len(results) < matches:
        actions = env._core.bot_actions(bot, np.arange(rows))
        _, rewards, dones, _ = env.step(actions)
        running += rewards
        for row in np.flatnonzero(dones).tolist():
            results.append((table.seed + row, numbers[row], running[row]))
            running[row] = 0.0
            numbers[row] += 1
    seeds, indices, returns = (np.array(part) for part in zip(*results, strict=True))
    return seeds, indices, returns


def check_learner(play: Callable[[Table, int], Returns], table: Table, matches: int) -> int:
    seeds, indices, returns = play(table, matches)
    paid = engine_payoffs(table, seeds.astype(np.uint64), indices.astype(np.int64))
    np.testing.assert_allclose(returns, paid[:, table.seat], rtol=0, atol=1e-5)
    return len(returns)


def check_pettingzoo(table: Table, matches: int) -> int:
    seats = len(table.bots)
    env = thirtyone_env.env(
        rules=table.rules, num_players=seats, episode=table.episode, reward=table.reward
    )
    paid = engine_payoffs(table, np.full(matches, table.seed, np.uint64), np.arange(matches))
    bots = {
        f"player_{(table.seat + after) % seats}": make_bot(name)
        for after, name in enumerate(table.bots)
    }
    for match in range(matches):
        env.reset(seed=table.seed if match == 0 else None)
        returns = np.zeros(seats)
        for agent in env.agent_iter():
            _, reward, terminated, truncated, _ = env.last(observe=False)
            returns[int(agent[7:])] += reward
            env.step(None if terminated or truncated else bots[agent].act(env))
        np.testing.assert_allclose(returns, paid[match], rtol=0, atol=1e-9)
    return matches


INTERFACES: dict[str, Callable[[Table, int], int]] = {
    "pettingzoo": check_pettingzoo,
    "gymnasium": lambda table, matches: check_learner(through_gymnasium, table, matches),
    **{
        f"vector {mode}": lambda table, matches, mode=mode: check_learner(
            through_a_vector(mode), table, matches
        )
        for mode in MODES
    },
    "stable_baselines": lambda table, matches: check_learner(
        through_stable_baselines, table, matches
    ),
}


@pytest.mark.parametrize("interface", INTERFACES)
def test_returns_are_the_engines_payoffs(interface):
    rng = generator("payoffs", interface)
    tables = tables_of(rng)
    for _ in PRESETS:
        assert INTERFACES[interface](next(tables), 6) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("interface", INTERFACES)
def test_returns_of_a_hundred_thousand_matches_are_the_engines_payoffs(interface):
    rng = generator("many payoffs", interface)
    played, tables = 0, tables_of(rng)
    while played < scaled(100_000):
        played += INTERFACES[interface](next(tables), 200)
