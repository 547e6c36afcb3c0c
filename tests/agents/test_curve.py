"""Curves: what TensorBoard reads is what was written, without what a stopped process wrote."""

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.training.curve import Curve, Scalars


def test_tensorboard_reads_the_scalars_once(tmp_path):
    folder = tmp_path / "tensorboard"
    first = Scalars(folder)
    for step in (1, 2, 3):
        first.add(step, {"run/reward": step / 2, "panel/score": 0.5})
    first.close()
    second = Scalars(folder, 2)  # the last checkpoint was that of step 2
    second.add(3, {"run/reward": 7.0, "panel/score": 0.25, "train/value_loss": float("nan")})
    second.close()
    read = EventAccumulator(str(folder))
    read.Reload()
    assert set(read.Tags()["scalars"]) == {"run/reward", "panel/score"}
    assert [(e.step, e.value) for e in read.Scalars("run/reward")] == [(1, 0.5), (2, 1.0), (3, 7.0)]


def test_a_curve_has_the_columns_that_it_began_with(tmp_path):
    curve = Curve(tmp_path / "curve.csv")
    curve.add(1, {"reward": 0.123456789, "loss": 2})
    with pytest.raises(ValueError, match="columns"):
        curve.add(2, {"reward": 1})
    assert (tmp_path / "curve.csv").read_text() == "steps,reward,loss\n1,0.12346,2.0\n"
    Curve(tmp_path / "curve.csv", 1).add(2, {"reward": 1, "loss": 2})
    assert len((tmp_path / "curve.csv").read_text().splitlines()) == 3
    Curve(tmp_path / "curve.csv", 0)
    assert (tmp_path / "curve.csv").read_text() == "steps,reward,loss\n"
