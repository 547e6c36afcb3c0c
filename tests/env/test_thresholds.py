"""All thresholds at once are the same matches as those of the bots one by one."""

import numpy as np
import pytest

from thirtyone_env import Rules
from thirtyone_env.arena import play_matches
from thirtyone_env.thresholds import first_seats, half_points, threshold_payoffs, turn_gains

THRESHOLDS = (17, 21.5, 25, 28, 29, 30, 31)


@pytest.mark.parametrize(
    "rules",
    [
        "danish",
        "swedish",
        "dutch",
        "dutch_buy_in",
        "danish_reshuffle",
        "danish_continue",
        "danish_min_knock_21",
        "danish_four_cards",
        "danish_joker",
        "schwimmen_a7",
        "schwimmen_german",
        "widow",
    ],
)
def test_payoffs_are_those_of_matches_played_one_by_one(rules):
    rules, matches = Rules.preset(rules), np.arange(40, 70)
    payoffs, _ = threshold_payoffs(rules, THRESHOLDS, seed=9, matches=matches)
    for i, a in enumerate(THRESHOLDS):
        for j, b in enumerate(THRESHOLDS):
            bots = [f"threshold:{a}", f"threshold:{b}"]
            played = play_matches(rules, bots, seed=9, matches=matches)
            assert (payoffs[:, i, j] == played[:, 0]).all(), bots


@pytest.mark.parametrize("change", [{"decider": "draw"}, {"max_rounds": 3}, {"lives": 1}])
def test_house_rules_end_matches_alike(change):
    rules, matches = Rules.preset("danish", **change), np.arange(100)
    payoffs, _ = threshold_payoffs(rules, (25, 31), seed=2, matches=matches)
    played = play_matches(rules, ["threshold:31", "threshold:25"], seed=2, matches=matches)
    assert (payoffs[:, 1, 0] == played[:, 0]).all()


def test_outcomes_of_rounds_are_those_of_one_round_matches():
    """With one life a match whose first round costs somebody a life is over with it."""
    rules = Rules.preset("danish", lives=1, knocker_lowest_loss=1, max_rounds=1)
    matches = np.arange(400)
    payoffs, outcomes = threshold_payoffs(rules, (22, 27), seed=4, matches=matches)
    assert (outcomes.sum(axis=(2, 3)) == 400).all(), "one round a match"
    begins = first_seats(4, matches, 2)
    for i in range(2):
        for j in range(2):
            mine = np.where(begins == 0, payoffs[:, i, j], -payoffs[:, j, i])
            own, other = outcomes[i, j].sum(axis=1)[1], outcomes[i, j].sum(axis=0)[1]
            assert (mine == -1).sum() == own - outcomes[i, j, 1, 1]
            assert (mine == 1).sum() == other - outcomes[i, j, 1, 1]


def test_a_knock_gains_what_playing_it_shows():
    """Gains by turn, summed, are the difference between two thresholds that differ on one turn."""
    rules = Rules.preset("danish", lives=1, max_rounds=1, knocker_lowest_loss=1)
    matches, limits = np.arange(3000), (24, 31)
    always = np.array([1.0, 0.0])
    _, _, choices = turn_gains(rules, limits, always, seed=6, matches=matches)
    begins = first_seats(6, matches, 2)
    found = []
    for first in (24, 31):  # the first own turn of who begins alone
        total = 0.0
        for seat in (0, 1):
            bots = ["threshold:24", "threshold:24"]
            bots[seat] = f"threshold_by_turn:{first},24"
            played = play_matches(rules, bots, seed=6, matches=matches[begins == seat])
            total += played[:, seat].sum()
        found.append(total)
    swing = choices[0, 0, 0] - choices[0, 0, 1]
    assert swing == pytest.approx(found[0] - found[1])


def test_chunks_change_nothing():
    rules = Rules.preset("danish")
    whole, outcomes = threshold_payoffs(rules, (21, 29), seed=3, matches=np.arange(50))
    parts = [
        threshold_payoffs(rules, (21, 29), seed=3, matches=np.arange(*part))
        for part in ((0, 20), (20, 50))
    ]
    assert (np.concatenate([part[0] for part in parts]) == whole).all()
    assert (parts[0][1] + parts[1][1] == outcomes).all()


def test_wrong_thresholds_are_refused():
    with pytest.raises(ValueError, match="ascend"):
        half_points((25, 25))
    with pytest.raises(ValueError, match="thresholds are"):
        half_points((25.3,))
    with pytest.raises(ValueError, match="at least one"):
        half_points(())
