"""Every result of the engine, the bots and the observations, as one digest a rule set.

The digests stand for results that are published: they change where behaviour changes (then with a
new environment version and a changelog line), never where the engine only becomes faster. Write
them anew with ``python -m tests.engine.test_digests``.
"""

import hashlib
import json
import random
from pathlib import Path

import numpy as np
import pytest

from tests.engine.house_rules import random_house_rules
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.policy import make_bot
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import ASK_ALL, STATE

FILE = Path(__file__).with_name("digests.json")
BOTS = ("random", "threshold:25", "danish", "swedish", "dutch", "never_knock")
MIXED = ("threshold:25", "random", "swedish", "danish", "dutch", "threshold_by_turn:21,25.5,28")
NAMES = (*PRESETS, *(f"house rules {number}" for number in range(8)))
ROWS, STEPS = 16, 90
INNER = ("deck", "top", "deck_end", "shuffled", "stream", "rules", "controllers")
"""Fields that say how the cards to come are kept; which cards come shows in all the others."""


def seats_of(rules: Rules) -> list[int]:
    """The least, a usual and the largest number of seats."""
    return sorted({2, 4, rules.max_players})


def put_states(digest, tables: Tables) -> None:
    """Everything in the states but how the deck is kept."""
    for name in STATE.names or ():
        if name not in INNER:
            digest.update(np.ascontiguousarray(tables.states[name]).tobytes())


def put_payoffs(digest, tables: Tables) -> None:
    """Payoffs of every kind; equity comes from a library's nodes and is rounded."""
    digest.update(tables.payoffs("match").tobytes())
    digest.update(tables.payoffs("lives").tobytes())
    digest.update(np.rint(tables.payoffs("equity") * 1e6).astype(np.int64).tobytes())


def put_sight(digest, tables: Tables, rows, canonical: bool, slots: bool) -> np.ndarray:
    """What the seats to act see; their masks."""
    digest.update(tables.observe("full", rows, canonical=canonical).tobytes())
    digest.update(tables.observe("compact", rows).tobytes())
    mask = tables.action_mask(rows, slots=slots, canonical=canonical)
    digest.update(mask.tobytes())
    return mask


def choose(tables: Tables, rows, mask, step: int, **options: bool) -> np.ndarray:
    """Actions of a bot, or a legal one by a fixed sequence of numbers."""
    if step % 3:
        name = BOTS[step // 3 % len(BOTS)]
        return make_bot(name).act_batch(tables, rows, **options)
    lots = (np.arange(len(rows)) * 2654435761 + step * 40503) >> 7
    nth = lots % mask.sum(axis=1)
    return np.argmax(np.cumsum(mask, axis=1) > nth[:, None], axis=1)


def put_decisions(digest, rules: Rules, seats: int) -> None:
    """Decisions of all seats from outside: sights, actions, states, payoffs."""
    tables = Tables(rules, seats, seed=31, matches=np.arange(ROWS))
    tables.set_controllers(np.arange(2), 0, "swedish")
    tables.set_controllers(np.arange(2, 4), 1, "knock")
    tables.play()
    for step in range(STEPS):
        rows = np.flatnonzero(~tables.over)
        canonical, slots = step % 4 < 2, step % 5 == 0
        mask = put_sight(digest, tables, rows, canonical, slots)
        asked = tables.states["controllers"]["ask"][rows, tables.waiting[rows]] == ASK_ALL
        actions = np.zeros(len(rows), np.int64)
        actions[~asked] = step % 2
        actions[asked] = choose(
            tables, rows[asked], mask[asked], step, canonical=canonical, slots=slots
        )
        digest.update(actions.tobytes())
        tables.act(actions, rows, canonical=canonical, slots=slots)
        put_states(digest, tables)
        done = np.flatnonzero(tables.over)
        if len(done) or step % 16 == 0:
            put_payoffs(digest, tables)
        if len(done):
            tables.deal(done, tables.states["match"][done] + 1000)
            tables.play(done)


def put_matches(digest, rules: Rules, seats: int) -> None:
    """Whole matches of bots: payoffs, and the states at their ends."""
    tables = Tables(rules, seats, seed=9, matches=np.arange(3 * len(MIXED)))
    for seat in range(seats):
        for shift in range(len(MIXED)):
            rows = np.arange(3) * len(MIXED) + shift
            tables.set_controllers(rows, seat, MIXED[(seat + shift) % len(MIXED)])
    tables.play()
    put_states(digest, tables)
    bots = [MIXED[seat % len(MIXED)] for seat in range(seats)]
    digest.update(play_matches(rules, bots, seed=3, matches=np.arange(40)).tobytes())


def games_of(name: str) -> list[tuple[Rules, int]]:
    """The rules that a name of the file stands for, with numbers of seats."""
    if name in PRESETS:
        rules = Rules.preset(name)
        return [(rules, seats) for seats in seats_of(rules)]
    rng = random.Random(name)
    return [random_house_rules(rng) for _ in range(8)]


def digest_of(name: str) -> str:
    """The digest of a preset, or of some house rules."""
    digest = hashlib.sha256()
    for rules, seats in games_of(name):
        put_decisions(digest, rules, seats)
        put_matches(digest, rules, seats)
    return digest.hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_published(name):
    assert digest_of(name) == json.loads(FILE.read_text())[name]


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: digest_of(name) for name in NAMES}, indent=1) + "\n")
