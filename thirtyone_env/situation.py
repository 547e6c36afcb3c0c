"""A table as one player sees it, put together from what that player can tell.

For advice and studies: cards in the own hand, what lies open, what others took and laid down, whose
turn it is. All that is hidden is dealt by lot among what remains, as the public history allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from thirtyone_env import game
from thirtyone_env.cards import NAMES, NO_CARD, set_of
from thirtyone_env.checks import checked_number
from thirtyone_env.rules import Rules, resolve_rules
from thirtyone_env.state import NOBODY, Phase

Cards = str | Sequence[str]
TABLE_SIZE = 3
"""Open cards in the exchange family."""


def situation(
    rules: str | Rules | Mapping[str, Any],
    num_players: int,
    *,
    hand: Cards,
    upcard: str | None = None,
    table: Cards | None = None,
    position: int = 1,
    turn: int = 1,
    discards: Cards = (),
    taken: Mapping[int, Cards] | None = None,
    knocked_by: int | None = None,
    lives: Sequence[int] | None = None,
    one_round: bool = False,
    seed: int = 0,
) -> np.ndarray:
    """A match in which a player is about to begin a turn, and knows this much.

    Players are numbered by their turns from 1; all of them are in play. Seat s is player s + 1.

    Args:
        rules: a preset's name, a `Rules`, or a mapping of fields.
        num_players: players at the table.
        hand: own cards, such as ``"Kh 9h 4c"``.
        upcard: draw family: the upcard; None where there is none.
        table: exchange family: the open cards.
        position: which player decides: 1 has the first turn of the round.
        turn: which of the player's own turns of this round this is, from 1.
        discards: cards known to lie under the upcard, or put aside in the exchange family.
        taken: by player: cards taken openly that are still in that hand.
        knocked_by: the player that has knocked, or closed.
        lives: of each player; None: as at the start of a match.
        one_round: the match ends after this round.
        seed: what the hidden cards and all to come derive from.

    Returns:
        STATE[1]; the seat ``position − 1`` is to act.

    Raises:
        ValueError: for a value that is not allowed, a card that is at two places or not in the
            deck, or cards that no hidden cards go with.
    """
    rules = resolve_rules(rules)
    size = rules.check_seats(num_players)
    seat = checked_number("position", position, 1, size) - 1
    turn = checked_number("turn", turn, 1, 1_000)
    known = {checked_number("taken", who, 1, size) - 1: cards for who, cards in _pairs(taken)}
    if seat in known:
        raise ValueError(f"taken: player {position} is the one that decides; name its hand")
    states = _dealt(rules, size, lives, one_round, seed)
    exchange = rules.family == "exchange"
    places = {
        "hand": _checked(rules, "hand", hand, rules.hand_size),
        "table": _checked(rules, "table", table or (), TABLE_SIZE if exchange else 0),
        "upcard": _checked(rules, "upcard", () if upcard is None else [upcard], None),
        "discards": _checked(rules, "discards", discards, None),
    }
    if exchange and upcard is not None:
        raise ValueError(f"upcard = {upcard!r}: there is none under these rules; give table=")
    for other, cards in known.items():
        name = f"taken by player {other + 1}"
        places[name] = _checked(rules, name, cards, None)
        if len(places[name]) > rules.hand_size:
            raise ValueError(f"{name}: {len(places[name])} cards; a hand has {rules.hand_size}")
    _check_distinct(places)
    if game.value_of(states, set_of(places["hand"])) >= states["rules"]["blitz_value"][0]:
        raise ValueError(f"hand = {hand!r} is a blitz: the round is over")
    knocker = _checked_knocker(knocked_by, seat, size, turn)
    _lay_out(states, rules, seat, places, seed)
    states["known"][0, :size] = 0
    for other in known:
        states["known"][0, other] = set_of(places[f"taken by player {other + 1}"])
    _count_turns(states, seat, turn, knocker)
    if not game.resample_states(states, seat, np.uint64(seed)):
        raise ValueError("no hidden cards go with this: a hand that must be worth too much?")
    return states


def _pairs(taken: Mapping[int, Cards] | None) -> list[tuple[int, Cards]]:
    return list((taken or {}).items())


def _dealt(
    rules: Rules, size: int, lives: Sequence[int] | None, one_round: bool, seed: int
) -> np.ndarray:
    """A match at the first turn of its first round, whatever was dealt."""
    for match in range(1_000):
        states = game.prepare(
            rules,
            size,
            seed=seed,
            match=match,
            dealer=size - 1,
            lives=lives,
            one_round=one_round,
        )
        game.step_states(states, game.DEAL)
        begun = states["phase"][0] in (Phase.TURN, Phase.DEALER) and not states["dealt_blitz"][0]
        if begun and states["round_number"][0] == 0:
            return states
    raise ValueError("a thousand deals all ended with a dealt blitz; is blitz_value that low?")


def _checked(rules: Rules, name: str, cards: Cards, number: int | None) -> list[int]:
    try:
        found = game.checked_deck(rules, cards) if cards else []
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if number is not None and len(found) != number:
        raise ValueError(f"{name}: {len(found)} cards; under these rules there are {number}")
    return found


def _check_distinct(places: Mapping[str, list[int]]) -> None:
    where: dict[int, str] = {}
    for name, cards in places.items():
        for card in cards:
            if card in where:
                raise ValueError(f"{NAMES[card]} is in {where[card]} and in {name}")
            where[card] = name


def _checked_knocker(knocked_by: int | None, seat: int, size: int, turn: int) -> int:
    if knocked_by is None:
        return NOBODY
    knocker = checked_number("knocked_by", knocked_by, 1, size) - 1
    if knocker == seat:
        raise ValueError(f"knocked_by = {knocked_by}: that player decides, and has had its turn")
    if turn == 1 and knocker > seat:
        raise ValueError(f"knocked_by = {knocked_by}: that player has had no turn yet")
    return knocker


def _lay_out(
    states: np.ndarray, rules: Rules, seat: int, places: Mapping[str, list[int]], seed: int
) -> None:
    """Put every card somewhere: what is known in its place, the rest by lot."""
    size = int(states["num_players"][0])
    seen = {card for cards in places.values() for card in cards}
    rest = [card for card in game.whole_deck(rules) if card not in seen]
    rest = np.random.default_rng(seed).permutation(rest).tolist()
    for other in range(size):
        cards = places["hand"] if other == seat else places.get(f"taken by player {other + 1}", [])
        while len(cards) < rules.hand_size:
            if not rest:
                raise ValueError("too few cards are left for the others' hands")
            cards = [*cards, rest.pop()]
        states["hands"][0, other] = set_of(cards)
    states["upcard"] = places["upcard"][0] if places["upcard"] else NO_CARD
    states["table"] = set_of(places["table"])
    states["pile"] = set_of(places["discards"])
    states["recycled"] = 0
    top = int(states["deck_end"][0]) - len(rest)
    states["deck"][0, top : top + len(rest)] = rest
    states["top"], states["shuffled"] = top, top


def _count_turns(states: np.ndarray, seat: int, turn: int, knocker: int) -> None:
    """Whose turn it is, and how many there have been."""
    size = int(states["num_players"][0])
    turns = np.where(np.arange(size) < seat, turn, turn - 1)
    states["own_turns"][0, :size] = turns
    states["turns"], states["decisions"] = turns.sum(), 2 * turns.sum()
    states["phase"], states["seat"], states["knocker"] = Phase.TURN, seat, knocker
    states["refused"] = 0
