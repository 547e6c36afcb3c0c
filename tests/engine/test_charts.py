"""Charts: cells counted again in plain Python, no hidden cards, files, refusals, play by name."""

import json
import random
from dataclasses import asdict, replace

import numpy as np
import pytest

from tests.engine.situations import fresh_seed
from thirtyone_env import game
from thirtyone_env._jit import entry
from thirtyone_env.actions import TAKE_UPCARD
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.bots import controller
from thirtyone_env.bots.charting import chart_cell
from thirtyone_env.cards import names_of
from thirtyone_env.charts import CERTAIN, Axes, Chart, ChartError, chart_names
from thirtyone_env.policy import make_bot
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import Phase

AXES = Axes(
    first_players=2,
    players=3,
    own_lives=2,
    other_lives=3,
    seats=3,
    turns=3,
    pick_ups=3,
    gains=(1, 6),
    first_value=20,
    value_step=2,
    values=21,
)
ROW = np.array([0])


def random_chart(seed=0, rules="danish", axes=AXES, **others):
    numbers = np.random.default_rng(seed).integers(0, CERTAIN + 1, axes.shape, np.uint8)
    return Chart(axes, numbers, Rules.preset(rules), **others)


def saved(tmp_path, chart, name="some"):
    path = tmp_path / f"{name}.json"
    path.write_text(chart.to_text(), "utf-8")
    return path


@entry
def cell_of(states, book):
    return chart_cell(states[0], book, 0)


# --- cells -------------------------------------------------------------------------------------


def points_of(cards, rules):
    """Value of a hand in half points, slowly."""
    worth = {"A": 11, "K": 10, "Q": 10, "J": 10, "T": 10}
    suits = {}
    for card in cards:
        points = worth[card[0]] if card[0] in worth else int(card[0])
        suits[card[1]] = suits.get(card[1], 0) + points
    best = 2 * max(suits.values())
    for rank in {card[0] for card in cards}:
        if sum(card[0] == rank for card in cards) == 3 and len(cards) == 3:
            trips = rules.three_aces if rank == "A" and rules.three_aces else rules.three_of_a_kind
            best = max(best, int(2 * (trips or 0)))
    return best


def counted_again(state, rules, axes):
    """The cell of the seat to act, counted from what it sees, in plain Python."""
    seat, players = int(state["seat"]), int(state["num_players"])
    inside = [s for s in range(players) if (int(state["in_play"]) >> s) & 1]
    others = [s for s in inside if s != seat]

    def to_go(s):
        lives = int(state["lives"][s])
        rode = (int(state["rode"]) >> s) & 1
        return lives + 1 if rules.free_ride and not rode else max(lives, 1)

    order = [
        s % players for s in range(int(state["dealer"]) + 1, int(state["dealer"]) + players + 1)
    ]
    place = [s for s in order if s in inside].index(seat)
    moves = [int(state["moves"][s]) - 1 for s in others]
    hand = names_of(int(state["hands"][seat]))
    value = points_of(hand, rules)
    if rules.family == "draw":
        picked = TAKE_UPCARD in moves
        up = names_of(1 << int(_bit(state["upcard"])))
        after = [[c for c in hand if c != gone] + up for gone in hand]
    else:
        picked = any(move >= 0 and move not in (3,) for move in moves)
        table = names_of(int(state["table"]))
        after = [[c for c in hand if c != gone] + [new] for gone in hand for new in table] + [table]
    held = any(int(state["known"][s]) for s in others)
    seen = 2 if picked else int(held)
    gain = max(points_of(each, rules) for each in after) - value
    bins = (
        min(max(len(inside) - axes.first_players, 0), axes.players - 1),
        min(to_go(seat), axes.own_lives) - 1,
        min(min(to_go(s) for s in others), axes.other_lives) - 1,
        min(place, axes.seats - 1),
        min(int(state["own_turns"][seat]), axes.turns - 1),
        seen if axes.pick_ups == 3 else int(picked),
        sum(gain >= edge for edge in axes.gains),
        min(max((value - axes.first_value) // axes.value_step, 0), axes.values - 1),
    )
    return int(np.ravel_multi_index(bins, axes.shape))


def _bit(card):
    return 16 * (int(card) // 13) + int(card) % 13


def beginnings(name, seats, seed, size=60):
    """States at the start of turns, from matches between bots at different moments."""
    rng = random.Random(seed)
    rules = Rules.preset(name)
    tables = Tables(rules, seats, seed=seed, matches=np.arange(size))
    bots = [make_bot(bot) for bot in ("random", "threshold:27", "never_knock")]
    for _ in range(rng.randrange(10, 60)):
        rows = np.flatnonzero(~tables.over)
        if not rows.size:
            break
        actions = bots[rng.randrange(3)].act_batch(tables, rows)
        tables.act(actions, rows)
        for row in np.flatnonzero(~tables.over):
            state = tables.states[row : row + 1]
            if state["phase"][0] == Phase.TURN and rng.random() < 0.1:
                yield rules, state.copy()


@pytest.mark.parametrize("name", ["danish", "swedish", "finnish", "dutch", "schwimmen_a7"])
def test_cells_are_those_counted_by_hand(name):
    found: dict[int, set[int]] = {2: set(), 3: set()}
    pick_ups = set()
    for rules, state in beginnings(name, 4, fresh_seed(), size=240):
        for length, cells in found.items():
            axes = replace(AXES, pick_ups=length)
            cell = cell_of(state, np.append(axes.head, np.int32(0)))
            assert cell == counted_again(state[0], rules, axes)
            cells.add(cell)
        pick_ups.add(int(np.unravel_index(cell, axes.shape)[5]))
    assert all(len(cells) > 30 for cells in found.values())
    assert pick_ups >= ({0, 2} if name == "schwimmen_a7" else {0, 1, 2})  # 1 is rare there


@pytest.mark.parametrize("name", ["danish", "dutch", "schwimmen_a7"])
def test_a_cell_says_nothing_of_hidden_cards(name):
    seed = fresh_seed()
    head = np.append(AXES.head, np.int32(0))
    changed = 0
    for _, state in beginnings(name, 3, seed):
        seat, other = int(state["seat"][0]), state.copy()
        game.resample_hidden(other, seat, np.random.default_rng(seed))
        changed += not np.array_equal(other["hands"], state["hands"])
        assert cell_of(other, head) == cell_of(state, head)
    assert changed > 20


# --- play --------------------------------------------------------------------------------------


def test_a_chart_that_is_a_threshold_plays_as_the_threshold(tmp_path):
    axes = Axes(first_value=0, value_step=1, values=63, players=3)
    table = np.where(axes.points >= 25, CERTAIN, 0).astype(np.uint8)
    table = np.broadcast_to(table, axes.shape)
    path = saved(tmp_path, Chart(axes, np.array(table), Rules.preset("danish")))
    bots = ["threshold:25", "threshold:27", "danish"]
    mine = [f"chart:{path}", *bots[1:]]
    options = {"seed": fresh_seed(), "matches": np.arange(200)}
    expected = play_matches(PRESETS["danish"], bots, **options)
    assert np.array_equal(play_matches(PRESETS["danish"], mine, **options), expected)


def test_it_knocks_as_often_as_the_chart_says(tmp_path):
    axes = Axes(values=2)
    path = saved(tmp_path, Chart.of(axes, np.full(axes.shape, 0.3), Rules.preset("danish")))
    tables = Tables(PRESETS["danish"], 2, seed=fresh_seed(), matches=np.arange(4000))
    rows = np.flatnonzero(tables.states["own_turns"].sum(axis=1) == 0)
    knocks = make_bot(f"chart:{path}").act_batch(tables, rows) == 2
    assert abs(knocks.mean() - 0.3) < 0.04


@pytest.mark.parametrize("draws", ["greedy", "swedish", "lookahead:2"])
def test_any_rule_draws_and_threads_do_not_matter(tmp_path, draws):
    path = saved(tmp_path, random_chart(1))
    bots = [f"chart:{path},draws={draws}", "threshold:27", f"chart:{path}"]
    one, two = (
        play_matches(PRESETS["danish"], bots, seed=5, matches=np.arange(60), threads=threads)
        for threads in (1, 2)
    )
    assert np.array_equal(one, two)


def test_a_chart_plays_the_exchange_family(tmp_path):
    path = saved(tmp_path, random_chart(2, "schwimmen_a7"))
    bots = [f"chart:{path}"] * 3
    payoffs = play_matches(PRESETS["schwimmen_a7"], bots, seed=1, matches=np.arange(50))
    assert np.allclose(payoffs.sum(axis=1), 0)
    assert np.abs(payoffs).any()


@pytest.mark.parametrize("name", ["swedish", "dutch"])
def test_a_chart_refuses_other_rules_and_numbers(tmp_path, name):
    path = saved(tmp_path, random_chart())
    with pytest.raises(ValueError, match=r"made for other rules: .*three_of_a_kind"):
        play_matches(PRESETS[name], [f"chart:{path}"] * 2, seed=1, matches=[0])
    with pytest.raises(ValueError, match="made for 2 … 4 players, not for 5"):
        play_matches(PRESETS["danish"], [f"chart:{path}"] * 5, seed=1, matches=[0])
    with pytest.raises(ValueError, match="not for 5"):
        Tables(PRESETS["danish"], 5, seed=1, matches=[0]).set_controllers(0, 0, f"chart:{path}")


def test_rules_of_the_match_matter_to_charts_that_look_at_lives():
    rules = Rules.preset("danish", lives=4)
    random_chart(axes=replace(AXES, own_lives=1, other_lives=1)).check(rules, 3)
    with pytest.raises(ChartError, match="lives is 3 for the chart, 4 at the table"):
        random_chart().check(rules, 3)


@pytest.mark.parametrize("spec", ["chart:", "chart:x,draws=", "chart:nothing", "chart"])
def test_names_that_are_none(spec):
    with pytest.raises(ValueError, match="chart"):
        controller(spec)


def test_an_unknown_rule_of_draws(tmp_path):
    path = saved(tmp_path, random_chart())
    with pytest.raises(ValueError, match="draws"):
        controller(f"chart:{path},draws=best")


# --- files -------------------------------------------------------------------------------------


def test_a_file_is_read_as_it_was_written(tmp_path):
    chart = random_chart(3, card={"figures": [1, 2]})
    path = saved(tmp_path, chart)
    again = Chart.load(path)
    assert again.to_text() == path.read_text("utf-8") == chart.to_text()
    assert np.array_equal(again.table, chart.table)
    assert again.axes == chart.axes
    assert again.rules == chart.rules


def damaged(content, **changes):
    return json.dumps({**content, **changes})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": "AAAA"}, "damaged"),
        ({"table": 7}, "readable"),
        ({"sha256": "0"}, "another digest"),
        ({"version": 99}, "version 99"),
        ({"format": "other"}, "does not say"),
        ({"axes": {**asdict(AXES), "turns": 4}}, "cells"),
        ({"axes": {**asdict(AXES), "turns": 4_000}}, "turns"),
        ({"axes": {**asdict(AXES), "what": 1}}, "what"),
        ({"axes": {**asdict(AXES), "pick_ups": 4}}, "pick_ups = 4; allowed: a whole number, 1 … 3"),
        ({"rules": {"family": "none"}}, "family"),
        ({"draws": 3}, "draws"),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, message):
    path = tmp_path / "bad.json"
    path.write_text(damaged(json.loads(random_chart().to_text()), **change), "utf-8")
    with pytest.raises(ChartError, match=message) as error:
        Chart.load(path)
    assert "bad.json" in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00", b"null"])
def test_files_that_are_no_charts(tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(ChartError, match=r"bad\.json"):
        Chart.load(path)


def test_exports_hold_every_cell():
    chart = random_chart(4)
    lines = chart.to_csv().splitlines()
    assert len(lines) == 1 + chart.axes.size
    shares = [float(line.rsplit(",", 1)[1]) for line in lines[1:]]
    assert np.allclose(shares, chart.probabilities.ravel())
    assert np.array_equal(np.array(json.loads(chart.to_json())["knock"]), chart.probabilities)


def test_probabilities_must_be_some():
    with pytest.raises(ChartError, match="between 0 and 1"):
        Chart.of(AXES, np.full(AXES.shape, 1.1), Rules.preset("danish"))
    with pytest.raises(ChartError, match="201"):
        Chart(AXES, np.full(AXES.shape, 201, np.uint8), Rules.preset("danish"))


# --- charts that come with the package -----------------------------------------------------------


def test_there_are_charts_for_several_presets():
    assert {"danish", "schwimmen_a7"} <= set(chart_names()) <= set(PRESETS)


@pytest.mark.parametrize("name", chart_names())
def test_a_shipped_chart_plays_its_preset_better_than_a_fixed_threshold(name):
    chart = Chart.load(name)
    assert chart.card["figures"]
    assert chart.players == (2, 3, 4, 5, 6)
    rules, deals = PRESETS[name], np.arange(4_000)
    for size in (2, 6):
        won = 0.0
        for seat in range(size):
            bots = ["threshold:21"] * size
            bots[seat] = f"chart:{name}"
            won += play_matches(rules, bots, seed=7, matches=deals)[:, seat].mean() / size
        assert won > 0.005
