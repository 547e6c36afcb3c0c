"""Matches step by step: what is played, told and shown, and what stays hidden."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from agents.evaluation.cli import main
from agents.evaluation.live import LiveMatch, replayed
from agents.evaluation.picture import table_picture
from agents.evaluation.watch import Show, lines_of, show_match
from agents.policies import make
from agents.policies.choices import Decider
from agents.policies.lots import WORDS, stream_before
from tests.agents.small import small_policy, threshold_policy
from thirtyone_env import Rules, make_bot
from thirtyone_env.actions import KNOCK, NUM_ACTIONS
from thirtyone_env.cards import BIT, cards_of
from thirtyone_env.charts import Chart
from thirtyone_env.game import legal_actions, new_match, value_of
from thirtyone_env.record import dump, play_match, read
from thirtyone_env.state import NOBODY, Phase

DANISH = Rules.preset("danish")
TABLES = [
    ("danish", ["random", "threshold:25", "danish"]),
    ("schwimmen_a7", ["random", "threshold:25", "random", "threshold:29"]),
    ("swedish", ["swedish", "chart:swedish"]),
]


def played(names, preset="danish", deal=0, seed=3):
    """A match between bots that is over."""
    match = LiveMatch(Rules.preset(preset), [make(name) for name in names], seed=seed, deal=deal)
    moments = list(match.play())
    assert match.over
    return match, moments


@pytest.mark.parametrize(("preset", "names"), TABLES)
def test_a_live_match_is_the_match_that_the_kernel_plays(preset, names):
    for deal in range(4):
        match, moments = played(names, preset, deal)
        whole = play_match(Rules.preset(preset), names, seed=3, deal=deal)
        assert dump(match.recorder.record) == dump(whole)
        told = [event for moment in moments for event in moment.events]
        assert told == [event for row in whole["rounds"] for event in row["events"]]


@pytest.mark.parametrize(("preset", "names"), TABLES)
def test_a_replay_tells_the_same(preset, names):
    match, moments = played(names, preset)
    again = list(replayed(match.recorder.record, [make("threshold:21")]))
    assert [m.events for m in again] == [m.events for m in moments]
    assert [m.dealt for m in again] == [m.dealt for m in moments]
    assert all("threshold:21" in m.chances for m in again if m.events)


def test_a_reshuffle_is_replayed():
    rules = Rules.preset("danish", stock_out="reshuffle", max_turns=300)
    names = ["never_knock", "never_knock"]
    for deal in range(20):
        record = play_match(rules, names, seed=1, deal=deal)
        events = [e for row in record["rounds"] for e in row["events"]]
        told = [event for moment in replayed(record) for event in moment.events]
        assert told == events
        if any(event["action"] == "reshuffle" for event in events):
            return
    raise AssertionError("no match with a reshuffle; look for another seed")


def test_a_network_plays_as_in_a_tournament():
    """The same decisions whether it is asked alone or in a batch."""
    from agents.evaluation.match import play_deals

    line_up = [threshold_policy(25), make("danish")]
    whole = play_deals(line_up, DANISH, np.arange(5), 3)
    for deal in range(5):
        match = LiveMatch(DANISH, line_up, seed=3, deal=deal)
        list(match.play(chances=False))
        assert match.recorder.record["returns"] == whole.payoffs[deal, 0].tolist()


def test_probabilities_of_a_network():
    states = new_match(DANISH, 2, seed=5)
    policy = small_policy()
    found = Decider(policy, DANISH, 2).probabilities(states)
    assert sum(found.values()) == pytest.approx(1)
    assert len(found) == 2
    assert KNOCK in found


def test_a_bot_without_lots_is_certain():
    states = new_match(DANISH, 3, seed=5)
    decider = Decider(make("danish"), DANISH, 3)
    before = states.tobytes()
    found = decider.probabilities(states)
    assert found == {decider.action(states): 1.0}
    assert states.tobytes() == before


def test_a_bot_that_draws_lots_says_its_odds_and_is_not_moved_by_the_question():
    states = new_match(DANISH, 3, seed=5)
    decider = Decider(make("random"), DANISH, 3)
    before = states.tobytes()
    found = decider.probabilities(states)
    assert found == pytest.approx(dict.fromkeys(legal_actions(states), 0.25))
    assert states.tobytes() == before
    assert decider.action(states) in found
    assert states.tobytes() != before, "its random stream moves on with the decision"


def test_a_chart_says_what_stands_in_it():
    """With nothing to take and nobody having picked up: the cells of the first turn."""
    chart = Chart.load("danish")
    decider, seen = Decider(make("chart:danish"), DANISH, 3), set()
    for deal in range(400):
        states = new_match(DANISH, 3, seed=deal)
        hand, bit = int(states["hands"][0, int(states["seat"][0])]), int(BIT[states["upcard"][0]])
        value = value_of(states, hand)
        taken = [hand ^ int(BIT[card]) | bit for card in cards_of(hand)]
        if states["phase"][0] != Phase.TURN or max(value_of(states, t) for t in taken) > value:
            continue
        bins = (value - chart.axes.first_value) // chart.axes.value_step
        bins = min(max(bins, 0), chart.axes.values - 1)
        share = chart.probabilities[1, 0, 0, 0, 0, 0, 0, bins]
        assert decider.probabilities(states).get(KNOCK, 0.0) == pytest.approx(share)
        seen.add(share)
    assert len(seen - {0.0, 1.0}) >= 1, "one that mixes was seen"


@pytest.mark.parametrize(
    ("name", "players"), [("chart:danish", 3), ("solver:danish", 2), ("random", 4)]
)
def test_odds_are_those_of_many_decisions(name, players):
    decider, tried = Decider(make(name), DANISH, players), 0
    for deal in range(300):
        states = new_match(DANISH, players, seed=deal)
        found = decider.probabilities(states)
        assert sum(found.values()) == pytest.approx(1)
        if len(found) == 1:
            continue
        tried += 1
        counts = dict.fromkeys(found, 0)
        for _ in range(400):
            counts[decider.action(states)] += 1
        for action, chance in found.items():
            spread = 5 * np.sqrt(chance * (1 - chance) / 400)
            assert abs(counts[action] / 400 - chance) <= spread + 1e-9
        if tried == 5:
            return
    assert tried, "a decision that is mixed"


@given(word=st.integers(0, WORDS - 1))
def test_a_stream_gives_the_number_that_was_wished_for(word):
    """The generator written out once more, after Steele, Lea and Flood."""
    whole = (1 << 64) - 1
    mixed = (int(stream_before(word)) + 0x9E3779B97F4A7C15) & whole
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & whole
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & whole
    assert (mixed ^ (mixed >> 31)) >> 32 == word


class Hesitant:
    """Likes everything alike, and says so."""

    name, controller = "hesitant", "external"

    def check(self, rules, num_players):
        pass

    def act_batch(self, tables, rows):
        return tables.action_mask(rows).argmax(axis=1)

    def action_probabilities(self, tables, row):
        mask = tables.action_mask([row])[0]
        return {action: 1 / mask.sum() for action in range(NUM_ACTIONS) if mask[action]}


def test_a_policy_may_say_its_probabilities():
    states = new_match(DANISH, 2, seed=5)
    found = Decider(Hesitant(), DANISH, 2).probabilities(states)
    assert found == dict.fromkeys(range(4), 0.25)


@pytest.mark.parametrize("answer", [np.array([64]), np.array([1, 1]), np.array(["knock"])])
def test_a_wrong_answer_is_refused(answer):
    policy = Hesitant()
    policy.act_batch = lambda tables, rows: answer
    with pytest.raises(ValueError, match="hesitant"):
        Decider(policy, DANISH, 2).action(new_match(DANISH, 2, seed=5))


def hidden_names(states, viewer):
    """The cards that a viewer does not see."""
    from thirtyone_env.cards import NAMES
    from thirtyone_env.render.seen import hand_seen

    found = set()
    for seat in range(int(states["num_players"][0])):
        seen, _ = hand_seen(states, seat, viewer)
        found |= {NAMES[c] for c in cards_of(int(states["hands"][0, seat])) if c not in seen}
    return found


@pytest.mark.parametrize("viewer", [NOBODY, 0, 1])
@pytest.mark.parametrize(("preset", "names"), TABLES[:2])
def test_hidden_cards_are_neither_drawn_nor_told(preset, names, viewer):
    rules = Rules.preset(preset)
    show = Show(viewer, 1, False, True)
    match = LiveMatch(rules, [make(name) for name in names], seed=8, deal=1)
    shown = 0
    for moment in match.play():
        if moment.settled:
            continue
        hidden = hidden_names(moment.states, viewer)
        told = " ".join(lines_of(moment, names, show))
        assert not [card for card in hidden if card in told]
        console = Console(width=200, file=io.StringIO(), legacy_windows=False)
        console.print(table_picture(moment.states, names, viewer))
        text = console.file.getvalue()
        assert ("▒▒" in text) == bool(hidden)
        for card in hidden:
            symbol = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}[card[1]]
            assert f"{'10' if card[0] == 'T' else card[0]}{symbol}" not in text
        shown += bool(hidden)
    assert shown > 10


def test_watching_prints_lines_where_there_is_no_terminal(capsys, tmp_path):
    file = tmp_path / "match.jsonl"
    words = ["watch", "threshold:25", "danish", "--seed", "4", "--record", str(file)]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "threshold:25 (0) knocks" in text
    assert "wins the match" in text
    [(_, record)] = list(read(file))
    assert dump(record) == dump(play_match(DANISH, ["threshold:25", "danish"], seed=4, deal=0))
    assert main(["replay", str(file)]) == 0
    assert capsys.readouterr().out == text


def test_json_lines(capsys, tmp_path):
    assert main(["watch", "danish", "--players", "3", "--hidden", "--format", "json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    drawn = [line for line in lines if line["action"] == "draw_stock"]
    assert drawn
    assert not any("card" in line or "probabilities" in line for line in drawn)
    assert lines[-1]["action"] == "end"
    assert {line["seat"] for line in lines} <= {0, 1, 2, None}


def test_a_terminal_shows_the_table():
    console = Console(width=80, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    match = LiveMatch(DANISH, [threshold_policy(25), make("danish")], seed=3, deal=0)
    show_match(match.play(), match.names, Show(None, 1e6, False, False), console)
    text = console.file.getvalue()
    assert "danish, round 1" in text
    assert "♥" in text
    assert "100 %" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["watch"], "at least one policy"),
        (["watch", "danish", "--seat", "2"], "seats are 0 … 1"),
        (["watch", "danish", "--speed", "0"], "not above 0"),
        (["watch", "danish", "--seat", "1", "--hidden"], "exclude each other"),
        (["watch", "danish", "dutch", "random", "--players", "2"], "--players 2 for 3"),
        (["watch", "danish", "--players", "99"], "99"),
        (["replay", "/nowhere.jsonl"], "No such file"),
    ],
)
def test_what_cannot_be_watched_is_refused(words, message, capsys):
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_a_broken_record_is_refused(capsys, tmp_path):
    record = play_match(DANISH, ["danish", "danish"], seed=4, deal=0)
    record["rounds"][0]["events"][0]["seat"] = 1 - record["rounds"][0]["events"][0]["seat"]
    file = tmp_path / "bad.jsonl"
    file.write_text(dump(record) + "\n")
    assert main(["replay", str(file)]) == 2
    assert "acts where seat" in capsys.readouterr().err
    assert main(["replay", str(file), "--match", "2"]) == 2
    assert "has matches 1 … 1" in capsys.readouterr().err


def test_search_bots_are_asked_too():
    match = LiveMatch(DANISH, [make("search:20"), make("danish")], seed=2, deal=0)
    moment = match.deal()
    while moment.seat != 0:
        moment = match.go_on()
    ((name, found),) = moment.chances.items()
    assert (name, list(found.values())) == (make_bot("search:20").name, [1.0])
