"""Write what matches look like, for comparisons between processes.

python -m tests.engine.played records NUMBER        a record a line, over all presets
python -m tests.engine.played observations NUMBER   digests of all observations and masks
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator

import numpy as np

from tests.engine.house_rules import random_house_rules
from thirtyone_env.actions import NUM_ACTIONS, NUM_SLOT_ACTIONS
from thirtyone_env.game import DEAL, look, look_compact, prepare, step_states
from thirtyone_env.observation import COMPACT_SIZE, observation_size
from thirtyone_env.policy import make_bot
from thirtyone_env.record import dump, play_match
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import Phase

BOTS = (
    "random",
    "threshold:25",
    "danish",
    "swedish",
    "dutch",
    "threshold_by_turn:21,25.5,28",
    "lookahead:4",
    "counter",
    "lookahead:2,feed=1,high=0.5,knock=24/27",
)


def match_of(number: int) -> tuple[Rules, list[str]]:
    """Rules and bots of a match: the presets in turn, every fourth time house rules."""
    rng = random.Random(number)
    if number % 4 == 3:
        rules, seats = random_house_rules(rng)
    else:
        rules = list(PRESETS.values())[number * 7 % len(PRESETS)]
        seats = rng.choice((2, 3, min(5, rules.max_players)))
    return rules, [rng.choice(BOTS) for _ in range(seats)]


def records(number: int) -> Iterator[str]:
    """The records of so many matches."""
    for index in range(number):
        rules, bots = match_of(index)
        yield dump(play_match(rules, bots, seed=7, deal=index))


def _sight(states: np.ndarray, canonical: bool, slots: bool) -> bytes:
    """Everything that the seat to act sees, in one of the formats."""
    seat, seats = int(states["seat"][0]), int(states["num_players"][0])
    full = np.zeros((1, observation_size(seats)), np.uint8)
    mask = np.zeros((1, NUM_SLOT_ACTIONS if slots else NUM_ACTIONS), np.int8)
    compact = np.zeros((1, COMPACT_SIZE), np.float32)
    look(states, seat, full, mask, canonical, slots)
    look_compact(states, seat, compact)
    return full.tobytes() + mask.tobytes() + compact.tobytes()


def observations(number: int) -> Iterator[str]:
    """A digest of every observation of every match, the formats in turn."""
    for index in range(number):
        rules, bots = match_of(index)
        states = prepare(rules, len(bots), seed=7, match=index)
        players = [make_bot(name) for name in bots]
        digest, decisions = hashlib.sha256(), 0
        step_states(states, DEAL)
        while states["phase"][0] != Phase.OVER:
            digest.update(_sight(states, decisions % 2 == 0, decisions % 3 == 0))
            player = players[int(states["seat"][0])]
            step_states(states, int(player.choose(states, np.array([0]))[0]))
            decisions += 1
        yield f"{rules.preset_name} {bots} {decisions} {digest.hexdigest()}"


def main(kind: str, number: str) -> None:
    """Write the lines."""
    for line in {"records": records, "observations": observations}[kind](int(number)):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
