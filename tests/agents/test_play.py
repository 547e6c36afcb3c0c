"""A person at the table: what is understood, what is explained, and how one leaves."""

import builtins

import pytest

from agents.evaluation.cli import main
from agents.evaluation.play import NotPossible, offered, understood
from thirtyone_env import Rules
from thirtyone_env.actions import KNOCK, PASS, SWAP_ALL, parse_action
from thirtyone_env.game import legal_names, new_match, step
from thirtyone_env.record import check_file, read


def at_table(preset="danish", taken="", **options):
    """A table at which seat 0 holds known cards and begins."""
    rules = options.pop("rules", Rules.preset(preset))
    deck = options.pop("deck", "Kh 2s 9h 3s 4c 5s 7d")
    states = new_match(rules, 2, dealer=1, deck=deck, **options)
    for name in taken.split(", ") if taken else []:
        step(states, parse_action(name))
    return states


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("k", "knock"),
        ("KNOCK", "knock"),
        ("take upcard", "take_upcard"),
        ("take", "take_upcard"),
        ("u", "take_upcard"),
        ("draw-stock", "draw_stock"),
        ("s", "draw_stock"),
    ],
)
def test_actions_are_understood(text, name):
    assert understood(text, at_table()) == parse_action(name)


@pytest.mark.parametrize("text", ["Kh", "kh", "discard Kh", "KH"])
def test_cards_are_understood(text):
    assert understood(text, at_table(taken="draw_stock")) == parse_action("discard Kh")


def test_ten_is_a_card():
    states = at_table(deck="Th 2s 9h 3s 4c 5s 7d", taken="draw_stock")
    assert understood("10h", states) == understood("Th", states) == parse_action("discard Th")


@pytest.mark.parametrize(
    ("text", "situation", "reason"),
    [
        ("knokc", {}, "did you mean 'knock'"),
        ("Zz", {}, "is no action"),
        ("Kh", {}, "first draw"),
        ("7d", {}, "say 'take upcard'"),
        ("a", {}, "not possible now"),
        ("keep", {}, "not possible now"),
        ("k", {"taken": "draw_stock"}, "now discard"),
        ("2s", {"taken": "draw_stock"}, "not in your hand"),
        ("7d", {"taken": "take_upcard"}, "may not go back"),
        ("k", {"taken": "knock"}, "seat 0 has knocked already"),
        ("k", {"rules": Rules.preset("danish", min_knock=25)}, "worth 25 to knock; yours is"),
        ("k", {"rules": Rules.preset("danish", first_turn_knock=False)}, "first turn"),
        ("p", {"rules": Rules.preset("danish", pass_allowed="never")}, "know no passing"),
        ("p", {"rules": Rules.preset("danish", pass_allowed="final_turn")}, "only after"),
    ],
)
def test_mistakes_are_explained(text, situation, reason):
    states = at_table(**situation)
    before = states.tobytes()
    with pytest.raises(NotPossible, match=reason):
        understood(text, states)
    assert states.tobytes() == before


def test_mistakes_are_explained_in_the_exchange_family():
    states = new_match("schwimmen_a7", 2, dealer=1, seed=3)
    while "keep" in legal_names(states):
        with pytest.raises(NotPossible, match="keeps or refuses"):
            understood("k", states)
        step(states, parse_action("keep"))
    assert understood("all", states) == SWAP_ALL
    assert understood("pass", states) == PASS
    with pytest.raises(NotPossible, match="not in your hand"):
        understood("X1", states)
    given = next(name for name in legal_names(states) if name.startswith("give"))
    step(states, parse_action(given))
    with pytest.raises(NotPossible, match="say which card"):
        understood("take", states)
    with pytest.raises(NotPossible, match="not on the table"):
        understood(given.split()[1], states)
    with pytest.raises(NotPossible, match="take one from the table"):
        understood("knock", states)


def test_what_is_offered():
    assert offered(at_table()).plain == ("s draw stock  ·  u take upcard 7♦  ·  k knock  ·  p pass")
    assert offered(at_table(taken="take_upcard")).plain == "discard 4♣, 9♥, K♥"


def play(monkeypatch, words, typed):
    """Run the command with what a person types: texts, or an error to be raised."""
    answers = iter(typed)

    def asked(prompt=""):
        answer = next(answers, EOFError())
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr(builtins, "input", asked)
    return main(["play", *words])


@pytest.mark.parametrize(
    ("last", "status"), [("q", 0), (EOFError(), 0), (KeyboardInterrupt(), 130)]
)
def test_leaving_keeps_the_record(monkeypatch, capsys, tmp_path, last, status):
    file = tmp_path / "mine.jsonl"
    words = ["danish", "--seed", "5", "--seat", "1", "--record", str(file)]
    assert play(monkeypatch, words, ["nonsense", "s", last]) == status
    text = capsys.readouterr().out
    assert "you left in round 1 with 3 lives" in text
    assert "'nonsense' is no action" in text
    assert str(file) in text
    [(_, record)] = list(read(file))
    assert record["unfinished"]
    assert record["policies"] == ["danish", None]
    assert check_file(file) == 1


def test_a_whole_match(monkeypatch, capsys, tmp_path):
    """Somebody who always knocks, in a match of one life."""
    file = tmp_path / "mine.jsonl"
    words = ["never_knock", "--house-rules", "lives=1", "--seed", "7", "--record", str(file)]
    assert play(monkeypatch, words, ["k"] * 50) == 0
    assert "match" in capsys.readouterr().out.splitlines()[-2]
    [(_, record)] = list(read(file))
    assert "unfinished" not in record
    assert check_file(file) == 1
    knocks = [e for row in record["rounds"] for e in row["events"] if e["action"] == "knock"]
    assert {event["seat"] for event in knocks} == {0}
    assert parse_action("knock") == KNOCK


def test_hints_and_help(monkeypatch, capsys):
    assert play(monkeypatch, ["danish", "--seed", "5", "--hints", "50"], ["?", "hint", "q"]) == 0
    text = capsys.readouterr().out
    assert "50 deals" in text
    assert "what every action is worth" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["danish", "--seat", "2"], "seats are 0 … 1"),
        (["danish", "dutch", "--players", "2"], "for you and 2 opponents"),
        (["danish", "--hints", "1"], "at least 2"),
        (["danish", "--rules", "nothing"], "nothing"),
    ],
)
def test_what_cannot_be_played_is_refused(words, message, capsys):
    assert main(["play", *words]) == 2
    assert message in capsys.readouterr().err
