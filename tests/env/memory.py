"""What a player with perfect memory knows about hidden cards, followed through a match record.

Written from the rules alone. Every hidden card belongs to a pool of cards that the player cannot
tell apart: at the deal all unseen cards are one pool, and open cards that are shuffled into the
stock become a pool of their own. Of every other hand the player knows some cards by name and, of
the rest, how many come from which pool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any

from tests.independent import checker, scorer

Hands = dict[int, frozenset[str]]
ENDS_OF_TURNS = ("discard", "take", "swap_all", "pass", "knock")


@lru_cache(maxsize=200_000)
def value_of(hand: frozenset[str], scoring: tuple[Any, ...]) -> int:
    """Half points of a hand."""
    names = ("low_rank", "three_of_a_kind", "three_aces", "suited_run")
    return scorer.value(sorted(hand), dict(zip(names, scoring, strict=True)))


class Memory:
    """Follows the round in progress of a record from one seat."""

    def __init__(self, record: dict[str, Any], seat: int) -> None:
        self.row, self.rules, self.seat = record["rounds"][-1], record["rules"], seat
        self.in_play = self.row["in_play"]
        self.others = [other for other in self.in_play if other != seat]
        self.hands = [set(hand) for hand in self.row["hands"]]  # the truth; shown only in part
        self.pools = [set(checker.deck_in_use(self.rules)) - self.hands[seat]]
        self.held = {other: Counter({0: self.rules["hand_size"]}) for other in self.others}
        self.known: dict[int, set[str]] = {other: set() for other in self.others}
        self.table: set[str] = set()
        self.pile: set[str] = set()
        self.knocker: int | None = None
        self.drawing: tuple[int, str | None] = -1, None
        self.given: tuple[int, str] | None = None
        self.turns: Counter[int] = Counter()
        self.since_knock: set[int] = set()
        self.dealt_blitz = False
        self.upcard = self.row["upcard"]
        if self.upcard:
            self.see(self.upcard)
        if not self.rules["dealer_choice"]:
            self.lay(self.row["table"] or [])
            self.open()
        for event in self.row["events"]:
            getattr(self, f"on_{event['action']}")(event["seat"], event)
            if event["action"] in ENDS_OF_TURNS:
                self.turns[event["seat"]] += 1
                self.since_knock.add(event["seat"])

    def value(self, hand: set[str] | frozenset[str]) -> int:
        names = ("low_rank", "three_of_a_kind", "three_aces", "suited_run")
        return value_of(frozenset(hand), tuple(self.rules[name] for name in names))

    def holds_blitz(self, hand: set[str] | frozenset[str]) -> bool:
        return self.value(hand) >= 2 * self.rules["blitz_value"]

    def see(self, card: str, holder: int | None = None) -> None:
        """A card comes to light, out of a hand or out of the stock."""
        if holder == self.seat:
            return
        if holder is not None and card in self.known[holder]:
            self.known[holder].remove(card)
            return
        number = next(k for k, pool in enumerate(self.pools) if card in pool)
        self.pools[number].remove(card)
        if holder is not None:
            self.held[holder][number] -= 1

    def open(self) -> None:
        """The first turn comes, or a dealt blitz is announced."""
        self.dealt_blitz = any(self.holds_blitz(self.hands[seat]) for seat in self.in_play)

    def lay(self, table: list[str]) -> None:
        self.table = set(table)
        for card in table:
            self.see(card)

    # --- events ---------------------------------------------------------------------------------

    def on_draw_stock(self, seat: int, event: dict[str, Any]) -> None:
        self.hands[seat].add(event["card"])
        self.drawing = seat, None
        if seat == self.seat:
            self.see(event["card"])
        else:
            self.held[seat][len(self.pools) - 1] += 1

    def on_take_upcard(self, seat: int, event: dict[str, Any]) -> None:
        self.hands[seat].add(event["card"])
        if seat != self.seat:
            self.known[seat].add(event["card"])
        self.upcard, self.drawing = None, (seat, event["card"])

    def on_discard(self, seat: int, event: dict[str, Any]) -> None:
        self.hands[seat].remove(event["card"])
        self.see(event["card"], seat)
        self.pile |= {self.upcard} if self.upcard else set()
        self.upcard, self.drawing = event["card"], (-1, None)

    def on_knock(self, seat: int, event: dict[str, Any]) -> None:
        self.knocker = seat
        self.since_knock = set()

    def on_pass(self, seat: int, event: dict[str, Any]) -> None:
        """Tells nothing."""

    def on_keep(self, seat: int, event: dict[str, Any]) -> None:
        self.lay(self.row["table"])
        self.open()

    def on_refuse(self, seat: int, event: dict[str, Any]) -> None:
        for card in self.hands[seat]:
            self.see(card, seat)
        self.table, self.hands[seat] = self.hands[seat], set(self.row["stock"][:3])
        if seat == self.seat:
            for card in self.hands[seat]:
                self.see(card)
        else:
            self.held[seat][0] = 3
        self.open()

    def on_give(self, seat: int, event: dict[str, Any]) -> None:
        self.see(event["card"], seat)
        self.given = seat, event["card"]

    def on_take(self, seat: int, event: dict[str, Any]) -> None:
        assert self.given is not None
        given, taken = {self.given[1]}, {event["card"]}
        self.hands[seat] = self.hands[seat] - given | taken
        self.table = self.table - taken | given
        if seat != self.seat:
            self.known[seat] |= taken
        self.given = None

    def on_swap_all(self, seat: int, event: dict[str, Any]) -> None:
        for card in self.hands[seat]:
            self.see(card, seat)
        self.hands[seat], self.table = self.table, self.hands[seat]
        if seat != self.seat:
            self.known[seat] = set(self.hands[seat])

    def on_reshuffle(self, seat: None, event: dict[str, Any]) -> None:
        """Open cards become a pool; what was left of the stock stays where it was."""
        self.pools.append(self.pile | self.table)
        self.pile, self.table = set(), set()

    def on_renew_table(self, seat: None, event: dict[str, Any]) -> None:
        self.pile |= self.table
        self.lay(event["cards"])

    # --- what may be ----------------------------------------------------------------------------

    def shown(self, seat: int) -> set[str]:
        """The cards of a hand that are known by name."""
        given = {self.given[1]} if self.given and self.given[0] == seat else set()
        return self.known[seat] | given

    def deals(self) -> Iterator[tuple[Hands, int]]:
        """Every deal of the others' hands that may be, and in how many ways."""
        yield from self._deals(self.others, [set(pool) for pool in self.pools], {})

    def _deals(
        self, seats: list[int], pools: list[set[str]], hands: Hands
    ) -> Iterator[tuple[Hands, int]]:
        if not seats:
            weight = self.weight(hands)
            if weight:
                yield hands, weight
            return
        seat = seats[0]
        for hidden in self._hidden(pools, self.held[seat]):
            more = hands | {seat: frozenset(hidden | self.shown(seat))}
            yield from self._deals(seats[1:], [pool - hidden for pool in pools], more)

    def _hidden(self, pools: list[set[str]], held: Counter[int]) -> Iterator[set[str]]:
        def choose(number: int, chosen: set[str]) -> Iterator[set[str]]:
            if number == len(pools):
                yield chosen
                return
            for some in combinations(sorted(pools[number]), held[number]):
                yield from choose(number + 1, chosen | set(some))

        return choose(0, set())

    def weight(self, hands: Hands) -> int:
        """In how many ways the hands may have come about; 0 for what cannot be."""
        if self.dealt_blitz:
            return int(self._dealt_blitz_may_be(hands))
        ways = 1
        for seat, hand in hands.items():
            new: set[str] | frozenset[str] = frozenset()
            if seat == self.drawing[0]:
                taken = self.drawing[1]
                new = {taken} if taken else (hand - self.known[seat]) & self.pools[-1]
            before = [hand - {card} for card in new] or [hand]
            ways *= sum(self._may_hold(seat, held) for held in before)
        return ways

    def _may_hold(self, seat: int, hand: frozenset[str]) -> bool:
        """Nobody keeps a blitz unshown, and a knocker holds enough."""
        if seat == self.knocker and self.value(hand) < 2 * self.rules["min_knock"]:
            return False
        unseen = self.knocker is not None and seat != self.knocker and seat in self.since_knock
        may_be_high = unseen and not self.rules["blitz_after_knock"]
        return may_be_high or not self.holds_blitz(hand)

    def _dealt_blitz_may_be(self, hands: Hands) -> bool:
        """Who was passed over holds a blitz, who is to act does not, and somebody does."""
        dealer, seats = self.row["dealer"], len(self.row["hands"])
        order = [(dealer + 1 + step) % seats for step in range(seats)]
        order = [seat for seat in order if seat in self.in_play]
        everybody = hands | {self.seat: frozenset(self.hands[self.seat])}
        acting = next(k for k, seat in enumerate(order) if self.acts(seat, order))
        idle = [seat for seat in order if not self.turns[seat]]
        passed = [seat for seat in order[:acting] if seat in idle]
        if self.holds_blitz(everybody[order[acting]]):
            return False
        if not all(self.holds_blitz(everybody[seat]) for seat in passed):
            return False
        return any(self.holds_blitz(everybody[seat]) for seat in idle)

    def acts(self, seat: int, order: list[int]) -> bool:
        """Whether a seat is the one to act after a dealt blitz (or has begun to)."""
        if self.given:
            return self.given[0] == seat
        after = [s for s in order if self.turns[s]]
        late = order[order.index(after[-1]) + 1 :] if after else order
        return seat in late and not self.holds_blitz(self.hands[seat])
