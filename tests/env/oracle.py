"""What a learner must see and be paid, by the PettingZoo environment: an oracle for all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import thirtyone_env
from thirtyone_env import make_bot
from thirtyone_env.state import Phase

KNOCK, PASS = 2, 3


@dataclass
class Moment:
    """One moment of a learner: its decision, or the end of its part."""

    seen: np.ndarray
    mask: np.ndarray
    """bool[A]; none at the end."""
    reward: float
    """Since its decision before."""
    terminated: bool = False
    truncated: bool = False


Chooser = Callable[[Moment], int]


def play(
    env: Any, opponents: list[str], seat: int, choose: Chooser, knock_only: bool = False
) -> Iterator[Moment]:
    """Play the match that was just reset; yield the learner's moments.

    Args:
        env: a PettingZoo environment of this package.
        opponents: bots clockwise after the learner.
        seat: the learner's.
        choose: its action at a moment.
        knock_only: its draws and discards are the greedy rule's; mask and choice are of 2.
    """
    me, seats = f"player_{seat}", env.num_players
    bots = {
        f"player_{(seat + after) % seats}": make_bot(name)
        for after, name in enumerate(opponents, 1)
    }
    rule = make_bot("never_knock")
    paid, begun = 0.0, False
    while me in env.agents and not (env.terminations[me] or env.truncations[me]):
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            env.step(None)
            continue
        if env._settled_by_deal:
            action = PASS
        elif agent != me:
            action = bots[agent].act(env)
        else:
            seen = env.observe(me)
            mask = seen["action_mask"] == 1
            asked = not knock_only or (mask[KNOCK] and env._states["phase"][0] == Phase.TURN)
            if not asked:
                action = rule.act(env)
            else:
                moment = Moment(seen["observation"], np.ones(2, bool) if knock_only else mask, paid)
                paid, begun = 0.0, True
                yield moment
                action = choose(moment)
                if knock_only:
                    action = KNOCK if action == 1 else rule.act(env)
        env.step(action)
        paid += env.rewards[me]
    if not begun:
        only = np.ones(2, bool)
        if not knock_only:
            only = np.arange(env.action_space(me).n) == PASS
        yield Moment(env.observe(me)["observation"], only, 0.0)
    seen = env.observe(me)["observation"]
    nothing = np.zeros(2 if knock_only else env.action_space(me).n, bool)
    yield Moment(seen, nothing, paid, env.terminations[me], env.truncations[me])


def learner_seat(wanted: Any, seed: int, match: int, seats: int) -> int:
    """The documented rule for the seat of a match; by lot it is any."""
    return (seed + match) % seats if wanted == "rotate" else wanted


def random_table(rng: np.random.Generator, preset: str) -> dict[str, Any]:
    """Rules, seats and options of one table at random."""
    most = thirtyone_env.PRESETS[preset].max_players
    seats = int(rng.choice(sorted({2, min(4, most), most})))
    episode = str(rng.choice(["match", "round"]))
    return {
        "rules": preset,
        "num_players": seats,
        "episode": episode,
        "reward": [None, "match", "lives", "equity"][rng.integers(4)],
        "observation_format": str(rng.choice(["full", "compact"])),
        "action_format": str(rng.choice(["card", "slot"])),
        "canonical_suits": bool(rng.integers(2)),
    }
