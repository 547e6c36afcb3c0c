"""Many matches side by side: rows are single matches, and nothing else touches them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.engine.house_rules import random_house_rules
from tests.env.helpers import BOTS, KNOCK, content, generator
from thirtyone_env import PRESETS, Rules, game, make_bot
from thirtyone_env.arena import Tables, controller, play_matches
from thirtyone_env.observation import observation_size
from thirtyone_env.state import Phase


@pytest.fixture(autouse=True)
def few_are_spread(monkeypatch):
    """So few rows and matches are spread over threads, too."""
    monkeypatch.setattr("thirtyone_env.threads.LEAST_ROWS", 1)
    monkeypatch.setattr("thirtyone_env.arena.LEAST_MATCHES", 1)


def random_actions(tables: Tables, rng: np.random.Generator, **form: bool) -> np.ndarray:
    """A legal action for every row that waits."""
    masks = tables.action_mask(tables.waiting >= 0, **form)
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def mixed_tables(rng: np.random.Generator, size: int, threads: int = 1) -> Tables:
    """Tables with other rules and seats in every row."""
    names = random.Random(int(rng.integers(1 << 60)))
    rows = [random_house_rules(names) for _ in range(size)]
    rules, seats = [row[0] for row in rows], [row[1] for row in rows]
    return Tables(rules, seats, seed=5, matches=rng.integers(0, 1 << 40, size), threads=threads)


# --- rows are single matches --------------------------------------------------------------------


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_is_a_single_match(slots, canonical, threads):
    rng = generator("rows", slots, canonical, threads)
    tables = mixed_tables(rng, 12, threads)
    form = {"slots": slots, "canonical": canonical}
    singles = [tables.states[row : row + 1].copy() for row in range(tables.size)]
    for states in singles:
        begun = states.copy()
        game.prepare_states(begun, -1)
        game.step_states(begun, game.DEAL)
        assert content(begun) == content(states)
    for _ in range(100):
        waiting = np.flatnonzero(tables.waiting >= 0)
        if not len(waiting):
            break
        full, compact = tables.observe("full", canonical=canonical), tables.observe()
        values, masks = tables.waiting_value, tables.action_mask(**form)
        actions = random_actions(tables, rng, **form)
        for action, row in zip(actions.tolist(), waiting.tolist(), strict=True):
            states = singles[row]
            seat, size = int(states["seat"][0]), observation_size(int(states["num_players"][0]))
            mask = np.zeros((1, masks.shape[1]), np.int8)
            alone = np.zeros((1, size), np.uint8)
            game.look(states, seat, alone, mask, canonical, slots)
            assert (masks[row] == mask[0]).all()
            assert (full[row, :size] == alone[0]).all()
            assert not full[row, size:].any()
            assert (compact[row] == game.observe(states, seat, "compact")).all()
            assert tables.waiting[row] == seat
            hand = int(states["hands"][0, seat])
            if hand.bit_count() == states["rules"]["hand_size"][0]:
                assert values[row] == game.value_of(states, hand)
            game.step(states, game.translate(states, action, canonical, slots))
        tables.act(actions, waiting, **form)
        assert content(tables.states) == content(np.concatenate(singles))
    for kind in ("match", "lives", "equity"):
        for states, payoffs in zip(singles, tables.payoffs(kind), strict=True):
            seats = int(states["num_players"][0])
            assert (payoffs[:seats] == game.payoffs(states, kind)).all()


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_decides_alike_in_a_batch_and_alone(name):
    rng = generator("batch", name)
    tables = mixed_tables(rng, 40)
    bot = make_bot(name)
    for _ in range(60):
        waiting = np.flatnonzero(tables.waiting >= 0)
        if not len(waiting):
            break
        before = tables.states.copy()
        together = bot.act_batch(tables, waiting)
        if name != "random":
            assert content(tables.states) == content(before)
        alone = [bot.choose(before[row : row + 1], np.zeros(1, np.int64))[0] for row in waiting]
        assert together.tolist() == alone
        tables.act(together, waiting)


@pytest.mark.parametrize("rules", ["danish", "schwimmen_a7", "dutch_buy_in", "finnish"])
def test_threads_do_not_matter(rules):
    bots = ["random", "dutch", "threshold:25"]
    matches = np.arange(50, 250)
    results = []
    for threads in (1, 2, 3, 300):
        payoffs = play_matches(PRESETS[rules], bots, seed=3, matches=matches, threads=threads)
        tables = Tables(PRESETS[rules], 3, seed=3, matches=matches, threads=threads)
        for seat, name in enumerate(bots):
            tables.set_controllers(None, seat, name)
        tables.play()
        assert tables.over.all()
        assert (tables.payoffs()[:, :3] == payoffs).all()
        results.append((payoffs.tobytes(), content(tables.states)))
    assert len(set(results)) == 1
    assert np.abs(payoffs.sum(axis=1)).max() < 1e-12
    shuffled = generator("threads", rules).permutation(len(matches))
    again = play_matches(PRESETS[rules], bots, seed=3, matches=matches[shuffled])
    assert (again == payoffs[shuffled]).all()


def test_rows_of_one_index_are_dealt_the_same():
    tables = Tables(PRESETS["danish"], 4, seed=3, matches=[7, 8, 7])
    assert content(tables.states[0]) == content(tables.states[2]) != content(tables.states[1])


@pytest.mark.parametrize("rules", ["danish", "dutch", "swedish_house", "schwimmen_a7", "widow"])
def test_to_knock_by_a_threshold_from_outside_is_the_threshold_bot(rules):
    matches = np.arange(60)
    tables = Tables(PRESETS[rules], 3, seed=1, matches=matches)
    tables.set_controllers(None, 0, "knock")
    tables.set_controllers(None, 1, "threshold:25")
    tables.set_controllers(None, 2, controller("random"))
    tables.play()
    while not tables.over.all():
        rows = np.flatnonzero(~tables.over)
        assert (tables.waiting[rows] == 0).all()
        assert (tables.states["phase"][rows] == Phase.TURN).all()
        masks = tables.action_mask(rows)
        assert (masks[:, :2] == 1).all()
        assert not masks[:, 2:].any()
        for action in (2, -1, KNOCK + 7):
            with pytest.raises(ValueError, match=r"legal are \[0, 1\]"):
                tables.act(np.full(len(rows), action), rows)
        tables.act((tables.waiting_value[rows] >= 50).astype(np.int8), rows)
    bots = ["threshold:25", "threshold:25", "random"]
    expected = play_matches(PRESETS[rules], bots, seed=1, matches=matches)
    assert (tables.payoffs()[:, :3] == expected).all()


def test_dealing_anew_is_as_a_fresh_table():
    rng = generator("anew")
    tables = mixed_tables(rng, 12)
    fresh = Tables(PRESETS["dutch"], 3, seed=5, matches=np.arange(3))
    fresh.set_controllers(None, 1, "danish")
    tables.set_controllers([2, 5, 7], 1, "danish")
    for _ in range(9):
        tables.act(random_actions(tables, rng), tables.waiting >= 0)
    others = content(np.delete(tables.states, [2, 5, 7]))
    tables.deal([2, 5, 7], np.arange(3), 3, PRESETS["dutch"])
    assert content(np.delete(tables.states, [2, 5, 7])) == others
    rows = np.array([2, 5, 7])
    tables.play(rows)
    fresh.play()
    observed = [each.tobytes() for each in (fresh.observe(), tables.observe(rows=rows))]
    assert observed[0] == observed[1]
    for row, states in zip(rows, fresh.states, strict=True):
        for name in ("hands", "upcard", "dealer", "phase", "seat", "lives", "in_play", "decisions"):
            assert content(tables.states[name][row]) == content(states[name]), name
        assert (tables.states["controllers"][row] == states["controllers"]).all()


@pytest.mark.parametrize("rules", ["danish_reshuffle", "schwimmen_german", "dutch_buy_in"])
def test_a_used_row_plays_as_a_fresh_one(rules):
    bots = ["random", "swedish", "never_knock"]
    tables = Tables(PRESETS[rules], 3, seed=2, matches=[0, 1])
    for seat, name in enumerate(bots):
        tables.set_controllers(None, seat, name)
    tables.play()
    for match in range(2, 22):
        tables.deal([0, 1], [match, match])
        tables.play()
        expected = play_matches(PRESETS[rules], bots, seed=2, matches=[match])[0]
        assert (tables.payoffs()[:, :3] == expected).all()


# --- refusals leave everything alone ------------------------------------------------------------


@pytest.mark.parametrize("slots", [False, True])
def test_one_illegal_action_leaves_every_row_alone(slots):
    rng = generator("illegal rows", slots)
    tables = mixed_tables(rng, 30, threads=2)
    for _ in range(40):
        waiting = np.flatnonzero(tables.waiting >= 0)
        actions = random_actions(tables, rng, slots=slots)
        before = content(tables.states)
        place = int(rng.integers(len(waiting)))
        illegal = np.flatnonzero(tables.action_mask(waiting[place], slots=slots)[0] == 0)
        for bad in (*rng.choice(illegal, 3).tolist(), -1, 1000, -(1 << 62)):
            spoilt = actions.astype(np.int64)
            spoilt[place] = bad
            where = rf"row {waiting[place]}: action {bad} is not legal for seat \d; legal are \["
            with pytest.raises(ValueError, match=where):
                tables.act(spoilt, waiting, slots=slots)
        assert content(tables.states) == before
        tables.act(actions, waiting, slots=slots)


BAD_ROWS: list[Any] = [3, -1, [0, 3], [0.0], [[0]], "0", [True, False], [None], np.zeros((1, 3))]


@pytest.mark.parametrize("rows", BAD_ROWS, ids=str)
def test_rows_that_are_not_there_are_refused(rows):
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=range(3))
    before = content(tables.states)
    calls = (
        lambda: tables.act(np.zeros(np.size(rows), int), rows),
        lambda: tables.observe(rows=rows),
        lambda: tables.action_mask(rows),
        lambda: tables.payoffs(rows=rows),
        lambda: tables.play(rows),
        lambda: tables.deal(rows, np.arange(np.size(rows))),
    )
    for call in calls:
        with pytest.raises(ValueError, match="rows"):
            call()
    assert content(tables.states) == before


def test_a_row_acts_once():
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=range(3))
    before = content(tables.states)
    for call in (
        lambda: tables.act([0, 0], [1, 1]),
        lambda: tables.play([0, 1, 0]),
        lambda: tables.deal([2, 2], [5, 6]),
    ):
        with pytest.raises(ValueError, match="a row is there twice"):
            call()
    assert content(tables.states) == before
    assert len(tables.observe(rows=[1, 1])) == 2


BAD_ACTIONS: list[Any] = [[0.0] * 3, ["knock"] * 3, [True] * 3, [0, 0], 0, [[0]] * 3, [10**30] * 3]


@pytest.mark.parametrize("actions", [*BAD_ACTIONS, None, [None] * 3], ids=str)
def test_what_are_no_actions_is_refused(actions):
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=range(3))
    before = content(tables.states)
    with pytest.raises(ValueError, match="expected integers, one for each of 3 rows"):
        tables.act(actions)
    assert content(tables.states) == before


def test_every_kind_of_integers_acts():
    results = set()
    for kind in (np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, list):
        tables = Tables(PRESETS["danish"], 2, seed=1, matches=range(3))
        tables.act(np.zeros(3, kind) if kind is not list else [0, 0, 0])
        results.add(content(tables.states))
    assert len(results) == 1


def test_nobody_acts_when_a_match_is_over():
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=range(3))
    for seat in range(2):
        tables.set_controllers([0, 2], seat, "danish")
    tables.play()
    assert tables.over.tolist() == [True, False, True]
    assert tables.waiting[[0, 2]].tolist() == [-1, -1]
    assert tables.winner[[0, 2]].min() >= 0
    masks = tables.action_mask()
    assert not masks[[0, 2]].any()
    assert masks[1].any()
    before = content(tables.states)
    for rows in (None, [0], [2, 1]):
        with pytest.raises(ValueError, match=r"row [02]: action 0 is not legal"):
            tables.act(np.zeros(3 if rows is None else len(rows), int), rows)
        with pytest.raises(ValueError, match=r"the match of row [02] is over"):
            make_bot("danish").act_batch(tables, rows)
    tables.play()
    assert content(tables.states) == before


@pytest.mark.parametrize("num_players", [0, 1, 10, 20, -3, 2.0, [2, 10, 2], [2, 2, 0]], ids=str)
@pytest.mark.parametrize("rules", [None, PRESETS["danish"]], ids=["as before", "danish"])
def test_seats_that_do_not_fit_are_refused(num_players, rules):
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=range(3))
    before = content(tables.states)
    with pytest.raises(ValueError, match="num_players = "):
        tables.deal([0, 1, 2], [5, 6, 7], num_players, rules)
    assert content(tables.states) == before


def test_a_table_takes_as_many_seats_as_its_deck_allows():
    tables = Tables(PRESETS["schwimmen_a9"], 2, seed=1, matches=range(2))
    tables.deal([0, 1], [1, 2], [6, 3])
    assert tables.states["num_players"].tolist() == [6, 3]
    with pytest.raises(ValueError, match=r"num_players = 8 is not allowed; allowed: 2 … \[7 7\]"):
        tables.deal([0, 1], [1, 2], 8)


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, "1", True, None])
def test_a_wrong_seed_is_refused(seed):
    with pytest.raises(ValueError, match="seed = "):
        Tables(PRESETS["danish"], 2, seed=seed, matches=[1])
    with pytest.raises(ValueError, match="seed = "):
        play_matches(PRESETS["danish"], ["random", "random"], seed=seed, matches=[1])


def test_wrong_names_are_refused():
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=range(3))
    before = content(tables.states)
    with pytest.raises(ValueError, match="unknown bot 'randm'"):
        tables.set_controllers(None, 0, "randm")
    with pytest.raises(ValueError, match="payoff 'points'; allowed"):
        tables.payoffs("points")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="observation format 'image'; allowed"):
        tables.observe("image")  # type: ignore[arg-type]
    for name in ("external", "knock"):
        with pytest.raises(ValueError, match="decides outside"):
            play_matches(PRESETS["danish"], ["random", name], seed=1, matches=[1])
    with pytest.raises(ValueError, match="num_players = 1 is not allowed"):
        play_matches(PRESETS["danish"], ["random"], seed=1, matches=[1])
    assert content(tables.states) == before


def test_no_rows_are_no_trouble():
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=[], threads=2)
    tables.play()
    assert tables.observe().shape[0] == tables.action_mask().shape[0] == 0
    tables.act(np.zeros(0, int))
    more = Tables(Rules.preset("dutch"), 2, seed=1, matches=[4])
    before = content(more.states)
    more.act(np.zeros(0, int), [])
    more.play([])
    assert more.observe(rows=np.zeros(1, bool)).shape == (0, 32)
    assert content(more.states) == before
    assert play_matches(PRESETS["dutch"], ["random"] * 2, seed=1, matches=[]).shape == (0, 2)


def test_what_tables_return_is_new():
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=range(3))
    before = content(tables.states)
    for returned in (
        *(tables.observe(), tables.observe("full"), tables.action_mask(), tables.waiting),
        *(tables.over, tables.rounds, tables.winner, tables.waiting_turn, tables.waiting_value),
        *(tables.payoffs(kind) for kind in ("match", "lives", "equity")),
    ):
        returned[:] = 1
    assert content(tables.states) == before


# --- arrays of the caller's -----------------------------------------------------------------------


def outputs(tables: Tables, **arrays: Any) -> dict[str, np.ndarray]:
    """Everything that the tables say, into arrays that are given or new ones."""
    return {
        "full": tables.observe("full", out=arrays.get("full")),
        "compact": tables.observe("compact", out=arrays.get("compact")),
        "mask": tables.action_mask(out=arrays.get("mask")),
        "slots": tables.action_mask(slots=True, out=arrays.get("slots")),
        "match": tables.payoffs("match", out=arrays.get("match")),
        "lives": tables.payoffs("lives", out=arrays.get("lives")),
        "equity": tables.payoffs("equity", out=arrays.get("equity")),
    }


@pytest.mark.parametrize("threads", [1, 2])
def test_every_number_of_an_array_given_is_overwritten(threads):
    rng = generator("out", threads)
    tables = mixed_tables(rng, 24, threads)
    tables.set_controllers(np.arange(6), 0, "knock")
    for seat in range(9):
        tables.set_controllers(np.arange(12, 18), seat, "random")
    tables.play()
    assert tables.over.any()
    expected = outputs(tables)
    for fill in (77, 0):
        given = {name: np.full_like(array, fill) for name, array in expected.items()}
        written = outputs(tables, **given)
        for name, array in written.items():
            assert array is given[name]
            assert array.tobytes() == expected[name].tobytes(), name


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[1:],
        lambda array: array.astype(np.float16),
        lambda array: np.asfortranarray(array),
        lambda array: array.tolist(),
    ],
)
def test_an_array_of_another_kind_is_refused(change):
    tables = mixed_tables(generator("wrong out"), 5)
    for name, array in outputs(tables).items():
        with pytest.raises(ValueError, match="in C order"):
            outputs(tables, **{name: change(array)})


def test_an_array_that_cannot_be_written_is_refused():
    tables = mixed_tables(generator("read only"), 5)
    seen = tables.observe("full")
    seen.setflags(write=False)
    with pytest.raises(ValueError, match="writable"):
        tables.observe("full", out=seen)
