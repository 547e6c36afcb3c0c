"""The figure of a learning curve shows what the panel said, against each bot at each table."""

import pytest

from agents.evaluation import chart
from agents.training.curve_figure import learning_curve

TEXT = """steps,score,low,high,threshold:25@2,danish@2,threshold:25@4,danish@4
1000000,0.4,0.3,0.5,0.51,0.41,0.21,0.31
3000000,0.5,0.4,0.6,0.62,0.52,0.32,0.42
"""


def test_each_bot_has_a_line_and_each_table_a_picture(tmp_path):
    path = tmp_path / "panel.csv"
    path.write_text(TEXT)
    figure = learning_curve(path)
    found = {
        (panel.get_title(loc="left"), line.get_label()): line.get_xydata().tolist()
        for panel in figure.axes
        for line in panel.get_lines()
        if not line.get_label().startswith("_")
    }
    expected = {
        ("Heads-up", "threshold:25"): [[1, 51], [3, 62]],
        ("Heads-up", "danish"): [[1, 41], [3, 52]],
        ("One of 4", "threshold:25"): [[1, 21], [3, 32]],
        ("One of 4", "danish"): [[1, 31], [3, 42]],
    }
    assert found.keys() == expected.keys()
    for key, points in expected.items():
        assert [x for point in found[key] for x in point] == pytest.approx(
            [x for point in points for x in point]
        )
    pars = [panel.get_lines()[-1].get_ydata()[0] for panel in figure.axes]
    assert pars == [50, 25]
    assert chart.png(figure)[:4] == b"\x89PNG"


def test_one_evaluation_is_no_curve(tmp_path):
    path = tmp_path / "panel.csv"
    assert learning_curve(path) is None
    path.write_text("\n".join(TEXT.splitlines()[:2]) + "\n")
    assert learning_curve(path) is None
