"""The golden playthroughs are there, follow the rules and show what they are meant to show."""

import json

import pytest

from tests import playthroughs
from thirtyone_env.record import dump, read, replay
from thirtyone_env.rules import PRESETS


def test_every_preset_has_a_playthrough_and_every_playthrough_a_preset():
    files = {path.name.removesuffix(".jsonl") for path in playthroughs.FOLDER.glob("*.jsonl")}
    assert files == set(PRESETS), "make playthroughs writes what is missing"
    assert set(playthroughs.BRANCHES) == set(PRESETS)
    assert all(playthroughs.BRANCHES.values())


@pytest.mark.parametrize("preset", PRESETS)
def test_a_playthrough_replays_to_the_byte(preset):
    ((_, record),) = read(playthroughs.path_of(preset))
    assert record["preset"] == preset
    assert "unfinished" not in record
    assert dump(replay(record)) + "\n" == playthroughs.written(preset)


@pytest.mark.parametrize("preset", PRESETS)
def test_what_sets_a_preset_apart_occurs_in_its_playthrough(preset):
    record = json.loads(playthroughs.written(preset))
    assert record["rules"] == PRESETS[preset].to_dict()
    assert playthroughs.lacking(preset, record) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_the_bots_of_a_playthrough_play_it_again(preset):
    again = dump(playthroughs.played_again(preset)) + "\n"
    assert again == playthroughs.written(preset), "make playthroughs, then read the diff"


def test_a_match_in_which_something_is_lacking_is_noticed():
    record = json.loads(playthroughs.written("dutch"))
    assert "reshuffle" not in playthroughs.occurring(record)
    assert "reshuffle" in playthroughs.lacking("danish_reshuffle", record)
