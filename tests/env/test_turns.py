"""`Tables.step`: everything of a step at once is what its parts are one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.env.helpers import content, generator
from tests.env.test_arena import mixed_tables
from thirtyone_env import Rules
from thirtyone_env.arena import Tables
from thirtyone_env.rules import MAX_SEATS
from thirtyone_env.state import NOBODY

DANISH = Rules.preset("danish")
BOTS = ("external", "external", "knock", "threshold:25", "random", "swedish", "knock:swedish")


def twin(tables: Tables) -> Tables:
    """Tables in the same states."""
    other = Tables(DANISH, 2, seed=0, matches=np.zeros(tables.size, np.int64), deal=False)
    other.states[:] = tables.states
    return other


def seat_bots(tables: Tables, rng: np.random.Generator) -> None:
    """Somebody at every seat, the first one of each row from outside."""
    for seat in range(1, MAX_SEATS):
        for name in BOTS:
            rows = np.flatnonzero(rng.integers(0, len(BOTS), tables.size) == BOTS.index(name))
            tables.set_controllers(rows, seat, name)
    tables.play()


def renew(tables: Tables, rows: np.ndarray) -> None:
    """Deal the next match in some rows until a decision comes from outside."""
    while (over := rows[tables.over[rows]]).size:
        tables.deal(over, tables.states["match"][over] + tables.size)
        tables.play(over)


def legal_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One action a row, legal where there is any."""
    return (rng.random(mask.shape) * mask).argmax(axis=1)


@pytest.mark.parametrize("format", ["full", "compact"])
@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_step_is_what_its_parts_are(format, slots, canonical, threads):
    rng = generator("turns", format, slots, canonical, threads)
    tables = mixed_tables(rng, 30, threads)
    seat_bots(tables, rng)
    form: dict[str, Any] = {"slots": slots, "canonical": canonical}
    seen, mask = tables.new_outputs(format, slots=slots)
    payoffs = np.full((tables.size, MAX_SEATS), 7.0)
    other = twin(tables)
    renew(tables, np.arange(tables.size))
    renew(other, np.arange(tables.size))
    for number in range(60):
        rows = np.flatnonzero(rng.random(tables.size) < 0.7) if number % 3 else None
        some = np.arange(tables.size) if rows is None else rng.permutation(rows)
        actions = legal_actions(other.action_mask(some, **form), rng)
        old = payoffs.copy()
        outputs = seen[: len(some)], mask[: len(some)]
        turn = tables.step(
            actions,
            *outputs,
            rows if rows is None else some,
            renew=True,
            payoffs=payoffs[: len(some)],
            **form,
        )
        other.act(actions, some, **form)
        over = other.over[some]
        paid = np.where(over[:, None], other.payoffs("match", some), old[: len(some)])
        renew(other, some)
        assert (turn.over == over).all()
        assert (payoffs[: len(some)] == paid).all()
        assert (turn.seats == other.waiting[some]).all()
        assert content(tables.states) == content(other.states)
        assert (outputs[0] == other.observe(format, some, canonical=canonical)).all()
        assert (outputs[1] == other.action_mask(some, **form)).all()


def test_without_renewal_a_match_stays_over():
    tables, rng = Tables(DANISH, 3, seed=4, matches=np.arange(20)), generator("over")
    tables.set_controllers(None, [1], "threshold:25")
    tables.play()
    seen, mask = tables.new_outputs()
    tables.action_mask(out=mask)
    ended = np.zeros(tables.size, bool)
    while not ended.all():
        rows = np.flatnonzero(~ended)
        part = seen[: len(rows)], mask[: len(rows)]
        turn = tables.step(legal_actions(tables.action_mask(rows), rng), *part, rows)
        assert (turn.over == tables.over[rows]).all()
        assert (turn.seats == tables.waiting[rows]).all()
        assert not part[1][turn.over].any()
        ended[rows] = turn.over
    assert (tables.waiting == NOBODY).all()


def test_a_row_that_nobody_outside_plays_any_more_is_left_over():
    tables = Tables(DANISH, 2, seed=4, matches=np.arange(2))
    seen, mask = tables.new_outputs()
    tables.set_controllers([0], [0, 1], "threshold:25")
    turn = tables.step(np.zeros(2, int), seen, mask, renew=True)
    assert turn.over.tolist() == [True, False]
    assert tables.over.tolist() == [True, False]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_illegal_action_changes_nothing(threads):
    tables = Tables(DANISH, 4, seed=1, matches=np.arange(50), threads=threads)
    seen, mask = tables.new_outputs()
    seen[:], mask[:] = 5, 5
    payoffs = np.full((50, MAX_SEATS), 5.0)
    before = content(tables.states)
    for bad in (4, 9, 65, -1, -2, -3, 1 << 40):
        actions = np.zeros(50, np.int64)
        actions[37] = bad
        with pytest.raises(ValueError, match="row 37: action"):
            tables.step(actions, seen, mask, renew=True, payoffs=payoffs)
        assert content(tables.states) == before
        assert (seen == 5).all()
        assert (mask == 5).all()
        assert (payoffs == 5).all()


def test_a_mask_that_was_tampered_with_makes_nothing_legal():
    tables = Tables(DANISH, 4, seed=1, matches=np.arange(5))
    seen, mask = tables.new_outputs()
    mask[:] = 1
    with pytest.raises(ValueError, match="is not legal"):
        tables.step(np.full(5, 9 + 51), seen, mask)


def test_outputs_must_suit():
    tables = Tables(DANISH, [2, 4, 3], seed=1, matches=np.arange(3))
    seen, mask = tables.new_outputs()
    fewer = Tables(DANISH, 3, seed=1, matches=np.arange(3)).new_outputs()[0]
    more = Tables(DANISH, 9, seed=1, matches=np.arange(3)).new_outputs()[0]
    actions, before = np.zeros(3, int), content(tables.states)
    for wrong in (fewer, seen[:2], seen[:, :-1], seen.astype(np.int8), np.asfortranarray(seen)):
        with pytest.raises(ValueError, match=r"seen|out:"):
            tables.step(actions, wrong, mask)
    for wrong in (mask[:2], mask[:, :14], mask.astype(bool)):
        with pytest.raises(ValueError, match="out:"):
            tables.step(actions, seen, wrong)
    with pytest.raises(ValueError, match="out:"):
        tables.step(actions, seen, mask, payoffs=np.zeros((3, 4)))
    with pytest.raises(ValueError, match="actions:"):
        tables.step(actions[:2], seen, mask)
    with pytest.raises(ValueError, match="observation format"):
        tables.new_outputs("bytes")  # type: ignore[arg-type]
    assert content(tables.states) == before
    tables.step(actions, more, mask)
    assert (more[:, : seen.shape[1]] == tables.observe("full")).all()
    assert not more[:, seen.shape[1] :].any()


def test_tables_that_are_not_dealt_cannot_be_played():
    tables = Tables(DANISH, 4, seed=1, matches=np.arange(3), deal=False)
    with pytest.raises(ValueError, match="is not legal"):
        tables.act(np.zeros(3, int))
    tables.deal(np.arange(3), np.arange(3))
    dealt = Tables(DANISH, 4, seed=1, matches=np.arange(3))
    assert content(tables.states) == content(dealt.states)
