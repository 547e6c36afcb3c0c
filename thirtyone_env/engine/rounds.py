"""A round from the deal to the loss of lives, and what follows from it: what both families share.

The rules are those of docs/rules.md: "A round, draw family" 1–2 and 5–7, "Loss of lives",
"Elimination", "Buy-in", "Decider", "Payoff of a match".
"""

from __future__ import annotations

import numpy as np

from thirtyone_env._jit import inlined_kernel, kernel, trailing_zeros
from thirtyone_env.cards import BIT, NO_CARD, hand_strength, hand_value
from thirtyone_env.engine.deck import fresh_deck, next_card, shuffle_ahead
from thirtyone_env.rng import USE_DEALER, USE_POLICY, below, derive
from thirtyone_env.rules import MAX_SEATS
from thirtyone_env.state import (
    NOBODY,
    End,
    Phase,
    State,
    acting_seat,
    is_in,
    next_seat,
    seats_in,
)

# --- deal ----------------------------------------------------------------------------------------


@kernel
def prepare_match(state: State) -> None:
    """Everything of a match before its first round; rules, seats, seed and match are set."""
    seats = np.int64(state.num_players)
    state.round_number = -1
    state.phase = Phase.ROUND_OVER
    state.decisions = 0
    state.in_play = (1 << seats) - 1
    state.rode = 0
    state.eliminated = 0
    state.decider = 0
    state.truncated = 0
    state.winner = NOBODY
    state.knocks = 0
    state.knock_turns = 0
    for seat in range(seats):
        state.lives[seat] = state.rules.lives
        state.buy_ins[seat] = state.rules.buy_ins
        state.stakes[seat] = 1
        state.lives_payoff[seat] = 0.0
        state.policy_streams[seat] = derive(state.seed, state.match, seat, USE_POLICY)
    set_first_dealer(state, below(derive(state.seed, state.match, 0, USE_DEALER), seats))


@kernel
def set_first_dealer(state: State, seat: int) -> None:
    """Let a seat deal the first round: the deal is about to pass on to it."""
    state.dealer = (np.int64(seat) + np.int64(state.num_players) - 1) % np.int64(state.num_players)


@kernel
def clear_round(state: State) -> None:
    """Forget the round before."""
    for seat in range(MAX_SEATS):
        state.hands[seat] = 0
        state.known[seat] = 0
        state.discards[seat] = 0
        state.own_turns[seat] = 0
        state.losses[seat] = 0
        state.moves[seat] = 0
        state.fresh[seat] = 0
    state.table = 0
    state.pile = 0
    state.recycled = 0
    state.upcard = NO_CARD
    state.drawn = NO_CARD
    state.taken = NO_CARD
    state.given = NO_CARD
    state.turns = 0
    state.passes = 0
    state.pending = 0
    state.asked = 0
    state.eliminated = 0
    state.reshuffles = 0
    state.renewals = 0
    state.dealt_blitz = 0
    state.refused = 0
    state.end = End.RUNNING
    state.knocker = NOBODY
    state.dealt_in = state.in_play


@inlined_kernel
def deal_hands(state: State) -> None:
    """One card at a time, from the dealer's left; then the upcard of the draw family."""
    upcards = 0 if state.rules.exchange else 1
    seats, size = seats_in(state.in_play), np.int64(state.rules.hand_size)
    shuffle_ahead(state, size * seats + upcards)
    seat, top = np.int64(state.dealer), np.int64(state.top)
    for first in range(top, top + seats):
        seat = next_seat(state, seat) & 15
        hand = np.int64(0)
        for place in range(first, first + size * seats, seats):
            hand |= np.int64(BIT[np.int64(state.deck[place & 63]) & 63])
        state.hands[seat] = hand
    state.top = top + size * seats
    if upcards:
        state.upcard = next_card(state)


@kernel
def turn_up_table(state: State) -> None:
    """Three cards of the stock, open."""
    state.table = 0
    for _ in range(3):
        card = next_card(state)
        state.table |= np.int64(BIT[card])
        state.recycled &= ~np.int64(BIT[card])


@kernel
def deal_round(state: State) -> None:
    """Deal from the deck as it lies, up to the first decision (or the end, at a dealt blitz)."""
    clear_round(state)
    deal_hands(state)
    if state.rules.dealer_choice:
        state.phase = Phase.DEALER
        state.seat = state.dealer
        return
    if state.rules.exchange:
        turn_up_table(state)
    open_round(state)


@inlined_kernel
def holds_blitz(state: State, seat: int) -> bool:
    """Whether a seat's hand is worth a blitz."""
    return hand_value(np.int64(state.hands[seat]), state.rules) >= state.rules.blitz_value


@inlined_kernel
def any_blitz(state: State) -> bool:
    """Whether anybody in play holds a blitz."""
    for seat in range(state.num_players):
        if is_in(state.in_play, seat) and holds_blitz(state, seat):
            return True
    return False


@kernel
def open_round(state: State) -> None:
    """The first turn, unless a blitz was dealt."""
    if not any_blitz(state):
        state.phase = Phase.TURN
        state.seat = next_seat(state, state.dealer)
    elif state.rules.dealt_blitz_exchange:
        state.dealt_blitz = 1
        next_after_dealt_blitz(state, state.dealer, False)
    else:
        end_round(state, End.DEALT_BLITZ)


@kernel
def next_after_dealt_blitz(state: State, seat: int, begun: bool) -> None:
    """The next player without a blitz exchanges once; after the dealer's turn the round ends."""
    seat = np.int64(seat)
    while not (begun and seat == state.dealer):
        seat = next_seat(state, seat)
        begun = True
        if not holds_blitz(state, seat):
            state.phase = Phase.TURN
            state.seat = seat
            return
    end_round(state, End.DEALT_BLITZ)


# --- the end of a turn ---------------------------------------------------------------------------


@inlined_kernel
def count_turn(state: State) -> None:
    """One turn is over."""
    state.turns += 1
    state.own_turns[acting_seat(state)] += 1
    state.drawn = NO_CARD
    state.taken = NO_CARD
    state.given = NO_CARD


@inlined_kernel
def knock(state: State) -> None:
    """The seat to act knocks; the table remembers at which of its turns."""
    state.knocker = state.seat
    state.knocks += 1
    state.knock_turns += state.own_turns[state.seat]


@inlined_kernel
def end_round(state: State, end: int) -> None:
    """The round is over in this way; `judge_round` does the rest."""
    state.end = end
    state.phase = Phase.JUDGE


@inlined_kernel
def pass_turn_on(state: State) -> None:
    """The next player's turn; showdown if that is the knocker, void at the cap on turns."""
    seat = next_seat(state, state.seat)
    if seat == state.knocker:
        end_round(state, End.KNOCK)
    elif state.knocker == NOBODY and state.turns >= state.rules.max_turns:
        end_round(state, End.MAX_TURNS)
    else:
        state.phase = Phase.TURN
        state.seat = seat


@inlined_kernel
def blitz_counts(state: State) -> bool:
    """Whether the hand that the seat just made ends the round."""
    if state.knocker != NOBODY and not state.rules.blitz_after_knock:
        return False
    return holds_blitz(state, acting_seat(state))


# --- who loses -----------------------------------------------------------------------------------


@kernel
def lowest_in_order(state: State, among: int) -> int:
    """The seats with the lowest hand among some, by the order of hands."""
    lowest_strength = np.int64(1 << 40)
    seats = 0
    for seat in range(state.num_players):
        if not is_in(among, seat):
            continue
        strength = hand_strength(np.int64(state.hands[seat]), state.rules)
        if strength < lowest_strength:
            lowest_strength = strength
            seats = 0
        if strength == lowest_strength:
            seats |= 1 << seat
    return seats


@inlined_kernel
def lowest_seats(state: State) -> int:
    """The seats with the lowest hand of all in play."""
    least = np.int64(1 << 40)
    seats = np.int64(0)
    rest = np.int64(state.in_play)
    while rest:
        seat = trailing_zeros(rest)
        rest &= rest - 1
        value = hand_value(np.int64(state.hands[seat]), state.rules)
        seats = 1 << seat if value < least else seats | 1 << seat if value == least else seats
        least = min(least, value)
    if state.rules.ties_by_suit and seats & (seats - 1):
        return lowest_in_order(state, seats)
    return seats


@kernel
def showdown_losses(state: State) -> None:
    """The lowest lose a life each; the knocker by the knocker's own rules."""
    losers = lowest_seats(state)
    alone = seats_in(losers) == 1
    for seat in range(state.num_players):
        if is_in(losers, seat):
            loss = 1
            if seat == state.knocker and alone:
                loss = np.int64(state.rules.knocker_lowest_loss)
            elif seat == state.knocker and not state.rules.knocker_tie_shares:
                loss = 0
            state.losses[seat] = loss


@kernel
def is_fire(state: State, seat: int) -> bool:
    """Whether a seat's blitz is three aces worth more than 31."""
    aces = np.int64(state.rules.three_aces)
    return aces > 62 and hand_value(np.int64(state.hands[seat]), state.rules) == aces


@kernel
def blitz_losses(state: State) -> None:
    """Everyone without a blitz loses a life, or the lowest hand does."""
    to_lowest = state.rules.blitz_lowest
    for seat in range(state.num_players):
        if is_in(state.in_play, seat) and holds_blitz(state, seat) and is_fire(state, seat):
            to_lowest = state.rules.fire_lowest
    if to_lowest:
        showdown_losses(state)
        return
    for seat in range(state.num_players):
        if is_in(state.in_play, seat) and not holds_blitz(state, seat):
            state.losses[seat] = 1


@inlined_kernel
def judge_round(state: State) -> None:
    """Judge the round that has ended, take lives, and ask about buy-ins."""
    end = np.int64(state.end)
    if end == End.BLITZ or end == End.DEALT_BLITZ:
        blitz_losses(state)
    elif end == End.KNOCK or end == End.STOCK_OUT:
        showdown_losses(state)
    pay_lives(state)
    take_lives(state)
    if state.one_round:
        finish_single_round(state)
    else:
        ask_next_buy_in(state)


@inlined_kernel
def pay_lives(state: State) -> None:
    """Add the round's life swings: the average loss of the others in play minus the own."""
    total = 0
    for seat in range(state.num_players):
        total += np.int64(state.losses[seat])
    if total == 0:
        return
    others = seats_in(state.in_play) - 1
    for seat in range(state.num_players):
        if is_in(state.in_play, seat):
            own = np.int64(state.losses[seat])
            state.lives_payoff[seat] += (total - own) / others - own


@inlined_kernel
def take_lives(state: State) -> None:
    """Take the lives; `pending` are those whom that would eliminate."""
    pending = 0
    for seat in range(state.num_players):
        loss = np.int64(state.losses[seat])
        if loss == 0:
            continue
        lives = max(np.int64(state.lives[seat]) - loss, 0)
        state.lives[seat] = lives
        if lives == 0:
            if state.rules.free_ride and not is_in(state.rode, seat):
                state.rode |= 1 << seat
            else:
                pending |= 1 << seat
    state.pending = pending


# --- buy-ins, elimination, the end of the match --------------------------------------------------


@kernel
def ask_next_buy_in(state: State) -> None:
    """The next of those who would be eliminated decides, in order from the dealer's left."""
    if not state.decider:
        seat = np.int64(state.dealer)
        for _ in range(seats_in(state.in_play)):
            seat = next_seat(state, seat)
            waits = is_in(state.pending, seat) and not is_in(state.asked, seat)
            if waits and state.buy_ins[seat] > 0:
                state.phase = Phase.BUY_IN
                state.seat = seat
                return
    settle(state)


@kernel
def decide_buy_in(state: State, bought: bool) -> None:
    """Take a buy-in decision."""
    seat = state.seat
    state.asked |= 1 << np.int64(seat)
    if bought:
        state.pending &= ~(1 << np.int64(seat))
        state.buy_ins[seat] -= 1
        state.stakes[seat] += 1
        state.lives[seat] = 1
    ask_next_buy_in(state)


@kernel
def settle(state: State) -> None:
    """Eliminate, or begin a decider; end the match where one is left or the rounds are over."""
    state.phase = Phase.ROUND_OVER
    if state.pending == state.in_play:
        if state.rules.decider_draw:
            state.phase = Phase.OVER
            return
        state.decider = 1
        state.rode = state.in_play
        state.pending = 0
    else:
        state.eliminated = state.pending
        state.in_play &= ~np.int64(state.pending)
    if seats_in(state.in_play) == 1:
        state.phase = Phase.OVER
        state.winner = next_seat(state, 0) if not is_in(state.in_play, 0) else 0
    elif state.round_number + 1 >= state.rules.max_rounds:
        state.phase = Phase.OVER
        state.truncated = 1


@kernel
def finish_single_round(state: State) -> None:
    """End a match of one round: those whom it would eliminate are out, unless that is all."""
    state.phase = Phase.OVER
    if state.pending != state.in_play:
        state.eliminated = state.pending
        state.in_play &= ~np.int64(state.pending)
    if seats_in(state.in_play) == 1:
        state.winner = next_seat(state, 0) if not is_in(state.in_play, 0) else 0


@kernel
def next_round(state: State) -> None:
    """Pass the deal on and deal."""
    state.round_number += 1
    state.dealer = next_seat(state, state.dealer)
    fresh_deck(state)
    deal_round(state)


@kernel
def on_free_ride(state: State, seat: int) -> bool:
    """Whether a seat has no lives left and is in play by its free ride."""
    return (
        is_in(state.in_play, seat)
        and is_in(state.rode, seat)
        and not is_in(state.pending, seat)
        and state.lives[seat] == 0
        and not state.decider
    )


# --- payoffs -------------------------------------------------------------------------------------


@kernel
def pot_share(state: State, seat: int) -> float:
    """The seat's share of the pot once the match is over, as a fraction."""
    if state.phase != Phase.OVER or not is_in(state.in_play, seat):
        return 0.0
    return 1.0 / seats_in(state.in_play)


@kernel
def match_payoff(state: State, seat: int) -> float:
    """(Share of the pot − own stakes) / (n − 1); 0 while the seat is in play."""
    if state.phase != Phase.OVER and is_in(state.in_play, seat):
        return 0.0
    pot = 0
    for other in range(state.num_players):
        pot += np.int64(state.stakes[other])
    own = np.int64(state.stakes[seat])
    return (pot_share(state, seat) * pot - own) / (state.num_players - 1)
