"""Golden playthroughs: one whole match a preset, in which the rules that set it apart are seen.

`BRANCHES` says what has to occur in each, in the names that the independent checker counts by and
a few of `sights` besides. A playthrough is a match between bots and so can be played again from
its own header; it is searched for only where there is none yet, or where what has to occur does
not occur any more. That keeps the diff of a change of the engine small enough to be read.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.independent import checker
from thirtyone_env.record import dump, play_match
from thirtyone_env.rules import PRESETS

Record = dict[str, Any]

FOLDER = Path(__file__).parent
SEED = 31
SEARCHED = 1200
"""Matches of which the shortest is taken; twice as many and so on while none will do."""
LINE_UPS = (
    ("random", "threshold:25"),
    ("never_knock", "random"),
    ("random", "random"),
    ("danish", "random", "swedish"),
    ("threshold:29", "never_knock"),
    ("never_knock", "threshold:30.5", "random"),
    ("dutch", "random"),
    ("never_knock", "random", "never_knock", "never_knock"),
)

BRANCHES: dict[str, tuple[str, ...]] = {
    "danish": ("two_life_loss", "knocker_tie_safe", "end:void", "pass_before_knock", "end:blitz"),
    "swedish": ("two_life_loss", "knocker_tie_shares", "free_ride_over", "end:void"),
    "finnish": ("knocker_lowest_one_life", "three_aces", "free_ride_over"),
    "dutch": (
        "first_turn_knock_refused",
        "pass_in_last_turn",
        "stock_out_pass",
        "free_ride_over",
    ),
    "schwimmen_a7": (
        "keep",
        "refuse",
        "swap_one",
        "swap_all",
        "renew_table",
        "suit_tie_decided",
        "blitz_lowest",
        "knock_on_first_turn",
        "dealt_blitz_exchange",
        "free_ride_over",
    ),
    "schwimmen_a9": ("table_out_showdown", "suit_tie_decided"),
    "schwimmen_a5": ("renew_table", "fire", "blitz_after_knock"),
    "danish_free_ride": ("free_ride_by_two_life_loss", "free_ride_over", "winner_on_free_ride"),
    "danish_continue": (
        "stock_out_all_passed",
        "take_upcard_on_empty_stock",
    ),
    "danish_reshuffle": ("reshuffle", "stock_ran_out_after_knock"),
    "danish_straight": ("suited_run", "end:blitz"),
    "danish_joker": ("joker_in_final_hand", "joker_in_a_blitz"),
    "danish_min_knock_17": ("min_knock_bound", "knock_with_less_than_21"),
    "danish_min_knock_21": ("min_knock_bound", "end:knock"),
    "danish_half": ("three_of_a_kind", "half_a_point"),
    "danish_four_cards": ("end:blitz", "three_of_a_kind", "two_life_loss"),
    "danish_four_lives": ("four_lives", "two_life_loss"),
    "finnish_five_lives": ("five_lives", "free_ride_over"),
    "swedish_house": ("first_turn_knock_refused", "three_of_a_kind", "knocker_tie_shares"),
    "dutch_four_cards": ("end:blitz", "three_of_a_kind", "stock_out_knock"),
    "dutch_buy_in": (
        "buy_in",
        "decline",
        "several_asked",
        "buy_in_keeps_match_alive",
        "winner_after_buy_in",
    ),
    "dutch_no_trips": ("trips_count_nothing", "first_turn_knock_refused"),
    "cadillac": ("fire", "free_ride_over"),
    "scat": ("three_of_a_kind", "blitz_after_knock_only_highest"),
    "widow": ("renew_table", "knocker_tie_shares", "trips_count_nothing"),
    "schwimmen_german": (
        "fire_decides_otherwise",
        "first_turn_knock_refused",
        "table_out_reshuffle",
    ),
}
"""What has to occur in the playthrough of each preset."""


# --- what occurs in a match --------------------------------------------------------------------


def _sights_of_a_hand(hand: list[str], value: float, rules: Record) -> Iterable[str]:
    ranks = Counter(card[0] for card in hand if card[0] != "X")
    trips = [rank for rank, number in ranks.items() if number >= 3]
    jokers = any(card[0] == "X" for card in hand)
    if trips and value == rules["three_of_a_kind"]:
        yield "three_of_a_kind"
    if trips == ["A"] and value == rules["three_aces"]:
        yield "three_aces"
    if trips and value < 30:
        yield "trips_count_nothing"
    if value % 1:
        yield "half_a_point"
    if jokers and value >= rules["blitz_value"]:
        yield "joker_in_a_blitz"
    if not trips and not jokers and value == rules["suited_run"] and not _adds_up(hand, value):
        yield "suited_run"


def _adds_up(hand: list[str], value: float) -> bool:
    points = Counter[str]()
    for rank, suit in hand:
        points[suit] += {"A": 11, **dict.fromkeys("TJQK", 10)}.get(rank) or int(rank)
    return max(points.values()) == value


def sights(record: Record) -> Counter[str]:
    """What the checker does not count: what hands are worth, lives at the start, low knocks."""
    seen, rules = Counter[str](), record["rules"]
    for row in record["rounds"]:
        for hand, value in zip(row["final_hands"], row["values"], strict=True):
            if hand:
                seen.update(_sights_of_a_hand(hand, value, rules))
        knockers = [event["seat"] for event in row["events"] if event["action"] == "knock"]
        seen["knock_with_less_than_21"] += any(row["values"][seat] < 21 for seat in knockers)
    seen["four_lives"] += max(record["rounds"][0]["lives"]) == 4
    seen["five_lives"] += max(record["rounds"][0]["lives"]) == 5
    return seen


def occurring(record: Record) -> Counter[str]:
    """Everything that occurs in a match, which the independent checker must accept."""
    return checker.check_match(json.loads(dump(record))) + sights(record)


def lacking(preset: str, record: Record) -> list[str]:
    """What has to occur in the playthrough of a preset and does not."""
    seen = occurring(record)
    return [name for name in BRANCHES[preset] if not seen[name]]


# --- the files ---------------------------------------------------------------------------------


def path_of(preset: str) -> Path:
    return FOLDER / f"{preset}.jsonl"


def searched(preset: str) -> Record:
    """The shortest of the first matches in which everything occurs; more are tried if none does."""
    rules, best, deals = PRESETS[preset], None, itertools.count()
    number = SEARCHED
    while best is None:
        for deal in itertools.islice(deals, number):
            record = play_match(rules, LINE_UPS[deal % len(LINE_UPS)], seed=SEED, deal=deal)
            if best is None or len(dump(record)) < len(dump(best)):
                if not lacking(preset, record):
                    best = record
        number *= 2
    return best


def played_again(preset: str) -> Record | None:
    """The match of a playthrough's header, played anew; None where there is none any more."""
    try:
        header = json.loads(path_of(preset).read_text(encoding="utf-8"))
        return play_match(
            PRESETS[preset], header["policies"], seed=header["seed"], deal=header["deal"]
        )
    except (OSError, ValueError, KeyError):
        return None


def made(preset: str, *, anew: bool = False) -> str:
    """The text of a playthrough as it should be."""
    record = None if anew else played_again(preset)
    if record is None or lacking(preset, record):
        record = searched(preset)
    return dump(record) + "\n"


def written(preset: str) -> str | None:
    """The text of a playthrough as it is; None without one."""
    path = path_of(preset)
    return path.read_text(encoding="utf-8") if path.exists() else None
