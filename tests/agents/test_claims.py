"""Claims: files that say what decides, figures with honest errors, verdicts, the command."""

import json

import numpy as np
import pytest

from agents.evaluation.claims import experiments
from agents.evaluation.claims.claims import (
    FOLDER,
    Finding,
    Verdict,
    check,
    load,
    load_all,
    summed_up,
    trials_of,
)
from agents.evaluation.claims.command import ClaimsCommand
from agents.evaluation.claims.experiments import Choose, KnockNow, Rounds, Swap
from agents.evaluation.claims.findings import Figure, contrast, holm, ratio, shortfall
from agents.evaluation.claims.forks import gather, moments, played_on, single_rounds
from agents.evaluation.claims.policies import seat_policy, without_knocks
from agents.evaluation.cli import main
from agents.evaluation.exploit import swings_of
from agents.evaluation.options import ConfigError
from agents.policies import make
from thirtyone_env import Rules
from thirtyone_env.actions import FIRST_CARD, KNOCK
from thirtyone_env.cards import cards_of, parse_card, set_of
from thirtyone_env.state import Phase

DANISH = Rules.preset("danish")
DEALS = np.arange(200)
CLAIM = """
claim: C.
source: S
test: T.
rules: [danish]
players: [2]
deals: 64
experiment: rounds
parameters: {counted: blitz, below: 0.5}
"""


def cards(text):
    return set_of(parse_card(card) for card in text.split())


# --- figures -------------------------------------------------------------------------------------


def test_holm_is_the_textbook_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_a_figure_where_all_agree_is_not_certain():
    found = ratio(np.ones(40), np.ones(40))
    assert found is not None
    assert found.error == 1 / 40
    assert ratio(np.ones(9), np.ones(9)) is None


def test_intervals_cover_the_truth():
    seed = 7
    rng, inside = np.random.default_rng(seed), 0
    for _ in range(400):
        sizes = rng.integers(0, 4, 200).astype(float)
        common = rng.normal(0, 1, 200)  # what the observations of a deal share
        totals = sizes * (0.3 + common) + rng.normal(0, 1, 200) * np.sqrt(sizes)
        found = ratio(totals, sizes)
        assert found is not None
        interval = found.interval()
        inside += interval.low <= 0.3 <= interval.high
    assert 0.92 <= inside / 400 <= 0.98, f"seed {seed}"


def test_a_contrast_compares_like_with_like():
    rng = np.random.default_rng(5)
    columns = np.zeros((400, 2, 2, 2))
    for deal in range(400):
        cell = int(rng.random() < 0.5)
        so = int(rng.random() < (0.9 if cell else 0.1))  # the condition comes with the cell
        columns[deal, cell, 1 - so] = 5.0 * cell + 0.5 * so + rng.normal(0, 0.1), 1
    found = contrast(columns)
    assert found is not None
    assert found.mean == pytest.approx(0.5, abs=4 * found.error)
    assert found.error < 0.05


def test_the_luckiest_threshold_is_not_taken_for_the_best():
    rng, found = np.random.default_rng(3), []
    for _ in range(50):
        figure = shortfall(rng.normal(0, 1, (400, 10)), 4, list(range(10)))
        assert figure is not None
        found.append(figure.mean / figure.error)
    assert abs(np.mean(found)) < 0.5  # the best of nine of 200 would be 1.5 errors up


# --- rounds watched and forked -------------------------------------------------------------------


def test_watched_rounds_are_those_of_the_kernel():
    tables = single_rounds(DANISH, 3, DEALS, 5)
    for seat in range(3):
        tables.set_controllers(None, seat, "threshold:25")
    tables.play()
    for moment in moments("threshold:25", DANISH, 3, DEALS, 5):
        last = moment.tables
    np.testing.assert_array_equal(last.payoffs("lives"), tables.payoffs("lives"))


def test_a_fork_that_does_what_the_bot_does_changes_nothing():
    bot, player = "lookahead:4", make("lookahead:4")
    assert player.controller == bot

    def asks(moment):
        picked = moment.may_knock & (moment.turns == 2)
        return picked, np.zeros((len(picked), 1), np.int64)

    found = gather(asks, bot, DANISH, 2, DEALS, 5, 99)
    actions = experiments.make_bot(bot).choose(found.states, np.arange(len(found.states)))
    assert (actions == KNOCK).any()
    ended = played_on(found.states, actions, bot, DANISH)
    tables = single_rounds(DANISH, 2, DEALS, 5)
    for seat in range(2):
        tables.set_controllers(None, seat, bot)
    tables.play()
    np.testing.assert_array_equal(
        ended["lives_payoff"], tables.states["lives_payoff"][found.tables]
    )


def test_a_knock_loses_where_the_hand_is_lowest():
    case = KnockNow(points=(5, 15), turns=(1, 1), outcome="loses")
    low = case.figure(case.columns(DANISH, 4, DEALS, 5))
    case = KnockNow(points=(29, 30.5), outcome="loses")
    high = case.figure(case.columns(DANISH, 4, np.arange(3000), 5))
    assert low is not None
    assert high is not None
    assert low.mean > 0.5 > 0.2 > high.mean


@pytest.mark.parametrize("choice", ["take_upcard", "keep_high", "keep_suit"])
def test_both_ways_are_legal_and_unlike(choice):
    case = Choose(choice=choice)
    columns = case.columns(DANISH, 2, DEALS, 5)  # an illegal way would raise
    assert columns[:, 1].sum() > 10
    assert np.count_nonzero(columns[:, 0]) > 0


def test_keeping_high_cards_gives_up_the_low_one():
    states = np.zeros(1, single_rounds(DANISH, 2, DEALS[:1], 1).states.dtype)
    states["hands"][0, 0], states["taken"], states["rules"] = (
        cards("Kh 9h Qc 3d"),
        -1,
        DANISH.record,
    )

    class Fake:
        def own(self, name):
            return states[name][:, 0]

        def field(self, name):
            return states[name]

    [way] = experiments._keep_high(Choose(choice="keep_high"), Fake(), np.arange(1), DANISH)
    low, high = (way - FIRST_CARD).tolist()
    assert (low % 13, high % 13) == (1, 10)


def test_a_round_is_watched_no_longer_than_asked():
    longest = []

    def asks(moment):
        longest.append(int(moment.turns.min()))
        return moment.turns == 1, np.zeros((len(moment.rows), 1), np.int64)

    found = gather(asks, "never_knock", DANISH, 2, DEALS, 5, 1)
    assert max(longest) == 1
    assert (found.states["own_turns"][np.arange(len(found.states)), found.seats] == 0).all()


# --- policies ------------------------------------------------------------------------------------


def test_knock_points_is_the_threshold_bot():
    mine = swings_of([seat_policy("knock:greedy,points=26"), make("dutch")], DANISH, DEALS, 3)
    bot = swings_of([make("threshold:26"), make("dutch")], DANISH, DEALS, 3)
    np.testing.assert_array_equal(mine, bot)


def test_last_life_lowers_the_threshold_on_the_last_life_alone():
    tables = single_rounds(DANISH, 2, DEALS[:4], 1)
    tables.states["lives"][:, :2] = np.array([[3, 3], [1, 1], [3, 1], [1, 3]])
    for seat in range(2):
        tables.states["hands"][:, seat] = cards("Kh 9h 6h")
    policy = seat_policy("knock:greedy,points=27,last_life=25")
    seats = tables.states["seat"]
    last = tables.states["lives"][np.arange(4), seats] == 1
    np.testing.assert_array_equal(policy.act_batch(tables, np.arange(4)), last)


@pytest.mark.parametrize("bot", ["swedish", "chart:danish"])
def test_bots_whose_draws_are_not_known_alone_are_refused(bot):
    with pytest.raises(ConfigError, match="without its knocks"):
        without_knocks(bot)
    assert without_knocks("lookahead:4,feed=1,knock=25") == "lookahead:4,feed=1,knock=60"


# --- claims and verdicts -------------------------------------------------------------------------


def test_every_claim_can_be_read():
    claims = load_all()
    assert len(claims) >= 16
    assert [claim.name for claim in claims] == sorted(path.stem for path in FOLDER.glob("*.yaml"))
    for trial in trials_of(claims, (), ()):
        assert not trial.refused or trial.rules_name == "dutch"  # no knock on the first turn


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("below: 0.5", "below: 0.5, above: 1", "either above or below"),
        ("below: 0.5", "belwo: 0.5", "either above or below"),
        ("counted: blitz", "counted: blitzes", "one of blitz, turns"),
        ("counted: blitz", "cuonted: blitz", "did you mean counted"),
        ("experiment: rounds", "experiment: round", "did you mean rounds"),
        ("source: S\n", "", "source is missing"),
        ("[danish]", "[danich]", "danish"),
    ],
)
def test_a_bad_file_is_refused(before, after, message, tmp_path):
    path = tmp_path / "claim.yaml"
    path.write_text(CLAIM)
    load(path)
    path.write_text(CLAIM.replace(before, after))
    with pytest.raises(ConfigError, match=message):
        load(path)


def findings_of(tmp_path, *rows):
    path = tmp_path / "claim.yaml"
    path.write_text(CLAIM.replace("players: [2]", "players: [2, 3, 4]"))
    trials = trials_of([load(path)], (), ())
    found = [
        Finding(trial, Figure(mean, 0.1, 100, 100), chance)
        for trial, (mean, chance) in zip(trials, rows, strict=True)
    ]
    return Verdict(trials[0].claim, tuple(found), ())


@pytest.mark.parametrize(
    ("rows", "word", "details"),
    [
        ([(0.1, 0.01)] * 3, "true", ""),
        ([(0.9, 0.01)] * 3, "false", ""),
        ([(0.1, 0.01), (0.1, 0.01), (0.9, 0.01)], "depends", "true: 2 players or 3 players"),
        ([(0.1, 0.01), (0.1, 0.3), (0.1, 0.01)], "undecided", "open: 3 players"),
        ([(0.1, 0.01), (0.9, 0.01), (0.9, 0.3)], "depends", "open: 4 players"),
    ],
)
def test_verdicts(rows, word, details, tmp_path):
    verdict = findings_of(tmp_path, *rows)
    assert verdict.word == word
    assert details in verdict.details


def test_groups_are_put_together():
    everything = [(a, b, "danish") for a in "xyz" for b in ("2 players", "4 players")]
    assert summed_up(everything, everything) == "everywhere"
    assert summed_up([label for label in everything if label[0] != "y"], everything) == "x or z"
    assert summed_up(everything[:3], everything) == "x; y, 2 players"


def test_rules_that_know_no_such_moment_are_told(tmp_path):
    claims = load_all(["take_what_fits"])
    rules = [("schwimmen_a7", Rules.preset("schwimmen_a7"))]
    checked = check(trials_of(claims, rules, (2,)), seed=1, deals=4, workers=1)
    assert checked.verdicts[0].word == "does not apply"
    assert "no card is unknown" in checked.verdicts[0].details


def test_claims_of_the_exchange_family(tmp_path, capsys):
    """Most are checked; of the others it is said, in the tables too, why they are not."""
    words = ["claims", "--rules", "schwimmen_a7", "--players", "2", "--deals", "64"]
    assert main([*words, "--out", str(tmp_path)], {"claims": ClaimsCommand}) == 0
    found = json.loads((tmp_path / "claims.json").read_text())
    words = {row["claim"]: row["verdict"] for row in found["verdicts"]["rows"]}
    left = {name for name, word in words.items() if word == "does not apply"}
    others = {"four_cards_make_longer_rounds", "commit_to_a_suit"}
    assert left == {"take_what_fits", "keep_high_cards"} | others
    assert len(words) == len(load_all())
    notes = {r["claim"]: r["note"] for r in found["findings"]["rows"] if r["claim"] in left}
    assert "nothing is discarded" in notes["keep_high_cards"]
    assert notes.keys() == left


def test_a_change_of_suit_is_told_by_swaps_too():
    """Counted once more by the cards that are known to be in a hand."""
    rules, deals, seen = Rules.preset("schwimmen_a7"), np.arange(40), 0
    known, suits = np.zeros((40, 2), np.int64), {}
    expected = np.zeros((40, 2), bool)
    for moment in moments("lookahead:4", rules, 2, deals, seed=3):
        states = moment.tables.states
        for row, seat in zip(moment.rows.tolist(), moment.seats.tolist(), strict=True):
            for each in (0, 1):
                new = cards_of(int(states["known"][row, each]) & ~int(known[row, each]))
                known[row, each] = states["known"][row, each]
                if len(new) == 1:
                    suit = new[0] // 13
                    expected[row, each] = suits.get((row, each), suit) != suit
                    suits[row, each] = suit
            if states["phase"][row] == Phase.TURN:
                assert moment.changed[row, 1 - seat] == expected[row, 1 - seat]
                seen += bool(moment.changed[row, 1 - seat])
                expected[row, seat] = False
    assert seen > 5


# --- the command ---------------------------------------------------------------------------------

SMALL = ["claims", "a_blitz_is_rare", "do_not_chase_31", "--deals", "1100", "--players", "2"]


def run(*more):
    return main([*SMALL, *more], {"claims": ClaimsCommand})


def test_the_same_bytes_whatever_the_threads(tmp_path, capsys):
    for workers in ("1", "3"):
        assert (
            run("--workers", workers, "--out", str(tmp_path / workers), "--format", "parquet") == 0
        )
    files = [path for path in (tmp_path / "1").rglob("*") if path.is_file()]
    names = sorted(str(path.relative_to(tmp_path / "1")) for path in files)
    assert {"report.html", "claims.json", "findings.csv", "findings.parquet"} <= set(names)
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes(), name
    page = (tmp_path / "1" / "report.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "A blitz is rare." in page


def test_the_numbers_are_one_source(tmp_path, capsys):
    assert run("--format", "json", "--out", str(tmp_path)) == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "claims.json").read_text()
    data = json.loads(printed)
    [row] = [r for r in data["findings"]["rows"] if r["claim"] == "a_blitz_is_rare"][:1]
    page = (tmp_path / "report.html").read_text()
    assert f"{100 * row['figure']:.1f} %" in page


def test_an_unknown_claim_is_told(capsys):
    assert main(["claims", "a_blitz_is_rar"], {"claims": ClaimsCommand}) == 2
    assert "did you mean a_blitz_is_rare" in capsys.readouterr().err


def test_an_interrupt_keeps_the_finished_claims(monkeypatch, tmp_path, capsys):
    plays = Swap.columns
    calls = []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return plays(self, *arguments)

    monkeypatch.setattr(Swap, "columns", interrupted)
    assert run("--workers", "1", "--out", str(tmp_path)) == 130
    assert "left out are do_not_chase_31" in capsys.readouterr().err
    data = json.loads((tmp_path / "claims.json").read_text())
    assert {row["claim"] for row in data["verdicts"]["rows"]} == {"a_blitz_is_rare"}


def test_a_change_of_rules_is_compared():
    case = Rounds(counted="turns", change={"hand_size": 4, "blitz_value": 41})
    found = case.figure(case.columns(DANISH, 3, DEALS, 5))
    assert found is not None
    assert found.mean > 1
    with pytest.raises(ValueError, match="so already"):
        Rounds(counted="turns", change={"jokers": 0}).check(DANISH, 2)
