"""The checker against records written by hand, and against every way of spoiling them."""

import copy
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from . import checker, scorer
from .checker import Events, Fault, Match, Options, Tally, check_file, check_match

Record = dict[str, Any]
Path_ = tuple[Any, ...]

# ---------------------------------------------------------------------------------------------
# Writing records by hand: "9c Kh" is a list of cards, "0 discard 9c" an event, "-" no seat


def cards(text: str) -> list[str]:
    return text.split()


def event(text: str) -> dict[str, Any]:
    seat, action, *named = text.split()
    made: dict[str, Any] = {"seat": None if seat == "-" else int(seat), "action": action}
    if action in ("renew_table", "reshuffle"):
        return made | {"cards": named}
    return made | ({"card": named[0]} if named else {})


def house(preset: str, **changes: Any) -> Record:
    return checker.preset_rules(preset) | changes


def round_(
    rules: Record,
    dealer: int,
    hands: list[str],
    events: list[str],
    *,
    top: str = "",
    upcard: str | None = None,
    table: str | None = None,
    decider: bool = False,
    end: str | None = None,
    values: list[Any] | None = None,
    final: list[str] | None = None,
    losses: list[int] | None = None,
    lives: list[int] | None = None,
    free_ride: list[bool] | None = None,
    eliminated: list[int] | None = None,
) -> Record:
    """A round; the stock is `top`, then the rest of the deck in its order."""
    used = {*cards(" ".join(hands)), *cards(top), upcard}
    stock = cards(top) + [card for card in checker.deck_in_use(rules) if card not in used]
    known = lives is not None
    return {
        "dealer": dealer,
        "in_play": [seat for seat, hand in enumerate(hands) if hand],
        "decider": decider,
        "hands": [cards(hand) for hand in hands],
        "upcard": upcard,
        "table": None if table is None else cards(table),
        "stock": stock,
        "events": [event(text) for text in events],
        "end": end,
        "values": values,
        "final_hands": [cards(hand) for hand in final or hands] if end else None,
        "losses": losses,
        "lives": lives,
        "free_ride": (free_ride or [False] * len(hands)) if known else None,
        "eliminated": (eliminated or []) if known else None,
    }


def record(
    rules: Record,
    rounds: list[Record],
    *,
    seats: int,
    preset: str | None = None,
    winner: int | None = None,
    returns: list[float] | None = None,
    pot: int | None = None,
) -> Record:
    """A match; without returns an unfinished one."""
    made: Record = {
        "format": "thirtyone-record",
        "version": 1,
        "preset": preset,
        "rules": rules,
        "num_players": seats,
        "seed": 7,
        "deal": None,
        "policies": [None, "random"] + ["danish"] * (seats - 2),
        "rounds": rounds,
        "winner": winner,
        "returns": returns,
        "pot": seats if pot is None else pot,
    }
    return made if returns is not None else made | {"unfinished": True}


# ---------------------------------------------------------------------------------------------
# Matches written by hand


def danish() -> Record:
    rules = house("danish")
    first = round_(
        rules,
        0,
        ["4c 9h Kh", "8c Ad 4s"],
        [
            *("1 draw_stock 2s", "1 discard 4s", "0 take_upcard 4s", "0 discard 4c"),
            *("1 knock", "0 pass"),
        ],
        upcard="7d",
        top="2s Jh",
        end="knock",
        values=[19, 11],
        final=["9h Kh 4s", "8c Ad 2s"],
        losses=[0, 2],
        lives=[3, 1],
    )
    second = round_(
        rules,
        1,
        ["3c Qh Kh", "7c 7d 2h"],
        ["0 draw_stock Ah", "0 discard 3c"],
        upcard="5s",
        top="Ah",
        end="blitz",
        values=[31, 7],
        final=["Qh Kh Ah", "7c 7d 2h"],
        losses=[0, 1],
        lives=[3, 0],
        eliminated=[1],
    )
    return record(rules, [first, second], seats=2, preset="danish", winner=0, returns=[1.0, -1.0])


def schwimmen_house() -> Record:
    rules = house("schwimmen_a7", lives=1)
    first = round_(
        rules,
        0,
        ["7c 8d 9h", "Tc Kc 7s"],
        ["0 refuse", "1 give 7s", "1 take 7c"],
        top="Ad Kd Qd",
        table="7c 8d 9h",
        end="dealt_blitz",
        values=[31, 27],
        final=["Qd Kd Ad", "7c Tc Kc"],
        losses=[0, 1],
        lives=[1, 0],
        free_ride=[False, True],
    )
    second = round_(
        rules,
        1,
        ["Tc Jd 9s", "Qd Th 8s"],
        [
            *("1 keep", "0 pass", "1 pass", "- renew_table 9c 9d 9h"),
            *("0 pass", "1 knock", "0 pass"),
        ],
        top="7c 7d 8h 9c 9d 9h",
        table="7c 7d 8h",
        end="knock",
        values=[10, 10],
        losses=[0, 1],
        lives=[1, 0],
        eliminated=[1],
    )
    return record(rules, [first, second], seats=2, winner=0, returns=[1.0, -1.0])


def schwimmen_cut() -> Record:
    rules = house("schwimmen_a7")
    first = round_(
        rules,
        2,
        ["Ac Ad Ah", "7c 8c 9c", "Qh Kh Js"],
        ["2 keep", "1 swap_all", "2 give Js", "2 take 9c"],
        top="Jd Qd Kd",
        table="Jd Qd Kd",
        end="dealt_blitz",
        values=[32, 30, 20],
        final=["Ac Ad Ah", "Jd Qd Kd", "9c Qh Kh"],
        losses=[0, 0, 1],
        lives=[3, 3, 2],
    )
    second = round_(
        rules,
        0,
        ["7c 7d 7h", "8c 8d 9h", "Kc Ts As"],
        ["0 keep", "1 give 9h"],
        top="Ad 9c 9s",
        table="Ad 9c 9s",
    )
    return record(rules, [first, second], seats=3, preset="schwimmen_a7")


def decider() -> Record:
    rules = house("danish", lives=1, knocker_tie="shares", max_turns=3)
    nines = ["2c 5d 9h", "9c 3d 4h", "5c 2d 9s"]
    leads = round_(
        rules,
        0,
        nines,
        ["1 knock", "2 pass", "0 pass"],
        upcard="As",
        end="knock",
        values=[9, 9, 9],
        losses=[1, 1, 1],
        lives=[0, 0, 0],
    )
    void = round_(
        rules,
        1,
        ["2c 3d 4h", "Kc 5d 3s", "4c 2d 6h"],
        ["2 pass", "0 pass", "1 pass"],
        upcard="As",
        decider=True,
        end="max_turns",
        values=[4, 10, 6],
        losses=[0, 0, 0],
        lives=[0, 0, 0],
    )
    again = round_(
        rules,
        2,
        nines,
        ["0 knock", "1 pass", "2 pass"],
        upcard="As",
        decider=True,
        end="knock",
        values=[9, 9, 9],
        losses=[1, 1, 1],
        lives=[0, 0, 0],
    )
    narrows = round_(
        rules,
        0,
        ["2c 3d 4h", "Kc 5d 3s", "4c 2d 6h"],
        ["1 knock", "2 pass", "0 pass"],
        upcard="As",
        decider=True,
        end="knock",
        values=[4, 10, 6],
        losses=[1, 0, 0],
        lives=[0, 0, 0],
        eliminated=[0],
    )
    last = round_(
        rules,
        1,
        ["", "Qc 2d 3h", "5c 6d 7h"],
        ["2 knock", "1 pass"],
        upcard="As",
        decider=True,
        end="knock",
        values=[None, 10, 7],
        losses=[0, 0, 2],
        lives=[0, 0, 0],
        eliminated=[2],
    )
    rounds = [leads, void, again, narrows, last]
    return record(rules, rounds, seats=3, winner=1, returns=[-0.5, 1.0, -0.5])


def decider_draw() -> Record:
    rules = house("danish", lives=1, knocker_tie="shares", decider="draw")
    first = round_(
        rules,
        2,
        ["2c 5d 9h", "9c 3d 4h", "4c 2d 6h"],
        ["0 knock", "1 pass", "2 pass"],
        upcard="As",
        end="knock",
        values=[9, 9, 6],
        losses=[0, 0, 1],
        lives=[1, 1, 0],
        eliminated=[2],
    )
    second = round_(
        rules,
        0,
        ["2c 5d 9h", "9c 3d 4h", ""],
        ["1 knock", "0 pass"],
        upcard="As",
        end="knock",
        values=[9, 9, None],
        losses=[1, 1, 0],
        lives=[0, 0, 0],
    )
    return record(rules, [first, second], seats=3, returns=[0.25, 0.25, -0.5])


def buy_in() -> Record:
    rules = house("dutch_buy_in", lives=1)
    first = round_(
        rules,
        2,
        ["2c 3d 4h", "Th Kh Ah", "5c 6d 7h"],
        ["0 buy_in", "2 decline"],
        upcard="As",
        end="dealt_blitz",
        values=[4, 31, 7],
        losses=[1, 0, 1],
        lives=[1, 1, 0],
        eliminated=[2],
    )
    second = round_(
        rules,
        0,
        ["2c 3d 4h", "Kc 5d 3s", ""],
        [
            *("1 draw_stock 6s", "1 discard 6s", "0 take_upcard 6s", "0 discard 2c"),
            *("1 knock", "0 pass"),
        ],
        upcard="As",
        top="6s",
        end="knock",
        values=[6, 10, None],
        final=["3d 4h 6s", "Kc 5d 3s", ""],
        losses=[1, 0, 0],
        lives=[0, 1, 0],
        eliminated=[0],
    )
    return record(rules, [first, second], seats=3, winner=1, returns=[-1.0, 1.5, -0.5], pot=4)


def last_round_buy_in() -> Record:
    rules = house("dutch_buy_in", lives=1, max_rounds=1)
    only = round_(
        rules,
        1,
        ["2c 3d 4h", "Th Kh Ah"],
        ["0 buy_in"],
        upcard="As",
        end="dealt_blitz",
        values=[4, 31],
        losses=[1, 0],
        lives=[1, 1],
    )
    return record(rules, [only], seats=2, returns=[-0.5, 0.5], pot=3)


SHORT = ["9c Td Jh", "9d Ah 9s"]  # worth 10 and 11
SHORT_STOCK = [
    *("Tc", "Jc", "Qc", "Kc", "Ac", "Jd", "Kd", "Ad"),
    *("9h", "Th", "Qh", "Kh", "Ts", "Js", "Qs", "Ks", "As"),
]


def burnt() -> list[str]:
    """Seventeen turns of two players who discard what they draw, from seat 0."""
    return [
        f"{turn % 2} {action} {card}"
        for turn, card in enumerate(SHORT_STOCK)
        for action in ("draw_stock", "discard")
    ]


def stock_out(mode: str, after: list[str], end: str, losses: list[int], **more: Any) -> Record:
    """A match of one round in which the stock of 24 cards runs out, then `after` happens."""
    rules = house("danish", low_rank=9, lives=2, stock_out=mode, max_rounds=1)
    lives = [2 - loss for loss in losses]
    only = round_(
        rules,
        1,
        SHORT,
        burnt() + after,
        upcard="Qd",
        end=end,
        values=more.pop("values", [10, 11]),
        losses=losses,
        lives=lives,
        eliminated=[seat for seat in (0, 1) if lives[seat] == 0],
        **more,
    )
    winner = 1 if lives[0] == 0 else 0 if lives[1] == 0 else None
    returns = {None: [0.0, 0.0], 0: [1.0, -1.0], 1: [-1.0, 1.0]}[winner]
    return record(rules, [only], seats=2, winner=winner, returns=returns)


def table_out(mode: str, after: list[str], end: str | None) -> Record:
    """The table of the 24-card deck is renewed until the stock is too short; six players."""
    rules = house("schwimmen_a9", table_out=mode, dealer_choice=False)
    hands = ["9c Td Jh", "Tc Jd Qh", "Jc Qd Kh", "Qc Kd Ah", "Kc Ad 9s", "Ac 9h Ts"]
    known = end is not None
    only = round_(
        rules,
        5,
        hands,
        [
            *[f"{seat} pass" for seat in range(6)],
            "- renew_table Th Js Qs",
            *[f"{seat} pass" for seat in range(6)],
            *after,
        ],
        top="9d Ks As Th Js Qs",
        table="9d Ks As",
        end=end,
        values=[10, 10, 10, 11, 11, 11] if known else None,
        losses=[1, 0, 0, 0, 0, 0] if known else None,
        lives=[2, 3, 3, 3, 3, 3] if known else None,
    )
    return record(rules, [only], seats=6)


REST = "Js Th 9d Qs As Ks"
MATCHES: dict[str, tuple[Record, dict[str, int]]] = {
    "danish": (
        danish(),
        {"end:knock": 1, "end:blitz": 1, "two_life_loss": 1, "winner": 1, "preset:danish": 1},
    ),
    "schwimmen house": (
        schwimmen_house(),
        {
            "refuse": 1,
            "keep": 1,
            "refuse_made_dealt_blitz": 1,
            "dealt_blitz_exchange": 1,
            "swap_one": 1,
            "renew_table": 1,
            "suit_tie_decided": 1,
            "free_ride_taken": 1,
            "free_ride_over": 1,
        },
    ),
    "schwimmen cut": (
        schwimmen_cut(),
        {"unfinished": 1, "unfinished_within_a_round": 1, "fire": 1, "swap_all": 1},
    ),
    "decider": (
        decider(),
        {
            "decider_started": 1,
            "decider_repeated": 1,
            "decider_narrowed": 1,
            "decider_won": 1,
            "void_in_decider": 1,
            "knocker_tie_shares": 2,
            "end:max_turns": 1,
        },
    ),
    "decider draw": (decider_draw(), {"decider_draw": 1, "shared_pot": 1}),
    "buy-in": (
        buy_in(),
        {
            "buy_in": 1,
            "decline": 1,
            "several_asked": 1,
            "out_of_buy_ins": 1,
            "pass_in_last_turn": 1,
        },
    ),
    "buy-in after the last round": (
        last_round_buy_in(),
        {"buy_in_after_last_round": 1, "buy_in_keeps_match_alive": 1, "max_rounds": 1},
    ),
    "void": (stock_out("void", [], "void", [0, 0]), {"end:void": 1}),
    "stock out, pass": (
        stock_out("showdown", ["1 pass"], "stock_out", [1, 0]),
        {"end:stock_out": 1, "stock_out_pass": 1},
    ),
    "stock out, upcard, knock": (
        stock_out(
            "showdown",
            ["1 take_upcard As", "1 discard 9d", "0 knock"],
            "stock_out",
            [2, 0],
            values=[10, 20],
            final=["9c Td Jh", "Ah 9s As"],
        ),
        {"stock_out_knock": 1, "two_life_loss": 1, "winner_on_last_round": 1},
    ),
    "stock out, all passed": (
        stock_out("continue", ["1 pass", "0 pass"], "stock_out", [1, 0]),
        {"stock_out_all_passed": 1, "showdown_without_knocker": 1},
    ),
    "stock out, ordinary knock": (
        stock_out("continue", ["1 pass", "0 knock", "1 pass"], "knock", [2, 0]),
        {"knock_on_empty_stock": 1, "end:knock": 1},
    ),
    "reshuffle": (
        stock_out(
            "reshuffle",
            [
                "- reshuffle Qd " + " ".join(reversed(SHORT_STOCK[:-1])),
                *("1 draw_stock Qd", "1 discard Qd", "0 knock", "1 pass"),
            ],
            "knock",
            [2, 0],
        ),
        {"reshuffle": 1, "end:knock": 1},
    ),
    "table out, showdown": (table_out("showdown", [], "stock_out"), {"table_out_showdown": 1}),
    "table out, reshuffle": (
        table_out(
            "reshuffle", [f"- reshuffle {REST}", "- renew_table 9d Th Js", "0 swap_all"], None
        ),
        {"table_out_reshuffle": 1, "renew_table": 2, "reshuffle": 1},
    ),
}


@pytest.mark.parametrize("name", MATCHES)
def test_correct_matches_pass(name: str) -> None:
    made, happened = MATCHES[name]
    tally = check_match(made)
    assert {key: tally[key] for key in happened} == happened
    assert tally["matches"] == 1


# ---------------------------------------------------------------------------------------------
# Every way of spoiling them


def paths(node: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every node of a record, with the way to it."""
    yield path, node
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from paths(child, (*path, key))


def replaced(node: Any, path: Path_, value: Any) -> Any:
    """The record with another value in one place."""
    if not path:
        return value
    made = copy.copy(node)
    made[path[0]] = replaced(node[path[0]], path[1:], value)
    return made


def other_values(value: Any) -> list[Any]:
    """Wrong values that look like this one."""
    if value is None:
        return [0, "x", []]
    if isinstance(value, bool):
        return [not value, int(value), None]
    if isinstance(value, int):
        return [value + 1, value - 1, float(value), str(value), value == 1, None]
    if isinstance(value, float):
        return [value + 0.5, round(value + 1e-6, 6), int(value) if value % 1 == 0 else None]
    if isinstance(value, str):
        return ["x", "7c" if value != "7c" else "8c", None, ["7c"], value + " "]
    if isinstance(value, list):
        return [None, {}, "x", [*value, *(value[-1:] or [0])], *shortened(value)]
    return [None, [], *reordered(value), *without_keys(value), value | {"more": 1}]


def shortened(value: list[Any]) -> Iterator[list[Any]]:
    """A list without one of its members."""
    for index in range(len(value)):
        yield value[:index] + value[index + 1 :]


def without_keys(value: Record) -> Iterator[Record]:
    """An object without one of its keys."""
    for gone in value:
        yield {key: kept for key, kept in value.items() if key != gone}


def reordered(value: Record) -> Iterator[Record]:
    """An object with one key moved to the end."""
    for moved in list(value)[:-1]:
        yield {key: kept for key, kept in value.items() if key != moved} | {moved: value[moved]}


def swapped(value: list[Any]) -> Iterator[list[Any]]:
    """A list with two different neighbours changed over."""
    for index, (left, right) in enumerate(pairwise(value)):
        if left != right:
            yield [*value[:index], right, left, *value[index + 2 :]]


FREE = (("seed",), ("deal",), ("policies",), ("preset",))
ANY_ORDER = ("stock", "policies", "table", "cards")


def spoilt(made: Record) -> Iterator[tuple[Path_, Record]]:
    """A record spoilt in one place, in every place."""
    for path, value in paths(made):
        others = other_values(value)
        if isinstance(value, list) and path[-1] not in ANY_ORDER:
            others += swapped(value)
        for other in others:
            wrong = replaced(made, path, other)
            if not is_free(made, path) and not is_shorter(made, wrong):
                yield path, wrong


def is_free(made: Record, path: Path_) -> bool:
    """Places where another value may be as right."""
    if path[:1] in FREE or path[-2:] == ("rules", "knocker_tie"):
        return True
    return path[:1] == ("rules",) and made["preset"] is None


def is_shorter(made: Record, wrong: Any) -> bool:
    """An unfinished record is as right if it stops earlier, or has `unfinished` elsewhere."""
    if "unfinished" not in made or not isinstance(wrong, dict) or wrong.keys() != made.keys():
        return False
    if isinstance(wrong["rounds"], list) and wrong["rounds"] == made["rounds"][:-1]:
        return True
    if wrong == made:
        return list(wrong)[-1] != "unfinished" and list(wrong)[:-1] != list(made)[:-1]
    return stops_earlier(made["rounds"][-1], wrong["rounds"])


def stops_earlier(last: Record, rounds: Any) -> bool:
    """Whether a round that stops early now only stops earlier."""
    if last["end"] is not None or not isinstance(rounds, list) or not isinstance(rounds[-1], dict):
        return False
    given = rounds[-1].get("events")
    return isinstance(given, list) and last["events"][: len(given)] == given != last["events"]


ALSO_RIGHT = {
    "schwimmen cut": [("rounds",)],  # without its first round
    "buy-in after the last round": [("rounds", 0, "dealer")],  # the first, of a round without turns
    "table out, reshuffle": [("rounds", 0, "hands")] * 5,  # two players' hands, not yet known again
}


@pytest.mark.parametrize("name", MATCHES)
def test_every_spoilt_record_is_refused(name: str) -> None:
    accepted = []
    for path, wrong in spoilt(MATCHES[name][0]):
        try:
            check_match(wrong)
        except Fault:
            continue
        accepted.append(path)
    assert accepted == ALSO_RIGHT.get(name, [])


FREE_FIELDS = [("seed", None), ("seed", 2**64), ("deal", 0), ("deal", 12), ("preset", None)]


@pytest.mark.parametrize(("name", "value"), FREE_FIELDS)
def test_free_header_fields(name: str, value: Any) -> None:
    assert check_match(danish() | {name: value})["matches"] == 1


WRONG_FIELDS = [
    *(("seed", "7"), ("seed", 7.0), ("seed", True), ("deal", "1"), ("preset", 3)),
    *(("preset", "swedish"), ("preset", []), ("policies", [None]), ("policies", [None, 1])),
    *(("format", "thirtyone"), ("version", 2), ("version", True), ("unfinished", False)),
    *(("unfinished", True), ("num_players", 10), ("num_players", 1), ("rounds", [])),
]


@pytest.mark.parametrize(("name", "value"), WRONG_FIELDS)
def test_wrong_header_fields(name: str, value: Any) -> None:
    with pytest.raises(Fault):
        check_match(danish() | {name: value})


WRONG_RULES = [
    *({"lives": 0}, {"lives": 10}, {"low_rank": 1}, {"low_rank": 10}, {"jokers": 5}),
    *({"three_of_a_kind": 30.0}, {"three_of_a_kind": 31}, {"three_aces": 30}, {"suited_run": 31}),
    *({"blitz_value": 41}, {"hand_size": 4}, {"min_knock": 17.25}, {"min_knock": -1}),
    *({"max_turns": 0}, {"max_rounds": 0}, {"min_players": 1}, {"min_players": 3}),
    *({"free_ride": 0}, {"ties": "safe"}, {"buy_ins": 10}, {"decider": "none"}),
    {"family": "exchange", "hand_size": 4, "blitz_value": 41},
]


@pytest.mark.parametrize("changes", WRONG_RULES)
def test_wrong_rules(changes: Record) -> None:
    with pytest.raises(Fault):
        check_match(record(house("danish", **changes), [], seats=2))


def test_rules_by_themselves() -> None:
    for name in checker.PRESET_NAMES:
        assert check_match(record(house(name), [], seats=2, preset=name))["unfinished"] == 1
    reordered_rules = dict(reversed(house("danish").items()))
    with pytest.raises(Fault, match="order"):
        check_match(record(reordered_rules, [], seats=2))


def test_the_deck_must_suffice() -> None:
    check_match(record(house("danish", low_rank=9), [], seats=7))
    with pytest.raises(Fault, match="suffice"):
        check_match(record(house("danish", low_rank=9), [], seats=8))
    check_match(record(house("schwimmen_a9", max_players=7), [], seats=7))
    with pytest.raises(Fault, match="suffice"):
        check_match(record(house("schwimmen_a9", max_players=8), [], seats=8))


# ---------------------------------------------------------------------------------------------
# What is allowed when: the last of some events is refused, those before it are not


PROBES = ["2c 5d 9h", "9c 3d 4h"]


def probe(rules: Record, events: list[str], hands: list[str] = PROBES, **more: Any) -> Record:
    """An unfinished record of one round by the last seat's deal."""
    if rules["family"] == "draw":
        more = {"upcard": "As", "top": "2s 3s"} | more
    else:
        more = {"top": "Ah Kd 8s", "table": "Ah Kd 8s"} | more
    only = round_(rules, len(hands) - 1, hands, events, **more)
    return record(rules, [only], seats=len(hands))


DUTCH = house("dutch")
SWEDISH = house("swedish")
SCHWIMMEN = house("schwimmen_a7", low_rank=2)
DRAWN = ["0 draw_stock 2s", "0 discard 2s", "1 draw_stock 3s", "1 discard 3s"]
KEPT = ["1 keep"]
REFUSED: dict[str, tuple[Record, list[str]]] = {
    "not the top of the stock": (DUTCH, ["0 draw_stock 3s"]),
    "not the upcard": (DUTCH, ["0 take_upcard Ks"]),
    "discard of a card not held": (DUTCH, ["0 draw_stock 2s", "0 discard 3s"]),
    "discard by the other": (DUTCH, ["0 draw_stock 2s", "1 discard 9c"]),
    "two draws": (DUTCH, ["0 draw_stock 2s", "0 take_upcard As"]),
    "discard without a draw": (DUTCH, ["0 discard 2c"]),
    "upcard returned": (DUTCH, ["0 take_upcard As", "0 discard As"]),
    "first-turn knock": (DUTCH, ["0 knock"]),
    "first-turn knock of the second": (DUTCH, [*DRAWN[:2], "1 knock"]),
    "pass": (SWEDISH, ["0 pass"]),
    "pass before a knock": (DUTCH, ["0 pass"]),
    "pass after a knock": (SWEDISH, ["0 knock", "1 pass"]),
    "second knock": (SWEDISH, ["0 knock", "1 knock"]),
    "turn out of order": (DUTCH, ["1 draw_stock 2s"]),
    "no seat": (DUTCH, ["- draw_stock 2s"]),
    "unknown action": (DUTCH, ["0 fold"]),
    "knock below the least value": (house("danish_min_knock_17"), ["0 knock"]),
    "knock half a point below": (house("danish", min_knock=9.5), ["0 knock"]),
    "swap in the draw family": (DUTCH, ["0 swap_all"]),
    "dealer's choice in the draw family": (DUTCH, ["1 keep"]),
    "a reshuffle too early": (house("danish_reshuffle"), [*DRAWN, "- reshuffle As 2s"]),
    "a buy-in too early": (house("dutch_buy_in"), [*DRAWN, "0 buy_in"]),
    "no dealer's choice": (SCHWIMMEN, ["0 pass"]),
    "choice of another": (SCHWIMMEN, ["0 keep"]),
    "choice twice": (SCHWIMMEN, [*KEPT, "1 keep"]),
    "choice where there is none": (house("widow"), ["1 keep"]),
    "draw in the exchange family": (SCHWIMMEN, [*KEPT, "0 draw_stock 2d"]),
    "give of a card not held": (SCHWIMMEN, [*KEPT, "0 give 9c"]),
    "take of a card not there": (SCHWIMMEN, [*KEPT, "0 give 2c", "0 take 9c"]),
    "take of the card given": (SCHWIMMEN, [*KEPT, "0 give 2c", "0 take 2c"]),
    "give twice": (SCHWIMMEN, [*KEPT, "0 give 2c", "0 give 5d"]),
    "no renewal": (SCHWIMMEN, [*KEPT, "0 pass", "1 pass", "0 pass"]),
    "renewal too early": (SCHWIMMEN, [*KEPT, "0 pass", "- renew_table 3c 4c 5c"]),
    "renewal with other cards": (SCHWIMMEN, [*KEPT, "0 pass", "1 pass", "- renew_table 3c 4c 7c"]),
    "renewal by a seat": (SCHWIMMEN, [*KEPT, "0 pass", "1 pass", "0 renew_table 3c 4c 5c"]),
    "first-turn knock in exchange": (house("schwimmen_german", low_rank=2), [*KEPT, "0 knock"]),
    "knock below the least value in exchange": (
        house("schwimmen_a7", low_rank=2, min_knock=10),
        [*KEPT, "0 knock"],
    ),
}
SAME_UPCARD = ["0 take_upcard As", "0 discard As"]
ALLOWED: dict[str, tuple[Record, list[str]]] = {
    "knock on the second turn": (DUTCH, [*DRAWN, "0 knock"]),
    "upcard returned": (house("dutch", return_upcard=True), SAME_UPCARD),
    "pass": (house("danish"), ["0 pass"]),
    "only passes": (house("danish"), ["0 pass", "1 pass", "0 pass", "1 pass"]),
    "knock at the least value": (house("danish", min_knock=9), ["0 knock"]),
    "take of any table card": (SCHWIMMEN, [*KEPT, "0 give 2c", "0 take Kd"]),
    "renewal in any order": (SCHWIMMEN, [*KEPT, "0 pass", "1 pass", "- renew_table 5c 3c 4c"]),
    "count of passes anew after a swap": (
        SCHWIMMEN,
        [*KEPT, "0 pass", "1 give 9c", "1 take 8s", "0 pass", "1 pass", "- renew_table 3c 4c 5c"],
    ),
    "refuse": (SCHWIMMEN, ["1 refuse", "0 swap_all"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_actions(name: str) -> None:
    rules, events = REFUSED[name]
    waits_for_dealer = rules["dealer_choice"] and len(events) == 1
    more: Record = {"table": None} if waits_for_dealer else {}
    check_match(probe(rules, events[:-1], **more))
    with pytest.raises(Fault) as caught:
        check_match(probe(rules, events, **more))
    assert (caught.value.round, caught.value.event) == (0, len(events) - 1)


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed_actions(name: str) -> None:
    rules, events = ALLOWED[name]
    more: Record = {"table": "9c 3d 4h"} if name == "refuse" else {}
    assert check_match(probe(rules, events, **more))["unfinished_within_a_round"] == 1


ENDED: dict[str, tuple[Record, list[str], list[str], str]] = {
    "dealt blitz": (DUTCH, ["Th Kh Ah", "9c 3d 4h"], [], "0 draw_stock 2s"),
    "blitz": (
        DUTCH,
        ["2c Qs Ks", "9c 3d 4h"],
        ["0 take_upcard As", "0 discard 2c"],
        "1 draw_stock 2s",
    ),
    "blitz after a knock": (
        house("danish"),
        ["9c 3d 4h", "2c Qs Ks", "5c 6c 7d"],
        ["0 knock", "1 take_upcard As", "1 discard 2c"],
        "2 pass",
    ),
    "last turns over": (
        SWEDISH,
        PROBES,
        ["0 knock", "1 take_upcard As", "1 discard 9c"],
        "0 take_upcard 9c",
    ),
    "max_turns": (house("danish", max_turns=2), PROBES, ["0 pass", "1 pass"], "0 pass"),
    "blitz in exchange": (
        SCHWIMMEN,
        ["2c Th Qh", "9c 3d 4h"],
        [*KEPT, "0 give 2c", "0 take Ah"],
        "1 pass",
    ),
}


@pytest.mark.parametrize("name", ENDED)
def test_nothing_follows_the_end(name: str) -> None:
    rules, hands, events, more = ENDED[name]
    with pytest.raises(Fault, match="after the end") as caught:
        check_match(probe(rules, [*events, more], hands))
    assert caught.value.event == len(events)


GOES_ON: dict[str, tuple[Record, list[str], list[str]]] = {
    "31 after a knock": (
        house("dutch", first_turn_knock=True),
        ["9c 3d 4h", "2c Qs Ks", "5c 6c 7d"],
        ["0 knock", "1 take_upcard As", "1 discard 2c"],
    ),
    "a knock in the last turn of max_turns": (house("danish", max_turns=1), PROBES, ["0 knock"]),
    "more turns than max_turns after a knock": (
        house("danish", max_turns=2),
        [*PROBES, "5c 6c 7d"],
        ["0 pass", "1 knock", "2 pass"],
    ),
}


@pytest.mark.parametrize("name", GOES_ON)
def test_the_round_goes_on(name: str) -> None:
    rules, hands, events = GOES_ON[name]
    assert check_match(probe(rules, events, hands))["unfinished_within_a_round"] == 1


# ---------------------------------------------------------------------------------------------
# Losses of single rounds


def losses(rules: Record, end: str, knocker: int | None, *hands: str) -> list[int]:
    """The penalties when a round ends so with these hands."""
    seats = [seat for seat, hand in enumerate(hands) if hand]
    deal: Record = {"dealer": seats[0], "in_play": seats, "hands": [cards(hand) for hand in hands]}
    deal |= {"stock": [], "upcard": None, "table": None}
    play = checker.DrawPlay(rules, deal, Events([], 0, Counter()))
    play.knocker = knocker
    return checker.losses_of(play, end)


LOW, LOW_TOO, MIDDLE, HIGH = "2c 3d 4h", "4c 2d 3h", "9c 3d 4h", "Kc Qc 2d"
BLITZ, BLITZ_TOO, ACES = "Th Kh Ah", "Jd Qd Ad", "Ac Ad As"


def test_showdown_losses() -> None:
    danish_, swedish = house("danish"), SWEDISH
    assert losses(danish_, "knock", 1, LOW, MIDDLE, HIGH) == [1, 0, 0]
    assert losses(danish_, "knock", 0, LOW, MIDDLE, HIGH) == [2, 0, 0]
    assert losses(house("finnish"), "knock", 0, LOW, MIDDLE, HIGH) == [1, 0, 0]
    assert losses(danish_, "knock", 0, LOW, LOW_TOO, HIGH) == [0, 1, 0]
    assert losses(danish_, "knock", 2, LOW, LOW_TOO, HIGH) == [1, 1, 0]
    assert losses(swedish, "knock", 0, LOW, LOW_TOO, HIGH) == [1, 1, 0]
    assert losses(danish_, "knock", 0, LOW, LOW_TOO) == [0, 1]
    assert losses(danish_, "stock_out", None, LOW, "", LOW_TOO, HIGH) == [1, 0, 1, 0]
    assert losses(danish_, "void", None, LOW, LOW_TOO, HIGH) == [0, 0, 0]
    assert losses(danish_, "max_turns", None, LOW, LOW_TOO, HIGH) == [0, 0, 0]


def test_ties_by_suit() -> None:
    rules = house("schwimmen_a7", low_rank=2)
    assert losses(rules, "knock", 2, LOW, LOW_TOO, HIGH) == [1, 0, 0]
    assert losses(rules, "knock", 2, "9c 8d 2h", "9h 8d 2s", "9s 8h 2d") == [0, 1, 0]
    assert losses(rules, "knock", None, "7c 7d 7h", "8c 8d 8h", BLITZ) == [1, 0, 0]
    jokers = house("schwimmen_a7", jokers=4)
    assert losses(jokers, "knock", None, "Tc X1 X2", "Jc X3 X4", "Ac Kc Qc") == [1, 1, 1]
    assert losses(jokers, "knock", None, "8c X1 X2", "9c X3 X4", "Ac Kc Qc") == [1, 0, 0]
    assert losses(jokers, "knock", 0, "8c Kc X1", "9c Qc X2", "Ac Kc Qc") == [1, 0, 0]


def test_blitz_losses() -> None:
    lowest = house("danish", blitz_loss="lowest", fire_loss="others", three_aces=32)
    assert losses(house("danish"), "blitz", None, LOW, BLITZ, HIGH) == [1, 0, 1]
    assert losses(house("danish"), "blitz", 0, LOW, BLITZ, HIGH) == [1, 0, 1]
    assert losses(house("danish"), "dealt_blitz", None, BLITZ, BLITZ_TOO, HIGH) == [0, 0, 1]
    assert losses(house("danish"), "dealt_blitz", None, BLITZ, BLITZ_TOO) == [0, 0]
    assert losses(lowest, "blitz", None, LOW, BLITZ, HIGH) == [1, 0, 0]
    assert losses(lowest, "blitz", 0, LOW, BLITZ, HIGH) == [2, 0, 0]
    assert losses(lowest, "blitz", 0, LOW, BLITZ, LOW_TOO) == [0, 0, 1]
    assert losses(lowest, "dealt_blitz", None, BLITZ, BLITZ_TOO) == [1, 1]


def test_fire_losses() -> None:
    german = house("schwimmen_german")
    assert losses(german, "blitz", None, LOW, BLITZ, HIGH) == [1, 0, 0]
    assert losses(german, "dealt_blitz", None, BLITZ, ACES, HIGH, LOW) == [0, 0, 1, 1]
    assert losses(german, "blitz", 2, MIDDLE, ACES, LOW) == [1, 0, 1]
    assert losses(house("schwimmen_a7"), "blitz", 2, MIDDLE, ACES, LOW) == [0, 0, 1]
    assert losses(house("schwimmen_a7"), "dealt_blitz", None, BLITZ, ACES) == [1, 0]
    at_31 = house("schwimmen_german", three_aces=31)
    assert losses(at_31, "blitz", None, LOW, ACES, HIGH) == [1, 0, 0]
    jokers = house("schwimmen_german", jokers=2, low_rank=2)
    assert losses(jokers, "blitz", None, LOW, "Ac X1 X2", HIGH) == [1, 0, 1]
    assert losses(jokers, "blitz", None, LOW, "Kc X1 X2", HIGH) == [1, 0, 0]


# ---------------------------------------------------------------------------------------------
# Lives, free rides, buy-ins and deciders between rounds


class Between:
    """A match seen between its rounds."""

    def __init__(self, seats: int, **changes: Any) -> None:
        self.match = Match(house("danish", **changes), seats)

    def lose(self, *lost: int, dealer: int = 0, events: tuple[str, ...] = ()) -> list[int]:
        """Play a round with these penalties; the seats eliminated."""
        said = Events([event(text) for text in events], 0, self.match.tally)
        gone = self.match.settle(lost, dealer, said)
        said.finish()
        return gone


def test_free_ride_once_a_match() -> None:
    between = Between(3, lives=1, free_ride=True, buy_ins=2)
    match = between.match
    assert (between.lose(2, 0, 0), match.lives, match.free_rides()) == (
        *([], [0, 1, 1]),
        [True, False, False],
    )
    assert (between.lose(0, 0, 0), match.in_play) == ([], [0, 1, 2])
    assert (between.lose(1, 0, 0, events=("0 buy_in",)), match.lives) == ([], [1, 1, 1])
    assert match.free_rides() == [False, False, False]
    assert between.lose(1, 0, 0, events=("0 decline",)) == [0]
    assert (match.in_play, match.stakes, match.over) == ([1, 2], [2, 1, 1], False)


def test_buy_ins_are_asked_from_the_left_of_the_dealer() -> None:
    between = Between(4, lives=1, buy_ins=1)
    asked = ("2 decline", "3 buy_in", "0 decline", "1 buy_in")
    assert between.lose(1, 1, 1, 1, dealer=1, events=asked) == [0, 2]
    assert (between.match.in_play, between.match.lives) == ([1, 3], [0, 1, 0, 1])
    assert between.match.next_dealer() == 3
    with pytest.raises(Fault):
        Between(4, lives=1, buy_ins=1).lose(1, 0, 1, 0, dealer=0, events=("0 buy_in", "2 buy_in"))


def test_nobody_is_asked_in_a_decider() -> None:
    between = Between(3, lives=1, buy_ins=1)
    assert between.lose(1, 1, 1, events=("1 decline", "2 decline", "0 decline")) == []
    assert (between.match.decider, between.match.in_play) == (True, [0, 1, 2])
    with pytest.raises(Fault):
        copy.deepcopy(between).lose(1, 0, 0, events=("0 decline",))
    assert between.lose(1, 1, 0) == [0, 1]
    assert (between.match.winner(), between.match.returns()) == (2, [-0.5, -0.5, 1.0])


def test_the_survivor_of_a_common_loss_wins() -> None:
    between = Between(3, lives=1)
    assert between.lose(1, 0, 1) == [0, 2]
    assert (between.match.over, between.match.winner()) == (True, 1)
    assert between.match.decider is False


def test_a_free_ride_saves_from_the_decider() -> None:
    between = Between(2, lives=1, free_ride=True)
    between.lose(1, 0)
    assert between.lose(1, 1) == [0]
    assert between.match.winner() == 1
    assert between.match.tally["winner_on_free_ride"] == 1


def test_returns() -> None:
    between = Between(4, lives=1, max_rounds=2)
    between.lose(1, 0, 0, 0)
    between.lose(0, 0, 0, 0)
    match = between.match
    assert (match.over, match.winner()) == (True, None)
    assert match.returns() == [-0.333333, 0.111111, 0.111111, 0.111111]


def test_a_winner_of_the_last_round_wins() -> None:
    between = Between(2, lives=1, max_rounds=1)
    between.lose(1, 0)
    assert (between.match.winner(), between.match.tally["winner_on_last_round"]) == (1, 1)


def test_the_deal_passes_from_a_seat_that_is_out() -> None:
    between = Between(4, lives=1)
    between.lose(0, 1, 1, 0, dealer=1)
    assert between.match.next_dealer() == 3


def waiting() -> Record:
    """A match that waits for the second of two decisions."""
    made = buy_in()
    first = made["rounds"][0] | dict.fromkeys(("lives", "free_ride", "eliminated"))
    first["events"] = first["events"][:1]
    return made | {"rounds": [first], "winner": None, "returns": None, "unfinished": True}


def test_a_round_that_waits_for_buy_ins() -> None:
    made = waiting()
    assert check_match(made)["unfinished_within_a_round"] == 1
    check_match(replaced(made, ("rounds", 0, "values"), None))
    before = replaced(made, ("rounds", 0, "events"), []) | {"pot": 3}
    assert check_match(before)["unfinished_within_a_round"] == 1
    for name, value in (("lives", [1, 1, 0]), ("eliminated", []), ("values", [4, 31, 8])):
        with pytest.raises(Fault):
            check_match(replaced(made, ("rounds", 0, name), value))


def test_where_a_fault_is() -> None:
    made = replaced(danish(), ("rounds", 1, "events", 1, "card"), "Qc")
    with pytest.raises(Fault, match="round 1, event 1: discard 'Qc'") as caught:
        check_match(made)
    assert (caught.value.line, caught.value.round, caught.value.event) == (None, 1, 1)
    shorter = replaced(danish(), ("rounds", 0, "events"), danish()["rounds"][0]["events"][:-1])
    with pytest.raises(Fault, match="stop before") as caught:
        check_match(shorter)
    assert (caught.value.round, caught.value.event) == (0, 5)


# ---------------------------------------------------------------------------------------------
# Files


def text(made: Record) -> str:
    return json.dumps(made, separators=(",", ":")) + "\n"


def test_files(tmp_path: Path) -> None:
    lines = "".join(text(made) for made, _ in MATCHES.values())
    plain, packed = tmp_path / "m.jsonl", tmp_path / "m.jsonl.gz"
    plain.write_text(lines)
    packed.write_bytes(gzip.compress(lines.encode()))
    assert check_file(plain) == check_file(packed)
    assert check_file(plain)["matches"] == len(MATCHES)
    assert checker.main([str(plain), str(packed)]) == 0


def test_policies_may_be_written_in_any_letters(tmp_path: Path) -> None:
    made = danish() | {"policies": ["Søren", None]}
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps(made, separators=(",", ":"), ensure_ascii=False) + "\n", "utf-8")
    assert check_file(path)["matches"] == 1


BAD_LINES = {
    "spaces": json.dumps(danish()) + "\n",
    "cut off": text(danish())[:-20],
    "empty": "\n",
    "no object": "[]\n",
    "carriage return": text(danish())[:-1] + "\r\n",
    "a key twice": text(danish())[:-2] + ',"pot":2}\n',
    "longer number": text(danish()).replace("1.0", "1.00", 1),
    "not a number": text(danish()).replace("-1.0", "NaN"),
    "deep": "[" * 100_000 + "\n",
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_lines(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes((text(danish()) + BAD_LINES[name]).encode())
    with pytest.raises(Fault) as caught:
        check_file(path)
    assert caught.value.line == 2
    assert checker.main([str(path)]) == 1
    assert "line 2" in capsys.readouterr().err


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(text(danish()).encode() + b"\xff\n")
    with pytest.raises(Fault, match="line 2"):
        check_file(path)


def test_packed_files_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl.gz"
    whole = gzip.compress((text(danish()) * 3).encode())
    for wrong in (whole[:-9], whole[:30], b"no gzip"):
        path.write_bytes(wrong)
        with pytest.raises(Fault, match="cut off"):
            check_file(path)


# ---------------------------------------------------------------------------------------------
# Matches played at random: not proof of anything but that spoilt ones raise faults only


class Chooser(Events):
    """Chooses events at random instead of reading them."""

    def __init__(self, chance: random.Random, tally: Tally) -> None:
        super().__init__([], 0, tally)
        self.chance = chance
        self.choice = chance.choice(("keep", "refuse"))

    def next(self, seat: int | None, options: Options) -> tuple[str, Any]:
        action = self.choice if "keep" in options else self.chance.choice(sorted(options))
        if action == "knock" and self.chance.random() < 0.7:
            action = self.chance.choice(sorted(options))
        allowed = sorted(options[action] or ())
        made: Record = {"seat": seat, "action": action}
        chosen: Any = None
        if action in ("reshuffle", "renew_table"):
            chosen = made["cards"] = self.chance.sample(allowed, len(allowed))
        elif allowed:
            chosen = made["card"] = self.chance.choice(allowed)
        self.events.append(made)
        self.at += 1
        return action, chosen


def random_match(rules: Record, seats: int, preset: str | None, chance: random.Random) -> Record:
    """A match played at random by the checker's own hand."""
    match, rounds = Match(rules, seats), []
    while not match.over:
        chooser = Chooser(chance, match.tally)
        given = random_deal(match, chooser)
        found = checker.replay_round(match, given, chooser).fields
        rounds.append(given | {"events": chooser.events} | found)
    made = record(rules, rounds, seats=seats, preset=preset, returns=match.returns())
    return made | {"winner": match.winner(), "pot": sum(match.stakes)}


def random_deal(match: Match, chooser: Chooser) -> Record:
    """Shuffle and deal."""
    rules, pack = match.rules, sorted(match.deck)
    chooser.chance.shuffle(pack)
    hands: list[list[str]] = [[] for _ in range(match.seats)]
    for seat in match.in_play:
        hands[seat] = sorted(pack[: rules["hand_size"]], key=checker.card_order)
        del pack[: rules["hand_size"]]
    dealer = match.next_dealer()
    dealer = chooser.chance.choice(match.in_play) if dealer is None else dealer
    refuses = rules["dealer_choice"] and chooser.choice == "refuse"
    draw = rules["family"] == "draw"
    return {
        "dealer": dealer,
        "in_play": list(match.in_play),
        "decider": match.decider,
        "hands": hands,
        "upcard": pack.pop() if draw else None,
        "table": None if draw else hands[dealer] if refuses else pack[:3],
        "stock": pack,
    }


@pytest.mark.parametrize("name", checker.PRESET_NAMES)
def test_random_matches(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    rules = house(name)
    made = [random_match(rules, seats, name, chance) for seats in (2, 3, 6)]
    path = tmp_path / "m.jsonl"
    path.write_text("".join(map(text, made)))
    assert check_file(path)["matches"] == 3
    for _ in range(200):
        spoil_at_random(chance.choice(made), chance)


def spoil_at_random(made: Record, chance: random.Random) -> None:
    """Put another value somewhere; it may be as right, or a fault, nothing else."""
    path: Path_ = ()
    node: Any = made
    while isinstance(node, dict | list) and node and chance.random() < 0.9:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        path, node = (*path, key), node[key]
    odd: list[Any] = [None, True, 0, -1, 1.5, 10**30, "", "x", "Xx", "As", [], ["As"], [[]], {}]
    wrong = replaced(made, path, chance.choice(odd + other_values(node)))
    try:
        check_match(wrong)
    except Fault:
        return


# ---------------------------------------------------------------------------------------------
# The scorer

WORKED = {
    "9h 7h Ks": (16, 16, 16, 16, None),
    "Ad 8c 4s": (11, 11, 11, 11, None),
    "As Ks Qs": (31, 31, 31, 31, 31),
    "7h 7c 7s": (30, 7, 7, 30.5, 30.5),
    "Th Tc Ts": (30, 10, 10, 30.5, 30.5),
    "Kh 9h 4c": (19, 19, 19, 19, None),
    "Kh 8h 5h": (23, 23, 23, 23, None),
    "Qd Td Jc": (20, 20, 20, 20, 20),
    "Ah Ac As": (30, 11, 31, 30.5, 32),
    "7s 8h Kh": (18, 18, 18, 18, 18),
    "As 7h 8h": (15, 15, 15, 15, 15),
}
WORKED_PRESETS = ("danish", "swedish", "finnish", "dutch", "schwimmen_a7")


@pytest.mark.parametrize("hand", WORKED)
def test_worked_values(hand: str) -> None:
    for preset, worth in zip(WORKED_PRESETS, WORKED[hand], strict=True):
        if worth is not None:
            assert scorer.value(cards(hand), house(preset)) == 2 * worth


STRAIGHT = house("danish_straight")
JOKER = house("danish_joker")
FOUR = house("danish_four_cards", suited_run=30)
OTHER_VALUES = [
    ("5s 6s 7s", STRAIGHT, 30),
    ("As 2s 3s", STRAIGHT, 30),
    ("Ks As 2s", STRAIGHT, 23),
    ("Qs Ks As", STRAIGHT, 31),
    ("5s 6s 7h", STRAIGHT, 11),
    ("5s 6s 7s", house("danish"), 18),
    ("X1 2s 3d", JOKER, 14),
    ("X1 7s 7d", JOKER, 30),
    ("X1 Ks Qs", JOKER, 31),
    ("X1 Ks As", JOKER, 31),
    ("X1 X2 2d", JOKER, 30),
    ("X1 X2 Td", JOKER, 31),
    ("X1 X2 Ad", house("cadillac", jokers=2), 33),
    ("X1 X2 2d", house("swedish", jokers=2), 23),
    ("As Ks Qs Js", FOUR, 41),
    ("As Ks Qs Jh", FOUR, 31),
    ("7s 7h 7d Ah", FOUR, 30),
    ("2s 3s 4s Ks", FOUR, 30),
    ("As 2s 3s Kd", FOUR, 30),
    ("2s 3h 4d Kd", FOUR, 14),
]


@pytest.mark.parametrize(("hand", "rules", "worth"), OTHER_VALUES)
def test_other_values(hand: str, rules: Record, worth: float) -> None:
    assert scorer.value(cards(hand), rules) == 2 * worth


SUIT_RULES = house("schwimmen_a7", low_rank=2, suited_run=30, jokers=4)
DESCENDING = [
    *("Ac Ad Ah", "Ac Kc Qc", "As Ks Qs", "Ah Kh Qh", "Ad Kd Qd", "Kc Kd Kh", "7c 7d 7h"),
    *("2c 2d 2h", "Ac 2c 3c", "Kc Qc Jc", "Qc Jc Tc", "4c 3c 2c", "As 3s 2s", "Kd Qd Jd"),
    *("Kc 9c 2d", "As 8s 2d", "Ks 9s 2d", "Ts 8s 2d", "Jc 2d 3h", "Tc Jd 9h", "Ts Jd 9h"),
    *("Th Jd 9c", "Jd 9h 9c"),
]


def test_order_by_suit() -> None:
    keys = {hand: scorer.order_key(cards(hand), SUIT_RULES) for hand in DESCENDING}
    assert sorted(keys, key=lambda hand: keys[hand], reverse=True) == DESCENDING
    assert len(set(keys.values())) == len(DESCENDING)


def test_order_by_value_alone() -> None:
    rules = house("danish")
    assert scorer.order_key(cards("Tc Jd 9h"), rules) == scorer.order_key(cards("Jd 9h 9c"), rules)
    assert scorer.order_key(cards("Tc 2d 9h"), rules) > scorer.order_key(cards("9d 8h 7c"), rules)


def test_every_two_hands_are_ordered_by_suit() -> None:
    rules = house("schwimmen_a7")
    assert len({scorer.order_key(hand, rules)[0] for hand in all_hands(rules)}) < 32
    for first, second in combinations(dealt_hands(rules, random.Random(1), 400), 2):
        if not {*first} & {*second}:
            assert scorer.order_key(first, rules) != scorer.order_key(second, rules)


def dealt_hands(rules: Record, chance: random.Random, number: int) -> list[list[str]]:
    """Some hands at random."""
    return [chance.sample(scorer.deck(rules), 3) for _ in range(number)]


def all_hands(rules: Record) -> Iterator[tuple[str, ...]]:
    return combinations(scorer.deck(rules), 3)


def test_jokers_tie() -> None:
    keys = {scorer.order_key(cards(hand), SUIT_RULES) for hand in ("Tc X1 X2", "Jc X3 X4")}
    assert keys == {scorer.order_key(cards("Ac Kc Qc"), SUIT_RULES)}
    eight, nine = (scorer.order_key(cards(hand), SUIT_RULES) for hand in ("8c X1 X2", "9c X3 X4"))
    assert eight < nine


def counted(rules: Record) -> tuple[Counter[int], float]:
    """How many hands have each value, and the mean in points."""
    number = Counter(scorer.value(hand, rules) for hand in all_hands(rules))
    return number, sum(value * count for value, count in number.items()) / number.total() / 2


def test_all_hands_base_scoring() -> None:
    number, mean = counted(house("swedish"))
    assert (number.total(), number[62], round(mean, 5)) == (22_100, 24, 13.08796)


def test_all_hands_with_three_of_a_kind() -> None:
    number, mean = counted(house("dutch"))
    assert (number[61], round(mean, 5)) == (52, 13.14253)


def test_all_hands_of_the_short_deck() -> None:
    number, mean = counted(house("schwimmen_a7", three_aces=33))
    assert (number.total(), number[66], round(mean, 5)) == (4_960, 4, 15.80605)
