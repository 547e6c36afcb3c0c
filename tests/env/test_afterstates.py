"""Values of afterstates are those of hands that the independent checker values, in every place."""

import random

import numpy as np

from tests.engine.house_rules import random_house_rules
from tests.engine.situations import fresh_seed
from tests.independent.checker import Hands
from thirtyone_env.actions import FIRST_CARD, NUM_SLOT_ACTIONS, NUM_SLOTS, SWAP_ALL
from thirtyone_env.arena import Tables, afterstate_rows, mask_rows
from thirtyone_env.cards import cards_of, names_of, set_of
from thirtyone_env.observation import AFTERSTATES, NUM_VALUES
from thirtyone_env.state import Phase


def afterstates(tables, rows, canonical):
    """The value in half points in each place, −1 for none."""
    found = np.empty((len(rows), AFTERSTATES), np.int16)
    afterstate_rows(tables.states, rows, canonical, 7, found)
    places = np.arange(AFTERSTATES) * NUM_VALUES + 7
    return np.where(found < 0, -1, found - places)


def expected(state, mask, rules):
    """The same by the cards and the checker, for suits that keep their names."""

    def value(cards):
        return Hands(rules, [names_of(cards)]).value(0)

    seat, phase, found = state["seat"], state["phase"], [-1] * AFTERSTATES
    hand, table = int(state["hands"][seat]), int(state["table"])
    shown = table if phase == Phase.TAKE else hand
    for slot in np.flatnonzero(mask[FIRST_CARD:]).tolist():
        bit = set_of(cards_of(shown)[slot : slot + 1])
        if phase == Phase.DISCARD:
            found[slot] = value(hand ^ bit)
        elif phase == Phase.TAKE:
            found[slot] = value(hand | bit)
        else:
            found[slot] = max(value(hand ^ bit | set_of([card])) for card in cards_of(table))
    if mask[SWAP_ALL]:
        found[NUM_SLOTS] = value(table)
    return found


def test_values_of_afterstates():
    seed = fresh_seed()
    rng, phases = random.Random(seed), set()
    for match in range(60):
        rules, players = random_house_rules(rng)
        tables = Tables(rules, players, seed=seed + match, matches=range(8))
        rows = np.arange(8)
        for _ in range(25):
            live = rows[tables.states["phase"] < Phase.JUDGE]
            if not live.size:
                break
            mask = np.zeros((len(live), NUM_SLOT_ACTIONS), np.int8)
            mask_rows(tables.states, live, mask, False, True, 0, len(live))
            found = afterstates(tables, live, False)
            renamed = afterstates(tables, live, True)
            for place, row in enumerate(live.tolist()):
                state = tables.states[row]
                assert found[place].tolist() == expected(state, mask[place], rules.to_dict())
                assert sorted(found[place, :NUM_SLOTS]) == sorted(renamed[place, :NUM_SLOTS])
                assert found[place, NUM_SLOTS] == renamed[place, NUM_SLOTS]
                phases.add(int(state["phase"]))
            actions = [rng.choice(np.flatnonzero(row).tolist()) for row in mask]
            tables.act(np.array(actions), live, slots=True)
    assert {Phase.TURN, Phase.DISCARD, Phase.TAKE} <= phases
