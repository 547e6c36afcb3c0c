"""What is legal is known from the last step: the same as asking the states, whatever happens."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Literal

import numpy as np
import pytest

from tests.engine.house_rules import random_house_rules
from tests.env.helpers import content, generator
from tests.env.test_arena import mixed_tables
from tests.env.test_turns import BOTS, legal_actions
from thirtyone_env import Rules, arena
from thirtyone_env.actions import NUM_ACTIONS
from thirtyone_env.arena import Tables
from thirtyone_env.learner import DECIDES, TERMINATED, Learners
from thirtyone_env.state import Phase

DANISH = Rules.preset("danish")


def outcome(work: Callable[[], Any]) -> Any:
    """What a call returns, as bytes, or what it complains about."""
    try:
        found = work()
    except ValueError as fault:
        return str(fault)
    return None if found is None else [np.asarray(part).tobytes() for part in found]


class Pair:
    """Tables whose states nobody has had, and the same ones asked every time what is legal."""

    def __init__(self, key: str, threads: int) -> None:
        self.rng = generator("known", key, threads)
        twin = deepcopy(self.rng)
        self.known, self.asked = mixed_tables(self.rng, 24, threads), mixed_tables(twin, 24)
        assert self.asked.states.size == 24
        self.kept: dict[Any, tuple[np.ndarray, ...]] = {}
        self.every, self.before = np.arange(24), np.zeros((24, NUM_ACTIONS), np.int8)

    def both(self, name: str, *arguments: Any, **options: Any) -> None:
        """Do the same with both."""
        found = [
            outcome(lambda one=one: getattr(one, name)(*arguments, **options))
            for one in (self.known, self.asked)
        ]
        assert found[0] == found[1]

    def some(self) -> np.ndarray:
        """Some rows in any order."""
        return self.rng.permutation(24)[: self.rng.integers(1, 7)]

    def deal(self) -> None:
        """New matches, now and then by other rules."""
        rows, rng = self.some(), self.rng
        matches = rng.integers(0, 1 << 40, len(rows))
        if rng.random() < 0.5:
            self.both("deal", rows, matches)
            return
        lots = random.Random(int(rng.integers(1 << 60)))
        fresh = [random_house_rules(lots) for _ in rows]
        rules, seats = [one[0] for one in fresh], [one[1] for one in fresh]
        self.both("deal", rows, matches, num_players=seats, rules=rules)

    def step(self) -> None:
        """A step in any form, with any rows, now and then with an illegal action."""
        rng, rows = self.rng, self.rng.permutation(np.flatnonzero(self.asked.waiting >= 0))
        if len(rows) == 24 and rng.random() < 0.5:
            rows = None
        elif rng.random() < 0.7:
            rows = rows[: rng.integers(1, 5)]
        form = {"slots": bool(rng.random() < 0.2), "canonical": bool(rng.random() < 0.2)}
        sight: Literal["compact", "full"] = "compact" if rng.random() < 0.2 else "full"
        mask = self.asked.action_mask(rows, **form)
        actions, renew = legal_actions(mask, rng), bool(rng.random() < 0.8)
        if rng.random() < 0.1:
            actions[rng.integers(len(actions))] = rng.integers(-3, 70)
        elif rng.random() < 0.2:  # what was legal before
            actions = legal_actions(self.before[self.every if rows is None else rows], rng)
        outputs = [self.outputs(number, sight, len(mask), form["slots"]) for number in range(2)]
        found = [
            outcome(lambda one=one, out=out: one.step(actions, *out, rows, renew=renew, **form))
            for one, out in zip((self.known, self.asked), outputs, strict=True)
        ]
        assert found[0] == found[1]
        if not isinstance(found[0], str):
            seen, mask = outputs[0]
            fresh = self.asked.observe(sight, rows, canonical=form["canonical"])
            assert (seen[:, : fresh.shape[1]] == fresh).all()
            assert not seen[:, fresh.shape[1] :].any()
            assert (mask == self.asked.action_mask(rows, **form)).all()
            if not any(form.values()):
                self.before[self.every if rows is None else rows] = mask

    def outputs(self, number: int, sight: Any, size: int, slots: bool) -> tuple[np.ndarray, ...]:
        """Arrays to write to: those of an earlier step where there are any that are right."""
        tables = (self.known, self.asked)[number]
        seen, mask = tables.new_outputs(sight, size=size, slots=slots)
        key = (number, seen.shape, mask.shape)
        return self.kept.setdefault(key, (seen, mask))


@pytest.mark.parametrize("threads", [1, 2])
def test_known_actions_are_those_that_the_states_allow(threads, monkeypatch):
    doubtful: list[bool] = []
    find = arena.first_doubtful

    def found(*arguments: Any) -> int:
        place = find(*arguments)
        doubtful.append(place >= 0)
        return place

    monkeypatch.setattr(arena, "first_doubtful", found)
    pair = Pair("pairs", threads)
    rng = pair.rng
    for number in range(2_000):
        lot = rng.random()
        if lot < 0.8:
            pair.step()
        elif lot < 0.84:
            pair.deal()
        elif lot < 0.9:
            name = BOTS[rng.integers(2, len(BOTS))]
            pair.both("set_controllers", pair.some(), int(rng.integers(2)), name)
        elif lot < 0.95:
            for seat in range(2):
                pair.both("set_controllers", None, seat, "external")
        elif lot < 0.97:
            pair.both("play")
        else:
            rows = np.flatnonzero(pair.asked.waiting >= 0)
            pair.both("act", legal_actions(pair.asked.action_mask(rows), rng), rows)
        if number % 10 == 0:
            assert content(pair.known._states) == content(pair.asked.states)
    assert content(pair.known._states) == content(pair.asked.states)
    assert not pair.known._handed_out
    assert 200 < sum(doubtful) < len(doubtful) - 200


def stepped(size: int = 30) -> tuple[Tables, np.ndarray, np.ndarray]:
    """Tables after a step, with its outputs."""
    tables = Tables(DANISH, 4, seed=3, matches=np.arange(size))
    seen, mask = tables.new_outputs()
    tables.step(np.zeros(size, np.int64), seen, mask, renew=True)
    return tables, seen, mask


def test_states_are_not_asked_where_the_last_step_says_what_is_legal(monkeypatch):
    tables, seen, mask = stepped()
    expected, *outputs = stepped()
    actions = legal_actions(mask, generator("not asked"))
    expected.step(actions, *outputs)
    monkeypatch.setattr(arena, "resolve_actions", None)
    tables.step(actions, seen, mask)
    assert content(tables.states) == content(expected.states)
    with pytest.raises(TypeError):  # the states have been handed out: they are asked again
        tables.step(legal_actions(mask, generator("asked")), seen, mask)


def test_what_is_done_to_states_that_were_handed_out_counts():
    tables, seen, mask = stepped()
    states = tables.states
    rng = generator("handed out")
    for _ in range(3):
        tables.step(legal_actions(mask, rng), seen, mask, renew=True)
    states["phase"][7] = Phase.OVER
    with pytest.raises(ValueError, match="row 7: action"):
        tables.step(legal_actions(mask, rng), seen, mask)


def test_what_is_seen_of_fewer_seats_than_there_are_is_refused():
    tables, _, mask = stepped()
    rng, rows = generator("few"), np.arange(30)
    few = Tables(DANISH, 3, seed=3, matches=rows).new_outputs()[0]
    with pytest.raises(ValueError, match="seen: 3 seats; row 0 has 4"):
        tables.step(legal_actions(mask, rng), few, mask)
    tables.deal(rows, rows, num_players=3)
    tables.step(np.zeros(30, np.int64), few, mask)
    tables.deal([29], [7], num_players=9)
    tables.step(legal_actions(mask[:29], rng), few[:29], mask[:29], rows[:29])
    actions = np.append(legal_actions(mask[:29], rng), 0)
    with pytest.raises(ValueError, match="seen: 3 seats; row 29 has 9"):
        tables.step(actions, few, mask)


def test_a_copy_goes_on_by_itself():
    tables, seen, mask = stepped()
    other = deepcopy(tables)
    actions = legal_actions(mask, generator("copies"))
    tables.step(actions, seen, mask)
    with pytest.raises(ValueError, match="is not legal"):
        tables.step(np.full(30, 64), seen, mask)
    other.step(actions, seen, mask)
    assert content(tables.states) == content(other.states)


@pytest.mark.parametrize("form", ["card", "slot", "canonical", "knock"])
def test_a_learner_may_do_what_its_mask_says(form):
    options: dict[str, Any] = {
        "card": {},
        "slot": {"action_format": "slot"},
        "canonical": {"canonical_suits": True},
        "knock": {"draws": "greedy"},
    }[form]
    rng = generator("learners", form)
    core, rows = Learners(60, illegal="raise", **options), np.arange(60)
    seen, mask = core.new_outputs()
    core.deal(rows, np.uint64(9), rows, seen, mask)
    ended = 0
    for number in range(60):
        illegal = np.argwhere(mask == 0)
        if len(illegal):
            row, action = illegal[rng.integers(len(illegal))]
            if core.learners["status"][row] == DECIDES:
                actions = legal_actions(mask, rng)
                actions[row] = action
                with pytest.raises(ValueError, match=f"action {action} is illegal"):
                    core.step(rows, actions, seen, mask)
        core.step(rows, legal_actions(mask, rng), seen, mask)
        over = np.flatnonzero(core.learners["status"] >= TERMINATED)
        ended += len(over)
        core.deal(over, np.uint64(9), over + 60 * (number + 1), seen, mask)
    assert ended > 0
