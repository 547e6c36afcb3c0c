"""Draws, discards and swaps by best value, as every bot but `random` and `swedish` makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel, trailing_zeros
from thirtyone_env.actions import (
    BUY_IN,
    DECLINE,
    DRAW_STOCK,
    FIRST_CARD,
    KEEP,
    PASS,
    REFUSE,
    SWAP_ALL,
    TAKE_UPCARD,
    discardable_cards,
)
from thirtyone_env.bots.hands import (
    best_after_taking,
    cards_least_missed,
    cards_to_spare,
    gains_by_taking,
    lot,
    only_suits_count_after_swap,
    points_kept,
    reached_in_suit,
    tie_break,
)
from thirtyone_env.cards import (
    BIT,
    CARD_AT,
    LANE_POINTS,
    NO_CARD,
    RANK_MASK,
    best_suit,
    hand_value,
    lowest,
    only_suits_count,
    pair_ranks,
    suit_points,
)
from thirtyone_env.equity import equity
from thirtyone_env.state import Phase, State, acting_seat, next_seat, stock_left


@inlined_kernel
def sum_of_squares(points: int) -> int:
    """Squared points of the four suits, added up."""
    total = np.int64(0)
    for suit in range(4):
        worth = (points >> (16 * suit)) & 0xFFFF
        total += worth * worth
    return total


@inlined_kernel
def pick_of_equals(state: State, hand: int, points: int, cards: int) -> int:
    """The discard by `tie_break` among cards that leave the same value, if only suits count."""
    known = np.int64(state.known[next_seat(state, state.seat)])
    pairs = pair_ranks(hand) if state.rules.three_of_a_kind else 0
    squares = sum_of_squares(points)
    best, choice = np.int64(-1 << 60), NO_CARD
    while cards:
        place = trailing_zeros(cards)
        cards &= cards - 1
        lane = place & 48
        worth = np.int64(LANE_POINTS[place]) >> lane
        tie = (squares - worth * (2 * ((points >> lane) & 0xFFFF) - worth)) >> 4
        if pairs & ~(1 << (place & 15)):
            tie += 40
        if (known >> lane) & RANK_MASK:
            tie -= 4 * worth
        card = np.int64(CARD_AT[place])
        tie = tie * 256 + lot(hand ^ (np.int64(1) << place), card)
        if tie > best:
            best, choice = tie, card
    return choice


@inlined_kernel
def pick_discard(state: State) -> int:
    """The discard that leaves the best hand."""
    hand = np.int64(state.hands[acting_seat(state)])
    cards = discardable_cards(state, hand)
    if not only_suits_count(hand, state.rules):
        return pick_of_all(state, hand, cards)
    points = suit_points(hand)
    equals = cards_to_spare(points, cards)
    if equals == 0:
        equals = cards_least_missed(points, cards)
    if equals & (equals - 1) == 0:
        return lowest(equals)
    return pick_of_equals(state, hand, points, equals)


@kernel
def pick_of_all(state: State, hand: int, cards: int) -> int:
    """The discard that leaves the best hand, whatever counts."""
    best, best_tie, choice = np.int64(-1), np.int64(0), NO_CARD
    while cards:
        card = lowest(cards)
        cards ^= np.int64(BIT[card])
        rest = hand ^ np.int64(BIT[card])
        value = hand_value(rest, state.rules)
        if value < best:
            continue
        tie = tie_break(state, rest, card)
        if value > best or tie > best_tie:
            best, best_tie, choice = value, tie, card
    return choice


NO_TIE = -(1 << 60)


@kernel
def takers(rest: int, table: int, rules: Any) -> int:
    """The table cards with which the rest of a hand is worth most."""
    best, cards = np.int64(-1), np.int64(0)
    while table:
        low = table & -table
        table ^= low
        value = hand_value(rest | low, rules)
        cards = low if value > best else cards | low if value == best else cards
        best = max(best, value)
    return cards


@inlined_kernel
def takers_by_suits(points: int, table: int) -> int:
    """As `takers`, where only suits count."""
    value = best_suit(points)
    best, cards = np.int64(-1), np.int64(0)
    while table:
        low = table & -table
        table ^= low
        reached = max(value, reached_in_suit(points, trailing_zeros(low)))
        cards = low if reached > best else cards | low if reached == best else cards
        best = max(best, reached)
    return cards


@kernel
def best_tie(state: State, rest: int, cards: int, given: int, which: bool) -> int:
    """The best tie break of a hand over the card that it takes; or the card that has it."""
    best, choice = np.int64(NO_TIE), NO_CARD
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        tie = tie_break(state, rest | np.int64(BIT[card]), given)
        if tie > best:
            best, choice = tie, card
    return choice if which else best


@kernel
def pick_from_table(state: State, given: int) -> int:
    """The table card to take for a card that is given."""
    rest = np.int64(state.hands[acting_seat(state)]) ^ np.int64(BIT[given])
    table = np.int64(state.table)
    if only_suits_count_after_swap(rest, table, state.rules):
        cards = takers_by_suits(suit_points(rest), table)
    else:
        cards = takers(rest, table, state.rules)
    if cards & (cards - 1) == 0:
        return lowest(cards)
    return best_tie(state, rest, cards, given, True)


@kernel
def givers(hand: int, table: int, best: int, rules: Any) -> int:
    """The cards of a hand that can be exchanged for one with which it is worth so much."""
    found = np.int64(0)
    while table:
        taken = table & -table
        table ^= taken
        cards = hand & ~found
        while cards:
            low = cards & -cards
            cards ^= low
            found |= low if hand_value(hand ^ low | taken, rules) == best else 0
    return found


@kernel
def pick_giver(state: State, wanted: int, best: int, value: int, all_value: int) -> int:
    """The card to give for one of the table cards that are worth most; or all, or none.

    A swap of one card that is disliked (a tie break below 0) must gain more than half a point.
    """
    hand = np.int64(state.hands[acting_seat(state)])
    cards = givers(hand, wanted, best, state.rules)
    if cards & (cards - 1) == 0 and best > value + 1 and best != all_value:
        return FIRST_CARD + lowest(cards)
    tie, choice = np.int64(NO_TIE), NO_CARD
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        rest = hand ^ np.int64(BIT[card])
        found = best_tie(state, rest, takers(rest, wanted, state.rules), card, False)
        if found > tie:
            tie, choice = found, card
    if tie < 0 and all_value == best:
        return SWAP_ALL
    return FIRST_CARD + choice if best - (tie < 0) > value else PASS


@inlined_kernel
def givers_for(hand: int, points: int, taken: int) -> int:
    """The cards that can be exchanged for one that makes the hand better, if only suits count.

    That is all outside its suit; of a hand that is all of that suit, those worth least.
    """
    lane = trailing_zeros(taken) & 48
    cards = hand & ~(np.int64(RANK_MASK) << lane)
    return cards if cards else cards_least_missed(points, hand)


@inlined_kernel
def tie_of_swap(state: State, hand: int, points: int, given: int, taken: int) -> int:
    """`tie_break` of a hand that exchanges one card, both as sets, if only suits count."""
    place = trailing_zeros(given)
    worth = np.int64(LANE_POINTS[place])
    cards = hand ^ given | taken
    tie = sum_of_squares(points - worth + np.int64(LANE_POINTS[trailing_zeros(taken)])) >> 4
    if state.rules.three_of_a_kind and pair_ranks(cards):
        tie += 40
    if (np.int64(state.known[next_seat(state, state.seat)]) >> (place & 48)) & RANK_MASK:
        tie -= 4 * (worth >> (place & 48))
    return tie * 256 + lot(cards, np.int64(CARD_AT[place]))


@inlined_kernel
def best_swap(state: State, hand: int, points: int, wanted: int, givers: int) -> tuple[int, int]:
    """The best tie break of an exchange with one of the wanted cards, and the card to give."""
    tie, choice = np.int64(NO_TIE), np.int64(0)
    while givers:
        given = givers & -givers
        givers ^= given
        cards = wanted
        while cards:
            taken = cards & -cards
            cards ^= taken
            if given & givers_for(hand, points, taken):
                found = tie_of_swap(state, hand, points, given, taken)
                if found > tie:
                    tie, choice = found, given
    return tie, choice


@kernel
def pick_giver_by_suits(state: State, wanted: int, best: int, value: int, all_value: int) -> int:
    """As `pick_giver`, where only suits count."""
    hand = np.int64(state.hands[acting_seat(state)])
    points = suit_points(hand)
    givers, cards = np.int64(0), wanted
    while cards:
        givers |= givers_for(hand, points, cards & -cards)
        cards &= cards - 1
    if givers & (givers - 1) == 0 and best > value + 1 and best != all_value:
        return FIRST_CARD + lowest(givers)
    tie, choice = best_swap(state, hand, points, wanted, givers)
    if tie < 0 and all_value == best:
        return SWAP_ALL
    return FIRST_CARD + lowest(choice) if best - (tie < 0) > value else PASS


@inlined_kernel
def pick_exchange_by_suits(state: State, hand: int, table: int, all_value: int) -> int:
    """As `pick_exchange`, where only suits count."""
    points = suit_points(hand)
    value = best_suit(points)
    kept = points_kept(hand, points)
    best, wanted = np.int64(0), np.int64(0)
    while table:
        low = table & -table
        table ^= low
        reached = reached_in_suit(kept, trailing_zeros(low))
        wanted = low if reached > best else wanted | low if reached == best else wanted
        best = max(best, reached)
    if all_value > max(value, best):
        return SWAP_ALL
    if best <= value:
        return PASS
    return pick_giver_by_suits(state, wanted, best, value, all_value)


@kernel
def pick_exchange_of_all(state: State, hand: int, table: int, all_value: int) -> int:
    """As `pick_exchange`, whatever counts."""
    value = hand_value(hand, state.rules)
    best, wanted = np.int64(0), np.int64(0)
    while table:
        low = table & -table
        table ^= low
        reached = best_after_taking(hand, lowest(low), state.rules)
        wanted = low if reached > best else wanted | low if reached == best else wanted
        best = max(best, reached)
    if all_value > max(value, best):
        return SWAP_ALL
    if best <= value:
        return PASS
    return pick_giver(state, wanted, best, value, all_value)


@kernel
def pick_exchange(state: State) -> int:
    """The exchange that makes the best hand; a pass where none makes it better."""
    hand, table = np.int64(state.hands[acting_seat(state)]), np.int64(state.table)
    all_value = hand_value(table, state.rules)
    if only_suits_count_after_swap(hand, table, state.rules):
        return pick_exchange_by_suits(state, hand, table, all_value)
    return pick_exchange_of_all(state, hand, table, all_value)


@inlined_kernel
def pick_draw(state: State) -> int:
    """The upcard if it makes the hand better, else the stock, else a pass."""
    hand = np.int64(state.hands[acting_seat(state)])
    upcard = np.int64(state.upcard)
    if upcard != NO_CARD and gains_by_taking(hand, upcard & 63, state.rules):
        return TAKE_UPCARD
    return DRAW_STOCK if stock_left(state) > 0 else PASS


@kernel
def pick_dealer_choice(state: State) -> int:
    """Refuse a first hand below 17 points, a little over the mean of three cards."""
    return KEEP if hand_value(np.int64(state.hands[state.seat]), state.rules) >= 34 else REFUSE


@kernel
def pick_buy_in(state: State) -> int:
    """Buy in where the chance to win by lives, with one life, is worth a stake of the pot."""
    seat = np.int64(state.seat)
    pot = 1
    for other in range(state.num_players):
        pot += np.int64(state.stakes[other])
    lives, pending = state.lives[seat], state.pending
    state.lives[seat] = 1
    state.pending = pending & ~(1 << seat)
    chance = equity(state, seat)
    state.lives[seat] = lives
    state.pending = pending
    return BUY_IN if chance * pot >= 1.0 else DECLINE


@inlined_kernel
def continuing_action(state: State) -> int:
    """What the greedy rule does when it does not knock; the draws of every bot but `random`."""
    phase = np.int64(state.phase)
    if phase == Phase.TURN:
        return pick_exchange(state) if state.rules.exchange else pick_draw(state)
    if phase == Phase.DISCARD:
        return FIRST_CARD + pick_discard(state)
    if phase == Phase.TAKE:
        return FIRST_CARD + pick_from_table(state, np.int64(state.given))
    if phase == Phase.DEALER:
        return pick_dealer_choice(state)
    return pick_buy_in(state)
