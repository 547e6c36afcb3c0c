"""A match as a game tree with explicit chance: immutable nodes, one card a chance node.

For solvers that enumerate chance or draw from it themselves. The engine's own randomness is never
used, so a node is a function of the actions that led to it. Cards that come to one place together
(a hand, a table) come in ascending order, each with the chance that it is the lowest of those
still to come there: as likely as any other way to deal, and the smallest tree.

A node also holds what everybody saw (`Seen`), so that information sets have perfect recall.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Any, NamedTuple

import numpy as np

from thirtyone_env import game
from thirtyone_env.actions import DRAW_STOCK, FIRST_CARD, REFUSE, action_name
from thirtyone_env.cards import NAMES, NO_CARD, cards_of, names_of, set_of
from thirtyone_env.classes import whole_deck
from thirtyone_env.rules import Rules
from thirtyone_env.state import NOBODY, End, Phase

DEAL = game.DEAL
LOT = -2
"""What chance completes besides decisions: a deal, and the lot for the first dealer."""

Places = tuple[tuple[int, ...], ...]


class Seen(NamedTuple):
    """One event of a round: a deal, a decision with what came of it, or the end."""

    seat: int
    """Who decided; NOBODY for the deal and the end."""
    action: int
    """The decision (card format); DEAL for the deal and the end."""
    text: str
    """What everybody saw."""
    open: int
    """The cards that were turned up for everybody, as a set."""
    hidden: tuple[int, ...]
    """By seat: the cards that it alone saw, as a set; one more, empty, for NOBODY."""

    def by(self, seat: int) -> str:
        """The event as a seat saw it, or as NOBODY in particular did."""
        own = self.hidden[seat]
        return f"{self.text} ({' '.join(names_of(own))})" if own else self.text


@dataclass(frozen=True)
class Tree:
    """A game whose tree is asked for.

    Args:
        rules: the rules.
        num_players: seats.
        one_round: the match ends after its first round.
        dealer: seat of the first dealer; None: chance draws it.
        lives: lives of each seat; None: as the rules say.
        cards: the cards that the deck consists of; empty: the deck of the rules. A joker counts
            as any card of the rules' deck all the same.
        deck: cards in dealing order that the first round begins with, known to all; the rest is
            left to chance.

    Raises:
        ValueError: for a value that is not allowed.
    """

    rules: Rules
    num_players: int
    one_round: bool = False
    dealer: int | None = None
    lives: tuple[int, ...] | None = None
    cards: tuple[int, ...] = ()
    deck: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.prepare(self.dealer)
        cards = game.checked_deck(self.rules, self.cards) or whole_deck(self.rules)
        deck = game.checked_deck(self.rules, self.deck)
        spare = 3 if self.rules.family == "exchange" else 2
        least = self.num_players * self.rules.hand_size + spare
        if len(cards) < least:
            raise ValueError(f"cards: {len(cards)} are too few; this game needs {least}")
        strange = [NAMES[card] for card in deck if card not in cards]
        if strange:
            raise ValueError(f"deck: {', '.join(strange)} is not among the cards in use")
        object.__setattr__(self, "cards", tuple(sorted(cards)))
        object.__setattr__(self, "deck", tuple(deck))

    def prepare(self, dealer: int | None) -> np.ndarray:
        """The match before its first deal."""
        return game.prepare(
            self.rules, self.num_players, dealer=dealer, lives=self.lives, one_round=self.one_round
        )

    def root(self) -> Node:
        """The first node: the lot for the dealer, or the first deal."""
        start = Node(self, self.prepare(self.dealer or 0), past=("",) * (self.num_players + 1))
        return replace(start, move=LOT) if self.dealer is None else start.begin_deal()


@dataclass(frozen=True, eq=False)
class Node:
    """A decision, a chance node or an end; never changed, so that a copy is the node itself."""

    tree: Tree
    states: np.ndarray
    """STATE[1] after the last completed decision or deal."""
    past: tuple[str, ...]
    """By seat: what it saw in the rounds before; one more for NOBODY: what all saw."""
    seen: tuple[Seen, ...] = ()
    """What happened in the round in progress."""
    move: int | None = None
    """What chance completes: LOT, DEAL or a decision; None where it has no part."""
    pool: tuple[int, ...] = ()
    """The cards that chance chooses from, sorted."""
    places: Places = ()
    """Where the cards go, those of one hand or table together."""
    cards: tuple[int, ...] = ()
    """The cards that chance has turned up for the move."""
    reshuffled: bool = False
    """The pool is that of a reshuffle which the move brings."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        return self

    # --- questions ---------------------------------------------------------------------------

    @property
    def is_chance(self) -> bool:
        """Whether chance has to choose."""
        return self.move is not None

    @property
    def is_over(self) -> bool:
        """Whether the match is over."""
        return game.is_over(self.states)

    @property
    def has_begun(self) -> bool:
        """Whether anything was dealt yet."""
        return bool(self.states["round_number"][0] >= 0)

    @property
    def seat(self) -> int:
        """Who decides."""
        return int(self.states["seat"][0])

    def legal_actions(self) -> list[int]:
        """The legal decisions, ascending (card format)."""
        return game.legal_actions(self.states)

    def outcomes(self) -> list[tuple[int, float]]:
        """What chance may choose and how likely each is: cards, or seats for the dealer."""
        if self.move == LOT:
            seats = self.tree.num_players
            return [(seat, 1 / seats) for seat in range(seats)]
        free, left = self._free_cards()
        ways, last = comb(len(free), left), len(free) - left
        return [
            (card, comb(len(free) - 1 - place, left - 1) / ways)
            for place, card in enumerate(free[: last + 1])
        ]

    def _free_cards(self) -> tuple[list[int], int]:
        """The cards that may still come to the place that is being filled, and how many will."""
        done, last = len(self.cards), NO_CARD
        for group in self.places:
            if done < len(group):
                last = self.cards[-1] if done else NO_CARD
                break
            done -= len(group)
        free = [card for card in self.pool if card > last and card not in self.cards]
        return free, len(group) - done

    def payoffs(self, kind: str) -> np.ndarray:
        """float64[S]: what the match has paid so far."""
        before = game.payoffs(self.tree.prepare(0), kind)  # type: ignore[arg-type]
        return game.payoffs(self.states, kind) - before  # type: ignore[arg-type]

    def history(self, seat: int) -> str:
        """All that a seat has seen, its own decisions included; NOBODY: what all have seen."""
        return self.past[seat] + "".join(f"{event.by(seat)}; " for event in self.seen)

    # --- going on ----------------------------------------------------------------------------

    def after(self, action: int) -> Node:
        """The node that follows a decision, or an outcome of chance.

        Raises:
            ValueError: for what is not legal or cannot come.
        """
        if self.move is None:
            return self._decide(action)
        if action not in dict(self.outcomes()):
            raise ValueError(f"{action} is no outcome of this chance node")
        if self.move == LOT:
            return replace(self, states=self.tree.prepare(action), move=None).begin_deal()
        return replace(self, cards=(*self.cards, action))._complete()

    def _decide(self, action: int) -> Node:
        """Take a decision; where cards come by lot it waits for them."""
        states = game.clone(self.states)
        lots = game.decide(states, action)
        if not lots.number:
            return self._settle(states, action)
        return replace(
            self,
            move=action,
            pool=tuple(cards_of(lots.pool)),
            places=(tuple(range(lots.number)),),
            reshuffled=lots.reshuffled,
        )

    def begin_deal(self) -> Node:
        """The node where the cards of the next round are dealt."""
        hands = int(self.states["in_play"][0]).bit_count()
        dealt = hands * self.tree.rules.hand_size
        fixed = len(self._fixed())
        turned_up = 1
        if self.tree.rules.family == "exchange":
            turned_up = 0 if self.tree.rules.dealer_choice else 3
        places = [range(first, dealt, hands) for first in range(hands)]  # a card to each in turn
        places.append(range(dealt, dealt + turned_up))
        return replace(
            self,
            move=DEAL,
            pool=tuple(card for card in self.tree.cards if card not in self._fixed()),
            places=tuple(tuple(place for place in group if place >= fixed) for group in places),
            cards=(),
            past=tuple(self.history(seat) for seat in (*range(self.tree.num_players), NOBODY)),
            seen=(),
        )._complete()

    def _fixed(self) -> tuple[int, ...]:
        """The cards that the coming round is known to begin with."""
        return () if self.has_begun else self.tree.deck

    def _complete(self) -> Node:
        """Take the move that chance was completing, once all its cards are there."""
        places = [place for group in self.places for place in group]
        if len(self.cards) < len(places):
            return self
        move, states = self.move, game.clone(self.states)
        if move == DEAL:
            laid = dict(enumerate(self._fixed())) | dict(zip(places, self.cards, strict=True))
            deck = [laid[place] for place in range(len(laid))]
            rest = [card for card in self.tree.cards if card not in deck]
            game.deal_cards(states, deck + rest, len(deck))
        elif move is not None:
            game.lay_cards(states, self.cards, reshuffled=self.reshuffled)
            game.decide(states, move)
        return self._settle(states, DEAL if move is None else move)

    def _settle(self, states: np.ndarray, move: int) -> Node:
        """The node after a completed move."""
        seen = (*self.seen, _event(self.states, states, move))
        was_running = move == DEAL or self.states["end"][0] == End.RUNNING
        if was_running and states["end"][0] != End.RUNNING:
            seen = (*seen, _end(states, self.tree.rules))
        node = Node(self.tree, states, self.past, seen)
        return node.begin_deal() if states["phase"][0] == Phase.ROUND_OVER else node


# --- what was seen -------------------------------------------------------------------------------


def _event(before: np.ndarray, after: np.ndarray, move: int) -> Seen:
    """What a deal or a decision showed."""
    seats = int(after["num_players"][0])
    hidden = [0] * (seats + 1)
    if move == DEAL:
        seat, fresh = NOBODY, int(after["table"][0])
        hidden[:seats] = after["hands"][0, :seats].tolist()
        text = f"round {int(after['round_number'][0]) + 1}, dealer {int(after['dealer'][0])}"
        upcard = int(after["upcard"][0])
        if upcard != NO_CARD:
            text += f", upcard {NAMES[upcard]}"
            fresh = set_of([upcard])
    else:
        seat = int(before["seat"][0])
        fresh = int(after["table"][0]) & ~int(before["table"][0])
        if move in (DRAW_STOCK, REFUSE):
            hidden[seat] = int(after["hands"][0, seat]) & ~int(before["hands"][0, seat])
        text = f"{seat} {action_name(move, int(before['phase'][0]))}"
    if after["table"][0] and move < FIRST_CARD and fresh:
        text += f", table {' '.join(names_of(int(after['table'][0])))}"
    if after["dealt_blitz"][0] and (move == DEAL or not before["dealt_blitz"][0]):
        text += ", dealt blitz"
    return Seen(seat, move, text, fresh, tuple(hidden))


def _end(states: np.ndarray, rules: Rules) -> Seen:
    """What the end of a round showed: its kind, the hands laid open, the lives."""
    seats, end = int(states["num_players"][0]), End(int(states["end"][0]))
    hands = states["hands"][0, :seats].tolist()
    shown = 0
    text = f"end {end.name.lower()}"
    for seat in _shown_hands(states, rules, end, hands):
        text += f", {seat} has {' '.join(names_of(hands[seat]))}"
        shown |= hands[seat]
    text += f", lives {' '.join(map(str, states['lives'][0, :seats].tolist()))}"
    return Seen(NOBODY, DEAL, text, shown, (0,) * (seats + 1))


def _shown_hands(states: np.ndarray, rules: Rules, end: End, hands: list[int]) -> list[int]:
    """The seats that lay their hands open: all at a comparison, else those with a blitz."""
    in_round = [seat for seat, hand in enumerate(hands) if hand]
    if end in (End.VOID, End.MAX_TURNS):
        return []
    if end in (End.KNOCK, End.STOCK_OUT):
        return in_round
    values = {seat: game.value_of(states, hands[seat]) for seat in in_round}
    holders = [seat for seat in in_round if values[seat] >= 2 * rules.blitz_value]
    aces = rules.three_aces or 0
    by_fire = aces > 31 and any(values[seat] == 2 * aces for seat in holders)
    return in_round if (rules.fire_loss if by_fire else rules.blitz_loss) == "lowest" else holders
