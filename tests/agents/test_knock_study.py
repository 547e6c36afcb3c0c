"""Charts from decisions in play: what is counted, compared, printed and written."""

import csv
import io
import json

import numpy as np
import pytest

from agents.evaluation import knock_study
from agents.evaluation.cli import main
from agents.policies import ForeignPolicy, make
from tests.agents.small import threshold_policy
from thirtyone_env import Rules, make_bot

DANISH = Rules.preset("danish")


def sampled(*policies, among=None, **options):
    settings = {"rules": DANISH, "players": (2, 3), "deals": 150, "seed": 5} | options
    found, interrupted = knock_study.sample(policies, among=among, **settings)
    assert not interrupted
    return found


def test_a_threshold_is_found_again():
    (one,) = sampled(make("threshold:25"))
    for size in (2, 3):
        shares = one.shares(size)
        assert (shares[:, 25:].compressed() == 1).all()
        assert (shares[:, :25].compressed() == 0).all()
        assert shares.count() > 50


def test_bots_networks_and_foreign_policies_are_counted_alike():
    """Three forms of one policy come to the same decisions."""
    forms = [make("threshold:25"), threshold_policy(25), ForeignPolicy(make_bot("threshold:25"))]
    counts = [one.counts for one in sampled(*forms, among=make("danish"))]
    for other in counts[1:]:
        for size in (2, 3):
            assert np.array_equal(other[size].decisions, counts[0][size].decisions)
            assert np.array_equal(other[size].knocks, counts[0][size].knocks)


def test_only_the_policy_is_counted_among_others():
    (one,) = sampled(make("never_knock"), among=make("threshold:21"))
    assert one.counts[2].knocks.sum() == 0
    assert one.counts[2].decisions.sum() > 0


def test_workers_make_no_difference():
    one, two = (sampled(make("random"), deals=300, workers=w)[0].counts[2] for w in (1, 3))
    assert np.array_equal(one.decisions, two.decisions)
    assert np.array_equal(one.knocks, two.knocks)


def test_the_difference_lies_between_the_thresholds():
    one, other = sampled(make("threshold:23"), make("threshold:27"), players=(2,))
    less = knock_study.difference(one, other, 2)
    assert (less[:, 23:27].compressed() == 1).all()
    assert not less[:, :23].compressed().any()
    assert not less[:, 27:].compressed().any()
    assert "differ in" in knock_study.summary([one, other])[-1]


def run(capsys, *words):
    status = main(["chart", *words, "--deals", "60", "--seed", "3"])
    return status, capsys.readouterr()


def test_the_command_prints_what_was_counted(capsys):
    status, said = run(capsys, "threshold:25", "--players", "2", "--format", "csv")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(said.out)))
    for row in rows:
        assert int(row["knocked"]) == (int(row["asked"]) if int(row["value"]) >= 25 else 0)
    status, said = run(capsys, "threshold:25", "--players", "2", "--format", "json")
    data = json.loads(said.out)
    assert data["policies"] == ["threshold:25"]
    assert len(data["knock_chart"]["rows"]) == len(rows)
    status, said = run(capsys, "threshold:25", "--players", "2")
    assert "threshold:25, 2 players" in said.out
    assert "100 %" in said.out


def test_everything_is_written(capsys, tmp_path):
    words = ["threshold:25", "--against", "danish", "--players", "2,3", "--out", str(tmp_path)]
    assert run(capsys, *words, "--format", "parquet")[0] == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {
        "chart.json",
        "report.html",
        "knock_chart.csv",
        "knock_chart.parquet",
        "knock_chart.png",
        "knock_chart_other.svg",
        "difference.svg",
        "difference_3.csv",
    }
    assert "threshold:25 less danish" in (tmp_path / "report.html").read_text("utf-8")


def test_exchange_rules_have_charts_too(capsys):
    status, said = run(capsys, "threshold:27", "--rules", "schwimmen_a7", "--players", "3")
    assert status == 0
    assert "27" in said.out


def test_a_policy_that_never_may_knock(capsys, tmp_path):
    words = ["random", "--house-rules", "min_knock=31", "--players", "2", "--out", str(tmp_path)]
    status, said = run(capsys, *words)
    assert status == 0
    assert "never knocks" in said.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a policy"),
        (["danish", "--players", "1"], "1"),
        (["chart:danish", "--rules", "dutch"], "danish"),
        (["nobody"], "neither a bot"),
    ],
)
def test_what_cannot_be_charted_is_refused(capsys, words, message):
    status, said = run(capsys, *words)
    assert status == 2
    assert message in said.err
