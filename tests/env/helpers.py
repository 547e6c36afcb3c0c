"""What the tests of the environment share: seeds, play, decks in card notation, chance."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import thirtyone_env
from tests.independent import checker
from thirtyone_env import PRESETS, Rules, game
from thirtyone_env.cards import NAMES, cards_of
from thirtyone_env.record import check

SEED = int(os.environ.get("THIRTYONE_TEST_SEED") or random.SystemRandom().randrange(1 << 30))
"""What all random tests derive from; each prints it, THIRTYONE_TEST_SEED repeats it."""
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # windows open, but not on anybody's screen
SCALE = float(os.environ.get("THIRTYONE_TEST_SCALE", "1"))
"""Factor on the sizes of the slow tests."""

BOTS = (
    "random",
    "never_knock",
    "threshold:25",
    "threshold_by_turn:21,25.5,28",
    "danish",
    "dutch",
    "swedish",
    "lookahead:4",
    "counter",
)
"""Every kind of bot."""
PASS, DRAW, UPCARD, KNOCK = 3, 0, 1, 2
EVERY_TABLE = [(name, seats) for name in PRESETS for seats in (2, PRESETS[name].max_players)]
"""Every preset with its fewest and its most seats."""

Chooser = Callable[[Any, dict[str, np.ndarray]], int]


def scaled(size: int) -> int:
    """The size of a slow test."""
    return max(1, round(size * SCALE))


def generator(*key: object) -> np.random.Generator:
    """A random generator of its own for a test; the output names the seed."""
    sys.stdout.write(f"THIRTYONE_TEST_SEED={SEED}\n")
    return np.random.default_rng([SEED, *" ".join(map(str, key)).encode()])


# --- play ---------------------------------------------------------------------------------------


def at_random(rng: np.random.Generator) -> Chooser:
    """Any legal action."""
    return lambda env, seen: int(rng.choice(np.flatnonzero(seen["action_mask"])))


def unhurried(rng: np.random.Generator) -> Chooser:
    """Any legal action, but seldom a knock, so that rounds grow long."""

    def choose(env: Any, seen: dict[str, np.ndarray]) -> int:
        legal = np.flatnonzero(seen["action_mask"])
        if len(legal) > 1 and rng.random() < 0.95:
            legal = legal[legal != KNOCK]
        return int(rng.choice(legal))

    return choose


def by_bots(names: list[str]) -> Chooser:
    """The bot of each seat."""
    bots = [thirtyone_env.make_bot(name) for name in names]
    return lambda env, seen: bots[env.possible_agents.index(env.agent_selection)].act(env)


def some_player(rng: np.random.Generator, seats: int) -> Chooser:
    """Random play, slow random play, or bots by lot."""
    kind = rng.integers(3)
    if kind < 2:
        return (at_random, unhurried)[kind](rng)
    return by_bots([str(name) for name in rng.choice(BOTS, seats)])


def turns(env: Any, choose: Chooser) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Play on to the end; every agent with what `last` said, before its action is taken."""
    for agent in env.agent_iter():
        seen = env.last()
        yield agent, seen
        env.step(None if seen[2] or seen[3] else choose(env, seen[0]))


def play(env: Any, choose: Chooser) -> dict[str, float]:
    """Play to the end; the sum of the rewards that `last` showed to each agent."""
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for agent, (_, reward, *_) in turns(env, choose):
        totals[agent] += reward
    return totals


def play_some(env: Any, choose: Chooser, steps: int) -> None:
    """Play some steps, fewer where the match ends before."""
    for step, _ in enumerate(turns(env, choose), 1):
        if step > steps:
            return


def content(states: np.ndarray) -> bytes:
    """The bytes of all fields; what lies between them as padding is nobody's."""
    if states.dtype.names is None:
        return states.tobytes()
    return b"".join(content(states[name]) for name in states.dtype.names)


def snapshot(env: Any) -> tuple[Any, ...]:
    """Everything of an environment that a refused action or reset must leave alone."""
    fields = ("agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations")
    return (
        content(env._states),
        *(repr(getattr(env, name)) for name in (*fields, "truncations", "infos", "_actions")),
        env._seed,
        env._match,
    )


def same_seen(one: Any, other: Any) -> bool:
    """Whether two observations, or two tuples of `last`, are equal to the byte."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_seen(one[k], other[k]) for k in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same_seen, one, other))
    return bool(one == other)


def losses_by_round(record: dict[str, Any]) -> np.ndarray:
    """Sum over the rounds of what the others in play lost on average, minus the own loss."""
    total = np.zeros(record["num_players"])
    for row in record["rounds"]:
        if row["losses"] is not None:
            losses = np.array(row["losses"], float)
            seats = row["in_play"]
            total[seats] += (losses.sum() - losses[seats]) / (len(seats) - 1) - losses[seats]
    return total


def whole_episode(env: Any, choose: Chooser, seed: int) -> None:
    """Play an episode, checking rewards and ends against the engine and the record."""
    env.reset(seed=seed)
    before = game.payoffs(game.prepare(env.rules, env.num_players), env.reward)
    totals, finished = dict.fromkeys(env.possible_agents, 0.0), []
    for agent, (_, reward, terminated, truncated, _) in turns(env, choose):
        totals[agent] += reward
        if terminated or truncated:
            finished.append(agent)
    assert env.agents == []
    assert sorted(finished) == env.possible_agents
    sums = np.array(list(totals.values()))
    after = game.payoffs(env._states, env.reward)
    np.testing.assert_allclose(sums, after - before, atol=1e-12)
    assert abs(sums.sum()) < 1e-9
    record = env.record()
    checker.check_match(record)
    if len(env._actions) < 1000:
        check(record)
    if env.reward == "lives":
        np.testing.assert_allclose(sums, losses_by_round(record), atol=1e-12)
    if env.reward == "match" and record["returns"] is not None and env.episode == "match":
        np.testing.assert_allclose(sums, record["returns"], atol=1e-6)


# --- cards --------------------------------------------------------------------------------------


def deal(hands: list[str], dealer: int, then: str = "") -> str:
    """A deck, in dealing order, that gives every seat its hand; `then` follows."""
    seats = len(hands)
    held = [hand.split() for hand in hands]
    order = [(dealer + 1 + step) % seats for step in range(seats)]
    dealt = [held[seat][place] for place in range(len(held[0])) for seat in order]
    return " ".join([*dealt, then])


def whole_deck(rules: Rules) -> list[int]:
    """All cards of the deck in use."""
    plain = [13 * suit + rank for suit in range(4) for rank in range(rules.low_rank - 2, 13)]
    return plain + [52 + joker for joker in range(rules.jokers)]


def shuffled_deck(rules: Rules, rng: np.random.Generator) -> list[str]:
    """A whole deck in random order."""
    return [NAMES[card] for card in rng.permutation(whole_deck(rules))]


def stock_of(states: np.ndarray) -> list[int]:
    """The cards in the stock, as they lie (not all of them settled)."""
    return states["deck"][0, int(states["top"][0]) : int(states["deck_end"][0])].tolist()


def cards_on_table(states: np.ndarray) -> list[int]:
    """Every card wherever it lies."""
    sets = [*states["hands"][0], states["table"][0], states["pile"][0]]
    upcard = int(states["upcard"][0])
    return (
        [card for cards in sets for card in cards_of(int(cards))]
        + stock_of(states)
        + ([upcard] if upcard >= 0 else [])
    )


# --- chance -------------------------------------------------------------------------------------


def deviation(counts: np.ndarray, chances: np.ndarray) -> float:
    """How far counts are from what chances let expect, in standard deviations (chi-square).

    Wilson and Hilferty's cube root makes chi-square normal; cells without a chance must be empty.
    """
    counts, chances = np.asarray(counts, float), np.asarray(chances, float)
    if counts[chances == 0].any():
        return float("inf")
    counts, chances = counts[chances > 0], chances[chances > 0]
    expected = chances / chances.sum() * counts.sum()
    freedom = len(counts) - 1
    if freedom == 0:
        return 0.0
    spread = 2 / (9 * freedom)
    ratio = float(((counts - expected) ** 2 / expected).sum()) / freedom
    return float((np.cbrt(ratio) - (1 - spread)) / np.sqrt(spread))
