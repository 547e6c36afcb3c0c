"""Scripted policies inside the kernel: `random`, `threshold:T` and the advice of three sources.

A bot sees the State through its own seat only: its hand, what lies open, what was taken or
discarded openly, lives, turns. All but `random` are functions of that alone. Each draws and
discards by best value; ties are broken by what can still grow and by not feeding the next player
a card of a suit that it collects, and at last by a hash of the cards (never by their order, so that
no suit is favoured). Two bots that never knock can take upcards from each other for ever;
`Rules.max_turns` ends that.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel, trailing_zeros, wrapping_kernel
from thirtyone_env.actions import (
    BUY_IN,
    DECLINE,
    DRAW_STOCK,
    FIRST_CARD,
    KEEP,
    KNOCK,
    PASS,
    REFUSE,
    SWAP_ALL,
    TAKE_UPCARD,
    legal_cards,
    legal_words,
    may_knock,
)
from thirtyone_env.cards import (
    BIT,
    CARD_AT,
    CARD_POINTS,
    JOKER_MASK,
    LANE_POINTS,
    LOWEST_JOKER,
    NO_CARD,
    RANK_MASK,
    RANK_POINTS,
    SUIT_POINTS,
    best_suit,
    count,
    hand_value,
    lowest,
    only_suits_count,
    pair_ranks,
    suit_points,
    trip_ranks,
)
from thirtyone_env.checks import check_choice
from thirtyone_env.equity import equity
from thirtyone_env.rng import advance_stream, below, mix
from thirtyone_env.state import (
    ASK_ALL,
    ASK_KNOCK,
    ASK_NOTHING,
    CONTROLLER,
    EXTERNAL,
    MAX_THRESHOLDS,
    Phase,
    State,
    acting_seat,
    is_in,
    losses_to_go,
    next_seat,
    stock_left,
)


class Bot(IntEnum):
    """Numbers of the bots; 0 is EXTERNAL."""

    RANDOM = 1
    """Any legal action, each as likely."""
    NEVER_KNOCK = 2
    """Draws and discards like `threshold:T` and never knocks."""
    THRESHOLD = 3
    """Knocks with a hand worth the threshold of its own turn, or more."""
    DANISH = 4
    """The Danish text: knock with 25; with less while few turns are played, with more late."""
    DUTCH = 5
    """The Dutch text: 28; 26 at cautious tables, 29 at aggressive ones; less on the last life."""
    SWEDISH = 6
    """The Swedish text: commit to a suit early; knock weak to stop a collector."""


BOTS: tuple[str, ...] = ("random", "never_knock", "threshold:25", "danish", "dutch", "swedish")
"""One example of every bot."""
BOT_FORMS: tuple[str, ...] = (
    "random",
    "never_knock",
    "threshold:T",
    "threshold_by_turn:T1,T2,…",
    "danish",
    "dutch",
    "swedish",
)
"""How bots are named; T is in points, halves allowed."""
DRAWS: dict[str, Bot] = {"greedy": Bot.NEVER_KNOCK, "swedish": Bot.SWEDISH}
"""Rules that draw and discard for a seat that decides about knocking only."""


# --- what a hand may become ----------------------------------------------------------------------


@inlined_kernel
def points_after_taking(hand: int, points: int, card: int) -> int:
    """Points of the suits once a card is taken and the one goes that is missed least.

    That is one outside the best suit; of a hand of one suit, its lowest card.
    """
    place = trailing_zeros(hand)
    one_suit = hand >> (place & 48) <= RANK_MASK
    return points + np.int64(CARD_POINTS[card]) - np.int64(LANE_POINTS[place]) * one_suit


@kernel
def best_of_all_takings(hand: int, card: int, rules: Any) -> int:
    """Best value of a hand that takes a card and gives up another one, whatever counts."""
    cards = hand | np.int64(BIT[card])
    best = 0
    rest = hand
    while rest:
        low = rest & -rest
        rest ^= low
        best = max(best, hand_value(cards ^ low, rules))
    return best


@inlined_kernel
def best_after_taking(hand: int, card: int, rules: Any) -> int:
    """Best value of a hand that takes a card and gives up another one."""
    if hand and only_suits_count(hand | np.int64(BIT[card]), rules):
        return best_suit(points_after_taking(hand, suit_points(hand), card))
    return best_of_all_takings(hand, card, rules)


@inlined_kernel
def gains_by_taking(hand: int, card: int, rules: Any) -> bool:
    """Whether a card makes a hand better."""
    if only_suits_count(hand | np.int64(BIT[card]), rules):
        points = suit_points(hand)
        return best_suit(points_after_taking(hand, points, card)) > best_suit(points)
    return best_of_all_takings(hand, card, rules) > hand_value(hand, rules)


@inlined_kernel
def cards_to_spare(points: int, cards: int) -> int:
    """Those of some cards that leave the hand its best suit, if only suits count."""
    best = best_suit(points)
    rest, times = np.int64(0), 0
    for suit in range(4):
        if (points >> (16 * suit)) & 0xFFFF == best:
            times += 1
        else:
            rest |= np.int64(RANK_MASK) << (16 * suit)
    return cards if times > 1 else cards & rest


@inlined_kernel
def cards_least_missed(points: int, cards: int) -> int:
    """Those of some cards without which the best suit is worth most."""
    best, least = np.int64(-1), np.int64(0)
    while cards:
        low = cards & -cards
        cards ^= low
        value = best_suit(points - np.int64(LANE_POINTS[trailing_zeros(low)]))
        least = low if value > best else least | low if value == best else least
        best = max(best, value)
    return least


@kernel
def best_after_discard(hand: int, cards: int, rules: Any) -> int:
    """Best value of a hand that gives up one of some of its cards."""
    if cards and only_suits_count(hand, rules):
        points = suit_points(hand)
        if cards_to_spare(points, cards):
            return best_suit(points)
        place = trailing_zeros(cards_least_missed(points, cards))
        return best_suit(points - np.int64(LANE_POINTS[place]))
    best = 0
    while cards:
        low = cards & -cards
        cards ^= low
        best = max(best, hand_value(hand ^ low, rules))
    return best


@kernel
def best_after_swap(hand: int, table: int, rules: Any) -> int:
    """Best value of a hand after one exchange with the table, one card or all."""
    best = hand_value(table, rules)
    while table:
        best = max(best, best_after_taking(hand, lowest(table), rules))
        table &= table - 1
    return best


@kernel
def best_with_open_cards(state: State, seat: int) -> int:
    """Best value of the seat's hand if it takes the upcard, or exchanges with the table."""
    hand = np.int64(state.hands[seat])
    if count(hand) > state.rules.hand_size:
        return 0
    if state.rules.exchange:
        return best_after_swap(hand, np.int64(state.table), state.rules) if state.table else 0
    if state.upcard == NO_CARD:
        return 0
    return best_after_taking(hand, np.int64(state.upcard), state.rules)


@kernel
def growth(hand: int, rules: Any) -> int:
    """How much a hand may grow: squared points by suit, and pairs where three of a kind count."""
    jokers = count(hand & JOKER_MASK)
    total = 0
    for suit in range(4):
        worth = np.int64(SUIT_POINTS[0, (hand >> (16 * suit)) & RANK_MASK])
        total += worth * worth
    total >>= 4
    if rules.three_of_a_kind and trip_ranks(hand, jokers + 1):
        total += 40
    return total + 200 * jokers


@kernel
def feeding(state: State, card: int) -> int:
    """Half points that a card adds to a suit which the next player has openly collected."""
    known = np.int64(state.known[next_seat(state, state.seat)])
    if card >= LOWEST_JOKER:
        return 40 if known else 0
    if (known >> (16 * (card // 13))) & RANK_MASK:
        return np.int64(RANK_POINTS[card % 13])
    return 0


@wrapping_kernel
def lot(hand: int, card: int) -> int:
    """Eight bits that settle ties among cards: a hash of what the seat holds, not an order."""
    return np.int64(mix(np.uint64(hand) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(card))) & 255


@kernel
def tie_break(state: State, hand: int, card: int) -> int:
    """How a hand is liked among hands of one value after laying a card open."""
    tie = growth(hand, state.rules) - 4 * feeding(state, card)
    return tie * 256 + lot(hand, card)


# --- draws, discards and swaps by best value -----------------------------------------------------


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
    cards = legal_cards(state)
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
    cards = takers(rest, np.int64(state.table), state.rules)
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


@kernel
def pick_exchange(state: State) -> int:
    """The exchange that makes the best hand; a pass where none makes it better."""
    hand, table = np.int64(state.hands[acting_seat(state)]), np.int64(state.table)
    value, all_value = hand_value(hand, state.rules), hand_value(table, state.rules)
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


# --- when to knock -------------------------------------------------------------------------------


@inlined_kernel
def threshold_now(state: State) -> int:
    """The seat's threshold in half points, by its own turn; the last one goes on."""
    seat = acting_seat(state)
    controller = state.controllers[seat]
    turn = min(np.int64(state.own_turns[seat]), np.int64(controller.num_thresholds) - 1)
    return np.int64(controller.thresholds[turn & 7])


@kernel
def danish_threshold(state: State) -> int:
    """25 points; 21 on the first own turn, 23 on the second, 27 from the sixth on."""
    turn = np.int64(state.own_turns[state.seat])
    if turn == 0:
        return 42
    if turn == 1:
        return 46
    return 50 if turn < 5 else 54


@kernel
def dutch_threshold(state: State) -> int:
    """28; 26 where knocks have come late (5 turns or more), 29 where early (2 or fewer).

    Two points less with one loss to go.
    """
    value = 56
    knocks, turns = np.int64(state.knocks), np.int64(state.knock_turns)
    if knocks >= 2 and turns >= 5 * knocks:
        value = 52
    elif knocks >= 2 and turns <= 2 * knocks:
        value = 58
    if losses_to_go(state, state.seat) == 1:
        value -= 4
    return value


@kernel
def openly_collected(state: State, seat: int) -> int:
    """Most half points in one suit that a seat holds of cards taken openly, two cards at least."""
    known = np.int64(state.known[seat])
    best = 0
    for suit in range(4):
        ranks = (known >> (16 * suit)) & RANK_MASK
        if count(ranks) >= 2:
            best = max(best, np.int64(SUIT_POINTS[0, ranks]))
    return best


@kernel
def swedish_threshold(state: State) -> int:
    """27; 23 as soon as an opponent openly holds two cards of one suit worth 20 or more."""
    for seat in range(state.num_players):
        if seat != state.seat and is_in(state.in_play, seat):
            if openly_collected(state, seat) >= 40:
                return 46
    return 54


FOUR_CARDS_MORE = 16
"""Half points that the three texts' thresholds go up by with four cards (heads-up, measured)."""


@inlined_kernel
def wants_knock(state: State) -> bool:
    """Whether the seat's bot knocks now, where it may."""
    seat = acting_seat(state)
    bot = np.int64(state.controllers[seat].bot)
    value = hand_value(np.int64(state.hands[seat]), state.rules)
    if bot == Bot.NEVER_KNOCK:
        return False
    if bot == Bot.THRESHOLD:
        return value >= threshold_now(state)
    if bot == Bot.DANISH:
        threshold = danish_threshold(state)
    elif bot == Bot.DUTCH:
        threshold = dutch_threshold(state)
    else:
        threshold = swedish_threshold(state)
    return value >= threshold + FOUR_CARDS_MORE * (state.rules.hand_size - 3)


# --- bots that draw in their own way -------------------------------------------------------------


@kernel
def random_action(state: State) -> int:
    """One of the legal actions, from the seat's own stream."""
    seat = np.int64(state.seat)
    words, cards = legal_words(state), legal_cards(state)
    stream = advance_stream(state.policy_streams[seat])
    state.policy_streams[seat] = stream
    choice = below(stream, count(words) + count(cards))
    for word in range(FIRST_CARD):
        if (words >> word) & 1:
            if choice == 0:
                return word
            choice -= 1
    while choice:
        cards &= cards - 1
        choice -= 1
    return FIRST_CARD + lowest(cards)


@kernel
def committed_suit(hand: int) -> int:
    """The suit with the most points; a hash settles ties."""
    best, choice = -1, 0
    for suit in range(4):
        ranks = (hand >> (16 * suit)) & RANK_MASK
        score = np.int64(SUIT_POINTS[0, ranks]) * 256 + lot(hand, suit)
        if score > best:
            best, choice = score, suit
    return choice


@kernel
def swedish_draw(state: State) -> int:
    """As the greedy rule, but a known 8 or more of the own suit beats an unknown card."""
    action = pick_draw(state)
    upcard = np.int64(state.upcard)
    if action != DRAW_STOCK or upcard == NO_CARD or upcard >= LOWEST_JOKER:
        return action
    hand = np.int64(state.hands[state.seat])
    suit = committed_suit(hand)
    worst = 100
    cards = hand & ~JOKER_MASK
    while cards:
        card = lowest(cards)
        cards ^= np.int64(BIT[card])
        if card // 13 == suit:
            worst = min(worst, np.int64(RANK_POINTS[card % 13]))
        else:
            worst = 0
    gain = np.int64(RANK_POINTS[upcard % 13])
    if upcard // 13 == suit and gain >= 16 and gain > worst:
        return TAKE_UPCARD
    return action


@kernel
def swedish_discard(state: State) -> int:
    """Keep the committed suit together: give up the lowest card outside it, where it is best."""
    hand = np.int64(state.hands[state.seat])
    greedy = pick_discard(state)
    suit = committed_suit(hand)
    own = hand & (np.int64(RANK_MASK) << (16 * suit))
    outside = legal_cards(state) & ~own & ~JOKER_MASK
    if outside == 0 or count(own) < 2:
        return greedy
    best, choice = np.int64(1 << 40), greedy
    while outside:
        card = lowest(outside)
        outside ^= np.int64(BIT[card])
        cost = (np.int64(RANK_POINTS[card % 13]) + feeding(state, card)) * 256 + lot(hand, card)
        if cost < best:
            best, choice = cost, card
    now = hand_value(hand ^ np.int64(BIT[greedy]), state.rules)
    then = hand_value(hand ^ np.int64(BIT[choice]), state.rules)
    return choice if then >= now - 4 else greedy


@inlined_kernel
def going_on(state: State) -> int:
    """What the seat's bot does when it does not knock."""
    if state.controllers[state.seat].bot == Bot.SWEDISH and not state.rules.exchange:
        if state.phase == Phase.TURN:
            return swedish_draw(state)
        if state.phase == Phase.DISCARD:
            return FIRST_CARD + swedish_discard(state)
    return continuing_action(state)


@inlined_kernel
def bot_action(state: State) -> int:
    """The decision of the seat's bot (card format)."""
    bot = np.int64(state.controllers[acting_seat(state)].bot)
    if bot == Bot.RANDOM:
        return random_action(state)
    phase = np.int64(state.phase)
    if phase == Phase.TURN and wants_knock(state) and may_knock(state):
        return KNOCK
    return going_on(state)


# --- names ---------------------------------------------------------------------------------------


def _thresholds(spec: str, text: str) -> list[int]:
    try:
        values = [float(part) for part in text.split(",")]
        good = all(v * 2 == int(v * 2) and 0 <= v <= 60 for v in values)
    except (ValueError, OverflowError):
        good, values = False, []
    if not good or not 1 <= len(values) <= MAX_THRESHOLDS:
        raise ValueError(
            f"bot {spec!r}: thresholds are 1 to {MAX_THRESHOLDS} numbers of points, 0 … 60, "
            "in steps of one half, such as 'threshold:25' or 'threshold_by_turn:21,25.5,28'"
        )
    return [int(2 * v) for v in values]


def controller(spec: str) -> np.ndarray:
    """Who decides for a seat.

    Args:
        spec: a bot as in `BOT_FORMS`; ``"external"``: every decision comes from outside;
            ``"knock:RULE"``: a rule of `DRAWS` draws and discards, and from outside comes only
            whether to knock (1) or to go on (0) where both are legal; ``"knock"``: by the greedy
            rule.

    Returns:
        A 0-dimensional array of dtype `CONTROLLER`.

    Raises:
        ValueError: for an unknown name or a malformed threshold.
    """
    result = np.zeros((), CONTROLLER)
    name, _, text = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    result["ask"] = ASK_NOTHING
    if spec == "external":
        result["bot"], result["ask"] = EXTERNAL, ASK_ALL
    elif name == "knock":
        rule = "greedy" if spec == "knock" else text
        check_choice("draws", rule, tuple(DRAWS))
        result["bot"], result["ask"] = DRAWS[rule], ASK_KNOCK
    elif name in ("threshold", "threshold_by_turn") and text:
        values = _thresholds(spec, text)
        if name == "threshold" and len(values) > 1:
            raise ValueError(f"bot {spec!r}: one threshold, or threshold_by_turn:{text}")
        result["bot"], result["num_thresholds"] = Bot.THRESHOLD, len(values)
        result["thresholds"][: len(values)] = values
    elif isinstance(spec, str) and spec in BOT_FORMS and not text:
        result["bot"] = Bot[spec.upper()]
    else:
        raise ValueError(f"unknown bot {spec!r}; bots are {', '.join(BOT_FORMS)}")
    return result


def bot_table() -> dict[str, str]:
    """Every bot with the advice that it follows, for the docs."""
    return {
        "random": "any legal action, each as likely",
        "never_knock": "best value, never knocks",
        "threshold:T": "best value; knocks with T points or more",
        "threshold_by_turn:T1,T2,…": "the same, a threshold for each own turn; the last goes on",
        "danish": "knocks with 25; with 21 or 23 on the first two own turns, 27 from the sixth on "
        "(8 points more with four cards, as the next two)",
        "dutch": "knocks with 28; 26 where knocks come late, 29 where they come early; "
        "two less on the last life",
        "swedish": "commits to its best suit, prefers a known 8 of it to an unknown card; knocks "
        "with 27, with 23 when an opponent openly collects 20 points of a suit",
    }
