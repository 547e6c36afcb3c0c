"""Run folders and files: never the same folder twice, never half a file."""

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from agents.policies import files
from agents.training.config import KnockPpoConfig, load
from agents.training.run import new_folder, start


def test_folders_are_numbered(tmp_path):
    names = [new_folder(tmp_path / "runs", "a").name for _ in range(3)]
    assert names == ["a-1", "a-2", "a-3"]
    assert new_folder(tmp_path / "runs", "b").name == "b-1"


def test_numbers_go_on_above_the_highest(tmp_path):
    (tmp_path / "a-7").mkdir()
    (tmp_path / "a-b-9").mkdir()
    assert new_folder(tmp_path, "a").name == "a-8"


def test_many_at_once_get_folders_of_their_own(tmp_path):
    together = Barrier(8)

    def make(_):
        together.wait()
        return [new_folder(tmp_path / "runs", "a").name for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        names = [name for names in pool.map(make, range(8)) for name in names]
    assert len(set(names)) == 40
    assert sorted(names) == sorted(path.name for path in (tmp_path / "runs").iterdir())


def test_the_configuration_in_effect_is_kept(tmp_path):
    config = KnockPpoConfig(name="x", runs=str(tmp_path), steps=5)
    assert load(start(config) / "config.yaml") == config


def test_a_failed_write_leaves_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "file"
    files.write_text(path, "old")

    def fail(descriptor):
        raise OSError("no room")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no room"):
        files.write_text(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_files_have_the_usual_permissions(tmp_path):
    files.write_text(tmp_path / "written", "x")
    (tmp_path / "usual").write_text("x")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "usual").stat().st_mode
