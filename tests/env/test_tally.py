"""Watching changes no move; what is counted is what happened; luck of the draw has mean 0."""

import numpy as np
import pytest

from thirtyone_env import Rules, tally
from thirtyone_env.actions import KNOCK
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.tally import MARK, Event, Knock, WatchedTables

PRESETS = ["danish", "dutch_buy_in", "finnish", "danish_reshuffle", "danish_joker", "schwimmen_a7"]


def watched(rules, bots, seed=1, matches=60, luck=True):
    owners = np.tile(np.arange(len(bots)), (matches, 1))
    tables = WatchedTables(
        Rules.preset(rules),
        len(bots),
        seed=seed,
        matches=np.arange(matches),
        owners=owners,
        luck=luck,
    )
    for seat, bot in enumerate(bots):
        tables.set_controllers(None, seat, bot)
    tables.play()
    return tables


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("size", [2, 4])
def test_watching_changes_nothing(rules, size):
    bots = ["threshold:25", "danish", "swedish", "dutch"][:size]
    tables = watched(rules, bots)
    played = play_matches(Rules.preset(rules), bots, seed=1, matches=np.arange(60))
    assert (tables.payoffs()[:, :size] == played).all()
    assert tables.over.all()


def test_outside_decisions_are_watched_too():
    """The same bot inside the kernel and asked from outside is counted alike."""
    inside = watched("danish", ["threshold:24", "dutch"])
    outside = watched("danish", ["knock", "dutch"])
    while not outside.over.all():
        rows = np.flatnonzero(~outside.over)
        knocks = outside.waiting_value[rows] >= 48
        outside.act(knocks.astype(int), rows)
    assert (outside.counts == inside.counts).all()
    assert (outside.knocks == inside.knocks).all()
    assert (outside.lengths == inside.lengths).all()
    assert outside.marks.tobytes() == inside.marks.tobytes()


@pytest.mark.parametrize("rules", PRESETS)
def test_the_counts_agree_with_each_other(rules):
    tables = watched(rules, ["threshold:23", "danish", "swedish"])
    counts, knocks = tables.counts, tables.knocks
    assert (counts[:, Event.MATCHES] == 60).all()
    assert tables.lengths[1].sum() == 60
    assert tables.lengths[0].sum() == tables.marks["rounds"].sum()
    assert (counts[:, Event.ROUNDS] == tables.marks["dealt"][:, :3].sum(axis=0)).all()
    assert (knocks[:, Knock.KNOCKED].sum(axis=(1, 2)) == counts[:, Event.KNOCKS]).all()
    assert (knocks[:, Knock.RIGHT].sum(axis=(1, 2)) == counts[:, Event.RIGHT]).all()
    assert (knocks[:, Knock.KNOCKED] <= knocks[:, Knock.ASKED]).all()
    assert (counts[:, Event.RIGHT] + counts[:, Event.TWO_LIVES] <= counts[:, Event.KNOCKS]).all()
    assert counts[:, Event.KNOCKS].sum() > 0
    assert knocks[0, Knock.KNOCKED, :, :23].sum() == 0, "threshold:23 knocks with 23 or more"


def test_lives_lost_are_what_eliminates():
    """Without free rides everybody but the winner loses all three lives, or more by a knock."""
    tables = watched("danish", ["threshold:25", "danish"], matches=200)
    lost = tables.counts[:, Event.LIVES_LOST]
    losers = (tables.places == 2).sum(axis=0)
    assert (lost >= 3 * losers).all()
    two = tables.counts[:, Event.TWO_LIVES]
    assert (lost <= 3 * losers + 2 * (200 - losers) + two).all()


def test_places_follow_elimination():
    tables = watched("danish", ["threshold:25", "danish", "random", "dutch"])
    places = tables.places
    assert (places.sum(axis=1) == 10).all(), "ranks 1 to 4, ties in the middle"
    paid = tables.payoffs()[:, :4]
    assert (places[paid == 1] == 1).all()
    assert places[:, 2].mean() > 3, "random goes first"


def test_late_turns_and_half_points_have_a_place():
    tables = watched("dutch", ["never_knock", "never_knock"], matches=300)
    assert tables.knocks[:, Knock.ASKED, 0].sum() == 0, "no first-turn knocks by these rules"
    assert tables.knocks[:, Knock.ASKED, -1].sum() > 0
    assert tables.knocks[:, Knock.ASKED, :, 31:].sum() == 0, "30½ counts with 30"


def test_the_first_seat_is_left_of_the_dealer():
    tables = Tables(Rules.preset("danish"), 4, seed=1, matches=np.arange(60))
    begins = tables.states["seat"][tables.states["round_number"] == 0]
    noted = watched("danish", ["danish"] * 4).marks["first"]
    assert (noted[tables.states["round_number"] == 0] == begins).all()


def every_next_card(states, note):
    """Luck of each card that may come next, by note_draw on a copy where it did."""
    found = []
    top, end = int(states["top"][0]), int(states["deck_end"][0])
    for place in range(top, end):
        copy, mark = states.copy(), np.zeros(1, MARK)
        deck = copy["deck"][0]
        deck[[top, place]] = deck[[place, top]]
        copy["shuffled"] = end
        note(copy, mark)
        found.append(mark["luck"][0].copy())
    return np.array(found)


@tally.entry
def draw_one(states, marks):
    state, mark = states[0], marks[0]
    tally.apply(state, tally.DRAW_STOCK)
    tally.note_draw(state, mark)


@pytest.mark.parametrize("rules", ["danish", "swedish", "finnish", "danish_four_cards"])
@pytest.mark.parametrize("knocked", [False, True])
def test_the_luck_of_all_cards_that_may_come_adds_up_to_nothing(rules, knocked):
    """Exactly, whatever the hand: so no multiple of it can move a mean."""
    seen = 0
    for match in range(20):
        tables = Tables(Rules.preset(rules), 3, seed=5, matches=[match])
        if knocked and tables.action_mask()[0, KNOCK]:
            tables.act([KNOCK])
        if tables.over[0] or int(tables.states["phase"][0]) != 0:
            continue
        luck = every_next_card(tables.states, draw_one)
        np.testing.assert_allclose(luck.sum(axis=0), 0, atol=1e-9)
        seen += np.abs(luck).max() > 0
    assert seen > 5


def test_luck_has_mean_zero_over_matches():
    luck = watched("danish", ["threshold:25", "dutch"], seed=77, matches=6000).marks["luck"][:, :2]
    error = luck.std(axis=0) / np.sqrt(len(luck))
    assert (np.abs(luck.mean(axis=0)) < 4 * error + 1e-12).all(), "seed 77"


def test_luck_is_measured_only_when_asked_for():
    assert not watched("danish", ["danish"] * 2, luck=False).marks["luck"].any()


def test_the_exchange_family_has_luck_of_the_deal_alone():
    luck = watched("schwimmen_a7", ["danish"] * 3).marks["luck"]
    assert luck[..., tally.DEALT].any()
    assert not luck[..., : tally.DEALT].any()


@pytest.mark.parametrize("rules", ["danish", "schwimmen_a7"])
def test_luck_of_the_deal_adds_up_to_nothing_over_the_table(rules):
    luck = watched(rules, ["danish", "dutch", "threshold:25"]).marks["luck"][..., tally.DEALT]
    np.testing.assert_allclose(luck.sum(axis=1), 0, atol=1e-9)
