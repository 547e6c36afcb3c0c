"""Tournaments: assigned beforehand, the same for any workers, resumed; forfeits are no losses."""

import json
import re

import numpy as np
import pytest

from agents.evaluation import tournament
from agents.evaluation.cli import main
from agents.evaluation.match import IllegalActionError, play, play_deals
from agents.evaluation.measures import lives_per_round
from agents.evaluation.standings import standings
from agents.evaluation.statistics import adjusted_totals, joint_test, rate_interval, ratio_interval
from agents.evaluation.store import PlanError, digest
from agents.evaluation.tables import Column, to_json
from agents.evaluation.tournament import Store, line_ups, make_plan
from agents.policies import make
from tests.agents.small import small_policy, threshold_policy
from thirtyone_env import Rules

DANISH = Rules.preset("danish")


def roster(*names):
    return [make(name) if isinstance(name, str) else name for name in names]


def tour(policies, players=2, deals=80, pairing=None, rules=DANISH, store=None, workers=1, **more):
    pairing = pairing or ("duel" if players == 2 else "all")
    plan = make_plan(
        policies, rules=rules, players=players, deals=deals, seed=3, pairing=pairing, **more
    )
    return tournament.run(plan, policies, rules=rules, store=store, workers=workers)


class Cheat:
    """Legal at some tables only."""

    name = "cheat"
    controller = "knock"

    def __init__(self, fault):
        self.fault = fault

    def check(self, rules, num_players):
        pass

    def act_batch(self, tables, rows):
        bad = tables.states["match"][rows] % 5 == 0
        if self.fault == "raises" and bad.any():
            raise RuntimeError("out of order")
        return np.where(bad, 7 if self.fault == "illegal" else 0, tables.waiting_value[rows] >= 50)


# --- who meets whom ------------------------------------------------------------------------------


def test_every_combination_in_every_order():
    tables = line_ups(4, 3, "all", 100, 0)
    assert len(tables) == 8
    assert len(set(tables)) == 8
    assert all(len(set(members)) == 3 for members in tables)


def test_too_many_combinations_are_drawn_evenly():
    tables = line_ups(12, 4, "all", 60, 7)
    assert len(set(tables)) == 60
    assert tables == line_ups(12, 4, "all", 60, 7) != line_ups(12, 4, "all", 60, 8)
    times = np.bincount(np.array(tables).ravel(), minlength=12)
    assert times.min() >= 17
    assert times.max() <= 23


def test_lone_and_duels():
    assert line_ups(3, 4, "lone", 9, 0)[0] == (0, 1, 1, 1)
    assert len(line_ups(3, 4, "lone", 9, 0)) == 6
    assert line_ups(3, 2, "duel", 9, 0) == ((0, 1), (0, 2), (1, 2))
    assert all(len(set(members)) > 1 for members in line_ups(2, 4, "all", 99, 0))


# --- playing -------------------------------------------------------------------------------------


def test_matches_are_those_of_the_match_runner():
    results = tour(roster("threshold:25", "danish", "dutch"), deals=300)
    played = play(["threshold:25", "dutch"], rules=DANISH, deals=300, seed=3)
    assert (results.line_ups[1].payoffs == played.payoffs).all()


@pytest.mark.parametrize("players", [2, 3])
def test_workers_change_nothing(players):
    policies = roster(small_policy(players=(2, 3)), "danish", "threshold:27")
    found = [standings(tour(policies, players, workers=workers)) for workers in (1, 2, 8)]
    texts = [to_json({}, s.tables) for s in found]
    assert texts[0] == texts[1] == texts[2]


def test_exactly_the_planned_matches():
    results = tour(roster("danish", "dutch", "swedish"), deals=tournament.CHUNK_DEALS + 44)
    assert results.complete
    assert results.deals.tolist() == list(range(tournament.CHUNK_DEALS + 44))
    assert results.plan.matches == 3 * 300 * 2
    assert sum(played.payoffs[:, :, 0].size for played in results.line_ups) == 1800


def test_a_stopped_tournament_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(tournament, "CHUNK_DEALS", 20)
    policies = roster("danish", "dutch", small_policy())
    options = {"rules": DANISH, "players": 2, "deals": 80, "seed": 3, "pairing": "duel"}
    plan = make_plan(policies, **options)
    plan = type(plan)(**{**vars(plan), "chunk": 20})
    whole = tournament.run(plan, policies, rules=DANISH)
    played = []
    real = tournament.play_deals

    def stop_after(limit):
        def run(*args, **more):
            if len(played) >= limit:
                raise KeyboardInterrupt
            played.append(args[2].tolist())
            return real(*args, **more)

        return run

    monkeypatch.setattr(tournament, "play_deals", stop_after(7))
    part = tournament.run(plan, policies, rules=DANISH, store=Store(tmp_path, plan))
    assert not part.complete
    assert part.deals.tolist() == list(range(40)), "deals that all line-ups have finished"
    assert part.chunks_done == 7
    monkeypatch.setattr(tournament, "play_deals", stop_after(99))
    again = tournament.run(plan, policies, rules=DANISH, store=Store(tmp_path, plan))
    assert len(played) == 12, "seven parts before the stop, five after it"
    assert to_json({}, standings(again).tables) == to_json({}, standings(whole).tables)


def test_a_damaged_part_is_played_again(tmp_path):
    policies = roster("danish", "dutch")
    plan = make_plan(policies, rules=DANISH, players=2, deals=50, seed=1, pairing="duel")
    store = Store(tmp_path, plan)
    whole = tournament.run(plan, policies, rules=DANISH, store=store)
    path = store.folder / "0000-00000.npz"
    path.write_bytes(path.read_bytes()[:100])
    again = tournament.run(plan, policies, rules=DANISH, store=store)
    assert (again.line_ups[0].payoffs == whole.line_ups[0].payoffs).all()


def test_a_folder_of_another_tournament_is_refused(tmp_path):
    policies = roster("danish", "dutch")
    options = {"rules": DANISH, "players": 2, "seed": 1, "pairing": "duel"}
    Store(tmp_path, make_plan(policies, deals=50, **options))
    with pytest.raises(PlanError, match="deals differ"):
        Store(tmp_path, make_plan(policies, deals=60, **options))


def test_the_same_name_with_other_weights_is_another_policy():
    assert digest(small_policy(1)) != digest(small_policy(2))
    assert digest(small_policy(1)) == digest(small_policy(1))


def test_the_same_file_with_another_content_is_another_policy(tmp_path):
    class Saved:
        name, path = "saved", tmp_path / "tables.npz"

    Saved.path.write_bytes(b"one")
    before = digest(Saved())
    assert digest(Saved()) == before
    Saved.path.write_bytes(b"two")
    assert digest(Saved()) != before


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["danish"], {}, "at least two policies"),
        (["danish", "dutch"], {"deals": 1}, "deals = 1 is not allowed; allowed: 2 or more"),
        (["danish", "dutch"], {"players": 3, "pairing": "duel"}, "two players, not 3"),
        (["danish", "dutch"], {"players": 99, "pairing": "all"}, "num_players"),
    ],
)
def test_what_is_no_tournament_is_refused(names, options, message):
    with pytest.raises(ValueError, match=message):
        tour(roster(*names), **options)


# --- forfeits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["raises", "illegal"])
def test_a_fault_forfeits_that_match_and_no_other(fault):
    cheat, fair = Cheat(fault), Cheat("")
    lone = play_deals(roster(cheat, "danish"), DANISH, np.arange(40), 3, forfeits=True)
    same = play_deals(roster(fair, "danish"), DANISH, np.arange(40), 3)
    bad = np.arange(40) % 5 == 0
    assert lone.forfeited[bad, :, 0].any(axis=1).all()
    assert not lone.forfeited[~bad].any()
    assert not lone.forfeited[:, :, 1].any()
    assert (lone.payoffs[~bad] == same.payoffs[~bad]).all()
    over = lone.forfeited.any(axis=2)
    assert (lone.payoffs[over] == [-1, 1]).all()
    assert (lone.places[over] == [2, 1]).all()
    assert ("out of order" if fault == "raises" else "action 7") in lone.faults[0]


def test_the_others_share_a_forfeited_match():
    played = play_deals(
        roster(Cheat("illegal"), "danish", "dutch", "swedish"),
        DANISH,
        np.arange(20),
        3,
        forfeits=True,
    )
    over = played.forfeited.any(axis=2)
    assert over.any()
    assert played.payoffs[over] == pytest.approx(
        np.tile([-1, 1 / 3, 1 / 3, 1 / 3], (over.sum(), 1)) / 3
    )
    assert (played.places[over] == [4, 2, 2, 2]).all()


def test_forfeits_are_no_losses():
    found = standings(tour(roster(Cheat("illegal"), "danish"), deals=50))
    row = next(r for r in found.tables[0].records() if r["policy"] == "cheat")
    assert row["forfeits"] > 0
    assert row["lost"] + row["won"] * 100 + row["forfeits"] == pytest.approx(100)
    assert any("cheat forfeited matches: IllegalActionError" in line for line in found.summary)


def test_elsewhere_an_illegal_action_is_an_error():
    with pytest.raises(IllegalActionError):
        play_deals(roster(Cheat("illegal"), "danish"), DANISH, np.arange(20), 3)


# --- what they say -------------------------------------------------------------------------------


def test_copies_of_one_bot_are_rated_alike():
    found = standings(tour(roster("danish", "danish", "danish"), deals=60))
    assert found.names == ("danish", "danish #2", "danish #3")
    assert [rating.points.mean for rating in found.ratings] == pytest.approx([0, 0, 0], abs=1e-6)
    assert found.matrix == pytest.approx(0)


def test_a_closed_circle_is_reported():
    """31 beats 25, 25 beats 27, 27 beats 29, 29 beats 31."""
    names = ("threshold:25", "threshold:27", "threshold:29", "threshold:31")
    found = standings(tour(roster(*names), deals=6000, luck=False))
    assert found.circle
    assert (found.mixture.shares > 0).sum() > 1
    assert any("No order from best to worst" in line for line in found.summary)
    assert any("unbeaten mixture" in line for line in found.summary)
    against = found.matrix @ found.mixture.shares
    assert against.max() <= 1e-9


def test_ratings_and_shares_agree_heads_up():
    found = standings(tour(roster("threshold:25", "random", "danish"), deals=60))
    best = np.argsort([rating.points.mean for rating in found.ratings])
    assert best[0] == 1
    assert found.won[1].mean < 0.05


def test_alone_among_copies():
    found = standings(tour(roster("threshold:25", "random"), players=3, pairing="lone"))
    row = next(r for r in found.tables[0].records() if r["policy"] == "threshold:25")
    assert row["won"] > 0.9
    assert 0.4 < row["won_as_field"] <= 0.5, "two copies share what random leaves"


def test_seats_are_a_table_of_their_own():
    found = standings(tour(roster("danish", "dutch", "swedish"), players=3, deals=60))
    seats = next(table for table in found.tables if table.name == "seats")
    for record, won in zip(seats.records(), found.won, strict=True):
        assert np.mean([record[f"won_{q}"] for q in (1, 2, 3)]) == pytest.approx(won.mean)


def test_the_exchange_family_is_played_too():
    rules = Rules.preset("schwimmen_a7")
    found = standings(tour(roster("danish", "threshold:28"), rules=rules))
    record = found.tables[0].records()[0]
    assert record["lives_per_round"] == pytest.approx(record["lives_plain"], abs=0.02)


def test_adjusting_for_luck_leaves_the_mean_and_narrows_the_interval():
    played = play_deals(
        roster("threshold:25", "threshold:27"), DANISH, np.arange(3000), 8, luck=True
    )
    plain, adjusted, worth = lives_per_round([(played, 0)], 0.95)
    assert abs(plain.mean - adjusted.mean) < 3 * plain.half
    assert adjusted.half < 0.85 * plain.half
    assert worth > 4 * 6000, "four times as many independent matches"


def test_too_few_deals_are_not_adjusted():
    totals, sizes = np.arange(10.0), np.ones(10)
    assert (adjusted_totals(totals, sizes, np.ones((10, 1))) == totals).all()


def test_coefficients_come_from_the_other_half():
    """Luck that is the total itself on even deals must not be used on those."""
    rng = np.random.default_rng(0)
    totals = rng.normal(size=200)
    luck = np.zeros((200, 1))
    luck[::2, 0] = totals[::2]
    adjusted = adjusted_totals(totals, np.ones(200), luck)
    assert (adjusted[::2] == totals[::2]).all()


# --- statistics of repeated tournaments ----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("threshold:25", 3), ("random", 4), ("swedish", 2)])
def test_copies_pass_one_joint_test_over_seats_and_copies(name, size):
    played = play_deals(roster(*[name] * size), DANISH, np.arange(20_000), 101)
    values = played.payoffs.reshape(len(played.payoffs), -1)
    assert joint_test(values) > 0.001, "seed 101"
    unfair = values + 0.03 * (np.arange(values.shape[1]) == 0)
    assert joint_test(unfair) < 0.001, "a seat and a copy that get a little more"


@pytest.mark.slow
def test_intervals_cover_the_truth_in_repeated_tournaments(monkeypatch):
    """A thousand small tournaments; the truth is their common mean, thirty times as sure."""
    monkeypatch.setattr("agents.evaluation.pairs.TRIALS", 1)
    policies = roster("threshold:25", "dutch")
    plain, adjusted, won, ratings, truth = [], [], [], [], []
    for seed in range(1000):
        plan = make_plan(policies, rules=DANISH, players=2, deals=100, seed=seed, pairing="duel")
        results = tournament.run(plan, policies, rules=DANISH)
        first, second, _ = lives_per_round([(results.line_ups[0], 0)], 0.95)
        found = standings(results)
        plain.append(first)
        adjusted.append(second)
        won.append(found.won[0])
        ratings.append(found.ratings[0].points)
        sums = results.line_ups[0].lives[:, :, 0].sum(), results.line_ups[0].dealt[:, :, 0].sum()
        truth.append((*sums, found.won[0].mean))
    lives, rounds, shares = np.array(truth).T
    share = shares.mean()
    for estimates, true in (
        (plain, lives.sum() / rounds.sum()),
        (adjusted, lives.sum() / rounds.sum()),
        (won, share),
        (ratings, 200 * np.log10(share / (1 - share))),
    ):
        covered = np.mean([e.low <= true <= e.high for e in estimates])
        assert 0.93 <= covered <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "least"),
    [
        (("threshold:25", "threshold:27"), 4.0),
        (("danish", "threshold:27"), 4.0),
        (("threshold:26", "threshold:28"), 4.0),
        (("swedish", "dutch"), 2.0),
        (("swedish", "threshold:25"), 2.0),
        (("danish", "dutch"), 2.0),
        (("threshold:25", "threshold:29"), 2.0),
    ],
)
def test_duplicates_and_adjustment_are_worth_so_many_matches(names, least):
    """In lives a round: four times for bots that draw alike, twice for others."""
    played = play_deals(roster(*names), DANISH, np.arange(10_000), 55, luck=True)
    _, _, worth = lives_per_round([(played, 0)], 0.95)
    assert worth / 20_000 >= least


@pytest.mark.slow
def test_the_adjustment_is_unbiased():
    """Paired over many tournaments, adjusted and plain results differ by nothing but chance."""
    gaps = []
    for seed in range(400):
        played = play_deals(roster("swedish", "dutch"), DANISH, np.arange(100), seed, luck=True)
        totals, sizes = played.lives[:, :, 0].sum(axis=1), played.dealt[:, :, 0].sum(axis=1)
        luck = played.luck[:, :, 0].sum(axis=1)
        gaps.append((adjusted_totals(totals, sizes, luck) - totals).mean())
    estimate, error = ratio_interval(np.array(gaps), np.ones(400))
    assert abs(estimate.mean) < 3.3 * error, "seeds 0 … 399"


# --- the command ---------------------------------------------------------------------------------


def words(*more):
    return ["tournament", "danish", "dutch", "threshold:27", "--deals", "40", *more]


@pytest.mark.parametrize("more", [(), ("--players", "3", "--pairing", "lone")])
def test_the_command_prints_a_table_that_fits(more, capsys):
    assert main(words(*more)) == 0
    out = capsys.readouterr().out
    assert "threshold:27" in out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_command_prints_json_and_csv(capsys):
    assert main(words("--format", "json", "--players", "3")) == 0
    data = json.loads(capsys.readouterr().out)
    assert {"standings", "pairs", "seats", "knocks", "lengths"} <= set(data)
    assert data["standings"]["units"]["won_low"] == "share of matches"
    assert len(data["line_ups"]) == 2
    assert main(words("--format", "csv")) == 0
    assert capsys.readouterr().out.startswith("policy,rating,rating_low,rating_high,won,")


def test_the_command_writes_a_page_and_goes_on_from_its_folder(tmp_path, capsys):
    assert main(words("--out", str(tmp_path))) == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.count("<svg") == 5
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)|url\((?!#)|@import""", page)
    assert (tmp_path / "pairs.csv").exists()
    before = (tmp_path / "tournament.json").read_bytes()
    assert main(words("--out", str(tmp_path))) == 0
    assert (tmp_path / "tournament.json").read_bytes() == before
    assert main(words("--out", str(tmp_path), "--seed", "9")) == 2
    assert "seed differ" in capsys.readouterr().err


def test_an_interrupt_is_told(tmp_path, capsys, monkeypatch):
    real, calls = tournament.play_deals, []

    def run(*args, **more):
        calls.append(1)
        if len(calls) > 4:
            raise KeyboardInterrupt
        return real(*args, **more)

    monkeypatch.setattr(tournament, "play_deals", run)
    deals = ("--deals", str(2 * tournament.CHUNK_DEALS), "--workers", "1", "--out", str(tmp_path))
    assert main(["tournament", "danish", "dutch", "threshold:27", *deals]) == 130
    captured = capsys.readouterr()
    assert "4 of 6 parts are finished, 256 of 512 deals" in captured.err
    assert "goes on from there" in captured.err
    assert "Standings" in captured.out
    assert "Not finished" in (tmp_path / "report.html").read_text("utf-8")


def test_parquet_needs_a_folder(capsys):
    assert main(words("--format", "parquet")) == 2
    assert "--out" in capsys.readouterr().err


def test_parquet_holds_the_units(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert main(words("--format", "parquet", "--out", str(tmp_path))) == 0
    table = parquet.read_table(tmp_path / "standings.parquet")
    assert table.schema.field("won").metadata == {b"unit": b"share of matches"}
    assert table.num_rows == 3


def test_learned_policies_enter_by_their_folder(tmp_path, capsys):
    threshold_policy(25).save(tmp_path)
    words = ["tournament", str(tmp_path), "threshold:25", "--deals", "40", "--format", "json"]
    assert main(words) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["rating"] for row in data["standings"]["rows"]] == pytest.approx([0, 0], abs=1e-6)


def test_shares_near_an_end_are_shown_by_their_ends():
    """100 % ± 17 would say that up to 117 % may be won."""
    won = Column("won", "won", "share of matches", "percent", interval=True)
    assert won.show(rate_interval(np.array([0.4, 0.5, 0.6, 0.5]))).count("±") == 1
    assert won.show(rate_interval(np.ones(10))) == "100.0 % (66.1–100.0)"
    assert won.show(rate_interval(np.zeros(10))) == "0.0 % (0.0–33.9)"
