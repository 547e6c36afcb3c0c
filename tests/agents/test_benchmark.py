"""Benchmarks, their files, figures and page, and the command that makes them."""

import csv
import io
import json
import re

import pytest

from agents.evaluation import benchmark, chart, report
from agents.evaluation.cli import main
from agents.evaluation.match import KnockCounts
from agents.policies import ScriptedPolicy
from tests.agents.small import small_policy, threshold_policy
from thirtyone_env import Rules

DANISH = Rules.preset("danish")
OPPONENTS = [ScriptedPolicy("random"), ScriptedPolicy("threshold:29")]


def bench(policies, opponents=OPPONENTS, **options):
    settings = {"rules": DANISH, "players": (2, 4), "deals": 60, "seed": 5} | options
    return benchmark.run(policies, opponents, **settings)


@pytest.fixture(scope="module")
def results():
    return bench([threshold_policy(25, players=(2, 4))])


def test_one_row_a_pairing_and_table(results):
    assert [(row.players, row.opponent) for row in results.rows] == [
        (2, "random"),
        (2, "threshold:29"),
        (4, "random"),
        (4, "threshold:29"),
    ]
    for row in results.rows:
        assert row.matches == row.deals * row.players
        assert row.win_rate_low <= row.win_rate <= row.win_rate_high
        assert row.payoff == pytest.approx((row.players * row.win_rate - 1) / (row.players - 1))
    assert results.rows[0].verdict == "above"


def test_a_bot_against_itself_is_at_par():
    row = bench([ScriptedPolicy("danish")], [ScriptedPolicy("danish")]).rows[0]
    assert (row.win_rate, row.verdict) == (0.5, "at")
    row = bench([ScriptedPolicy("random")], [ScriptedPolicy("random")], players=(3,)).rows[0]
    assert row.verdict == "at", "its win rate is a third but for rounding"


def test_the_files_hold_the_same_numbers(results):
    data = json.loads(benchmark.to_json(results))
    lines = list(csv.DictReader(io.StringIO(benchmark.to_csv(results))))
    for row, from_json, line in zip(results.rows, data["rows"], lines, strict=True):
        assert from_json["win_rate"] == row.win_rate == float(line["win_rate"])
        assert from_json["verdict"] == line["verdict"] == row.verdict
    first = data["knocks"][0]
    counts = results.knocks[first["policy"], first["players"], first["opponent"]]
    assert first["knocks"] == counts.knocks.tolist()


def test_two_workers_write_the_same_bytes():
    one, two = (benchmark.to_json(bench([small_policy()], workers=w)) for w in (1, 2))
    assert one == two


def test_wrong_line_ups_are_refused():
    with pytest.raises(ValueError, match="two policies are called 'small'"):
        bench([small_policy(), small_policy()])
    with pytest.raises(ValueError, match="not of 3"):
        bench([small_policy()], players=(3,))
    with pytest.raises(ValueError, match="deals = 1 is not allowed; allowed: 2 or more"):
        bench([ScriptedPolicy("danish")], deals=1)


def test_everything_is_written(results, tmp_path):
    page = report.write(results, tmp_path, title="A <title>", facts={"Steps": "5"}, repeat="x --y")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "benchmark.csv",
        "benchmark.json",
        "knock_chart.png",
        "knock_chart.svg",
        "report.html",
        "win_rates.png",
        "win_rates.svg",
    ]
    text = page.read_text("utf-8")
    assert "A &lt;title&gt;" in text
    assert text.count("<svg") == 2
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)|url\((?!#)|@import""", text), (
        "works offline"
    )
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    for target in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text):
        assert "".join(target) in ids
    for section in report.sections(results):
        for row in section.rows:
            assert all(cell in text for cell in row[:4])


def test_drawing_twice_gives_the_same_bytes(results):
    assert chart.svg_file(chart.win_rates(results)) == chart.svg_file(chart.win_rates(results))
    one, two = (chart.png(chart.knock_chart(results, "net:25")) for _ in range(2))
    assert one == two


def test_several_policies_share_a_report(tmp_path):
    results = bench([threshold_policy(25), threshold_policy(27), ScriptedPolicy("danish")])
    report.write(results, tmp_path, title="Three")
    assert (tmp_path / "net:25-knock_chart.png").exists()
    assert (tmp_path / "net:27-knock_chart.svg").exists()


def test_opponents_count_alike_in_the_knock_chart():
    def counts(decisions, knocks):
        empty = KnockCounts.empty()
        empty.decisions[0, 25], empty.knocks[0, 25] = decisions, knocks
        return empty

    knocks = {
        ("p", 2, "a"): counts(10, 10),
        ("p", 2, "b"): counts(1000, 500),
        ("p", 2, "c"): counts(chart.MIN_DECISIONS - 1, 0),
        ("p", 4, "a"): counts(10, 0),
    }
    results = benchmark.Benchmark(DANISH, 1, 0.95, (), knocks)
    shares = chart.knock_shares(results, "p", 2)
    assert shares[0, 25] == 0.75
    assert shares.count() == 1


def test_a_bot_has_no_knock_chart(tmp_path):
    results = bench([ScriptedPolicy("danish")])
    with pytest.raises(ValueError, match="too few knock decisions"):
        chart.knock_chart(results, "danish")
    report.write(results, tmp_path, title="A bot")
    assert not list(tmp_path.glob("*knock_chart*"))


def words(*more):
    return ["benchmark", "--deals", "40", "--opponents", "random,threshold:25", *more]


def test_the_command_prints_json(capsys):
    assert main(words("danish", "--players", "2,3", "--format", "json")) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["players"] for row in data["rows"]] == [2, 2, 3, 3]


def test_the_command_prints_a_table_that_fits(capsys, tmp_path):
    small_policy().save(tmp_path)
    assert main(words(str(tmp_path), "--out", str(tmp_path / "out"))) == 0
    out = capsys.readouterr().out
    assert "threshold:25" in out
    assert max(map(len, out.splitlines())) <= 80
    assert (tmp_path / "out" / "report.html").exists()


def test_the_command_writes_parquet(tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert main(words("danish", "--format", "parquet", "--out", str(tmp_path))) == 0
    table = parquet.read_table(tmp_path / "benchmark.parquet")
    assert table.num_rows == 4
    assert table.schema.field("payoff").metadata == {b"unit": b"stakes a match"}
    assert main(words("danish", "--format", "parquet")) == 2
    assert "--out" in capsys.readouterr().err


def test_the_command_plays_house_rules(capsys):
    more = ("threshold:21", "--house-rules", "min_knock=25,lives=1", "--format", "csv")
    assert main(words(*more)) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[1]["win_rate"] == "0.5", "threshold:21 is threshold:25 where 25 is the least"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "name at least one policy"),
        (("dannish",), "did you mean 'danish'"),
        (("danish", "--rules", "danisch"), "danish"),
        (("danish", "--players", "99"), "num_players"),
        (("danish", "--house-rules", "min_nock=3"), "min_knock"),
        (("danish", "danish"), "two policies are called"),
    ],
)
def test_the_command_refuses_what_is_wrong(more, message, capsys):
    assert main(words(*more)) == 2
    assert message in capsys.readouterr().err
