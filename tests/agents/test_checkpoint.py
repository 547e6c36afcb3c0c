"""Checkpoints: they come back as they were, are never half there, and say what is wrong."""

import errno
import os
import random

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from agents.training.checkpoint import (
    CheckpointError,
    Checkpoints,
    generators,
    load,
    restore_generators,
)
from tests.engine.situations import fresh_seed

STATE = {
    "numbers": {"float": np.float32([[1, 2], [3, 4]]), "empty": np.zeros((0, 3), np.int64)},
    "tensor": torch.arange(3),
    "single": np.array(2.5),
    "flags": np.array([True, False]),
    "pairs": {0: {"step": torch.tensor(4.0)}, 1: {}},
    "list": [1, 2.5, "text", None, True, (1, (2, None))],
    "big": 1 << 120,
    "$strange": {"$array": "no array"},
}


def same(one, other):
    if isinstance(one, torch.Tensor):
        one = one.numpy()
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and all(map(same, one, other)) and len(one) == len(other)
    return type(one) is type(other) and one == other


def test_a_state_comes_back_as_it_was(tmp_path):
    assert same(STATE, load(Checkpoints(tmp_path / "c").save(7, STATE)))


def test_the_newest_and_the_one_before_it_are_kept(tmp_path):
    kept = Checkpoints(tmp_path / "c")
    assert kept.newest() is None
    for step in (5, 50, 500):
        kept.save(step, {"step": step})
    assert [load(path)["step"] for path in kept.paths()] == [500, 50]
    assert kept.newest() == {"step": 500}


def test_any_damage_is_noticed_and_the_one_before_is_taken(tmp_path):
    kept = Checkpoints(tmp_path / "c")
    kept.save(1, {"step": 1})
    path = kept.save(2, STATE)
    whole = path.read_bytes()
    rng = random.Random(fresh_seed())
    for _ in range(60):
        place = rng.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        for content in (whole[:place], bytes(flipped)):
            path.write_bytes(content)
            with pytest.raises(CheckpointError, match="is not a readable checkpoint") as caught:
                load(path)
            assert str(path) in str(caught.value)
            assert kept.newest() == {"step": 1}


def test_foreign_and_missing_files_are_named(tmp_path):
    path = tmp_path / "step-000000000003.safetensors"
    with pytest.raises(CheckpointError, match="no checkpoint at"):
        load(path)
    save_file({"x": np.zeros(3)}, path)
    with pytest.raises(CheckpointError, match="does not say thirtyone-checkpoint"):
        load(path)
    with pytest.raises(CheckpointError, match=path.name):
        Checkpoints(tmp_path).newest()


def test_a_full_disk_leaves_what_there_was(tmp_path, monkeypatch):
    kept = Checkpoints(tmp_path / "c")
    for step in (1, 2):
        kept.save(step, {"step": step})

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        kept.save(3, {"step": 3})
    assert kept.newest() == {"step": 2}
    assert len(list((tmp_path / "c").iterdir())) == 2


def test_what_cannot_be_saved_is_named(tmp_path):
    with pytest.raises(TypeError, match=r"model.optimizer: a object cannot be saved"):
        Checkpoints(tmp_path / "c").save(1, {"model": {"optimizer": object()}})
    with pytest.raises(TypeError, match="an array of object"):
        Checkpoints(tmp_path / "c").save(1, {"x": np.array([None])})


def test_generators_go_on_where_they_were(tmp_path):
    def drawn():
        return random.random(), np.random.random(), torch.rand(2).tolist()  # noqa: NPY002

    before = generators()
    try:
        path = Checkpoints(tmp_path / "c").save(1, generators())
        first = drawn()
        restore_generators(load(path))
        assert drawn() == first
    finally:
        restore_generators(before)
