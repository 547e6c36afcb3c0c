"""Which branches of the rules a preset has, and play that reaches every one of them.

Branches are named as the independent checker counts them. `PLAY` is ordinary play by bots;
`RUNS` are directed: few lives, tiny decks, low caps, stacked deals. Every match that is played
here is followed by the independent checker.

    python -m tests.engine.branches [DECISIONS]     plays so many a rule set, prints the table
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from tests.engine.situations import checked
from thirtyone_env import game
from thirtyone_env.actions import DRAW_STOCK, FIRST_CARD, KNOCK, PASS, SWAP_ALL
from thirtyone_env.policy import KernelBot, make_bot
from thirtyone_env.record import Recorder, play_match
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import Phase

Tally = Counter[str]
ENOUGH = 100
ROW = np.array([0])
PATIENT = ("never_knock", "threshold:29", "threshold:30.5", "threshold:31")
PLAY = ("random", "random", *PATIENT, "danish", "dutch", "swedish", "threshold:25")


# --- which branches there are ------------------------------------------------------------------


def _draw(rules: Rules) -> bool:
    return rules.family == "draw"


def _exchange(rules: Rules) -> bool:
    return rules.family == "exchange"


def _stock_out(*ways: str) -> Callable[[Rules], bool]:
    return lambda rules: _draw(rules) and rules.stock_out in ways


def _fire(rules: Rules) -> bool:
    return (rules.three_aces or 0) > 31 and rules.hand_size == 3


def _shares(rules: Rules) -> bool:
    return rules.ties == "share"


def _may_all_lose(rules: Rules) -> bool:
    """A spared knocker or a blitz leaves somebody; a tie without either leaves nobody."""
    without_knocker = _stock_out("showdown", "continue")(rules) or _exchange(rules)
    return _shares(rules) and (rules.knocker_tie == "shares" or without_knocker)


def _decider(rules: Rules) -> bool:
    return _may_all_lose(rules) and rules.decider == "deal"


def _others_pay(rules: Rules) -> bool:
    return rules.blitz_loss == "others"


def _always(rules: Rules) -> bool:
    return True


def _buy_ins(rules: Rules) -> bool:
    return rules.buy_ins > 0


def _free_ride(rules: Rules) -> bool:
    return rules.free_ride


BRANCHES: dict[str, Callable[[Rules], bool]] = {
    "end:knock": _always,
    "end:blitz": _always,
    "end:dealt_blitz": _always,
    "end:void": _stock_out("void"),
    "end:stock_out": lambda r: (
        _stock_out("showdown", "continue")(r) or (_exchange(r) and r.table_out == "showdown")
    ),
    "end:max_turns": _always,
    # knocks
    "knock_on_first_turn": lambda r: r.first_turn_knock,
    "first_turn_knock_refused": lambda r: not r.first_turn_knock,
    "min_knock_bound": lambda r: r.min_knock > 0,
    "knock_in_max_turns_turn": _always,
    "knocker_wins_showdown": _always,
    "two_life_loss": lambda r: r.knocker_lowest_loss == 2,
    "knocker_lowest_one_life": lambda r: r.knocker_lowest_loss == 1,
    # ties
    "lowest_tie": _shares,
    "all_tie": _shares,
    "knocker_tie_safe": lambda r: _shares(r) and r.knocker_tie == "safe",
    "knocker_tie_shares": lambda r: _shares(r) and r.knocker_tie == "shares",
    "suit_tie_decided": lambda r: r.ties == "suit",
    "tie_under_suit_rule": lambda r: r.ties == "suit" and r.jokers > 0,
    # passes and cards
    "pass_before_knock": lambda r: _exchange(r) or r.pass_allowed == "always",
    "pass_in_last_turn": lambda r: _exchange(r) or r.pass_allowed != "never",
    "discard_drawn": _draw,
    "return_upcard": lambda r: r.return_upcard,
    "joker_in_final_hand": lambda r: r.jokers > 0,
    # the stock runs out
    "stock_ran_out_after_knock": _draw,
    "pass_on_empty_stock": _draw,
    "take_upcard_on_empty_stock": _draw,
    "stock_out_pass": _stock_out("showdown"),
    "stock_out_knock": _stock_out("showdown"),
    "stock_out_all_passed": _stock_out("continue"),
    "knock_on_empty_stock": _stock_out("showdown", "continue"),
    "reshuffle": lambda r: r.stock_out == "reshuffle" or r.table_out == "reshuffle",
    "after_reshuffle_max_turns": _stock_out("reshuffle"),
    "showdown_without_knocker": lambda r: (
        _stock_out("showdown", "continue")(r) or _exchange(r) or r.blitz_loss == "lowest"
    ),
    # blitzes
    "blitz_after_knock": lambda r: r.blitz_after_knock,
    "blitz_after_knock_only_highest": lambda r: not r.blitz_after_knock,
    "knocker_beaten_by_blitz": lambda r: (
        r.blitz_after_knock and (_others_pay(r) or (_fire(r) and r.fire_loss == "others"))
    ),
    "several_dealt_holders": _draw,
    "several_holders_safe": lambda r: _others_pay(r) or (_fire(r) and r.fire_loss == "others"),
    "all_hold_a_blitz": _others_pay,
    "blitz_holder_loses": lambda r: r.blitz_loss == "lowest",
    "fire": _fire,
    "fire_beside_another_blitz": _fire,
    "fire_decides_otherwise": lambda r: _fire(r) and r.fire_loss != r.blitz_loss,
    # exchange
    "keep": lambda r: r.dealer_choice,
    "refuse": lambda r: r.dealer_choice,
    "refuse_made_dealt_blitz": lambda r: r.dealer_choice,
    "swap_one": _exchange,
    "swap_all": _exchange,
    "renew_table": _exchange,
    "table_out_showdown": lambda r: _exchange(r) and r.table_out == "showdown",
    "table_out_reshuffle": lambda r: _exchange(r) and r.table_out == "reshuffle",
    "dealt_blitz_exchange": lambda r: r.dealt_blitz_exchange,
    "dealt_blitz_exchange_made_blitz": lambda r: r.dealt_blitz_exchange,
    # lives
    "eliminated": _always,
    "several_eliminated_at_once": lambda r: _shares(r) or r.fire_loss == "others",
    "free_ride_taken": _free_ride,
    "free_ride_over": _free_ride,
    "free_ride_by_two_life_loss": lambda r: r.free_ride and r.knocker_lowest_loss == 2,
    "winner_on_free_ride": _free_ride,
    "out_with_free_ride_used_before": lambda r: r.free_ride and r.buy_ins > 0,
    # buy-ins
    "buy_in": _buy_ins,
    "decline": _buy_ins,
    "several_asked": _buy_ins,
    "out_of_buy_ins": _buy_ins,
    "buy_in_keeps_match_alive": _buy_ins,
    "buy_in_averts_decider": lambda r: r.buy_ins > 0 and _may_all_lose(r),
    "buy_in_after_last_round": _buy_ins,
    "buy_in_wins": lambda r: r.buy_ins > 0 and _may_all_lose(r),
    "winner_after_buy_in": _buy_ins,
    # deciders and the end
    "decider_started": _decider,
    "decider_won": _decider,
    "decider_narrowed": _decider,
    "decider_repeated": _decider,
    "void_in_decider": _decider,
    "decider_draw": lambda r: _may_all_lose(r) and r.decider == "draw",
    "max_rounds": _always,
    "max_rounds_in_decider": _decider,
    "winner_on_last_round": _always,
    "winner": _always,
}
"""Every branch, and which rules have it."""


def _jokers_tie(rules: Rules) -> bool:
    """Suits decide ties, but hands of nothing but jokers have none."""
    return rules.ties == "suit" and rules.jokers > 0


SELDOM: dict[str, Callable[[Rules], bool]] = {
    "all_hold_a_blitz": lambda r: _fire(r) and r.fire_loss == "others",
    "lowest_tie": _jokers_tie,
    "all_tie": _jokers_tie,
    "knocker_tie_safe": lambda r: _jokers_tie(r) and r.knocker_tie == "safe",
    "knocker_tie_shares": lambda r: _jokers_tie(r) and r.knocker_tie == "shares",
    "several_eliminated_at_once": _jokers_tie,
    **{name: _jokers_tie for name in BRANCHES if "decider" in name},
}
"""Which other rules have a branch too, so seldom that it need not be met."""


def branches_of(rules: Rules) -> list[str]:
    return [name for name, has in BRANCHES.items() if has(rules)]


# --- ordinary play -----------------------------------------------------------------------------


def seats_of(rules: Rules) -> list[int]:
    return sorted({2, min(4, rules.max_players), rules.max_players})


def _line_up(rng: random.Random, seats: int) -> list[str]:
    """Bots for the seats, one of them at least somebody who knocks."""
    while True:
        bots = rng.choices(PLAY, k=seats)
        if set(bots) - set(PATIENT):
            return bots


def ordinary_play(rules: Rules, decisions: int, seed: int) -> Tally:
    """So many decisions by bots, for 2, 4 and as many seats as there may be."""
    rng, tally, deal = random.Random(seed), Counter[str](), 0
    while tally["decisions"] < decisions:
        for seats in seats_of(rules):
            tally += checked(play_match(rules, _line_up(rng, seats), seed=seed, deal=deal))
            deal += 1
    return tally


# --- directed play -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Habit:
    """How a player of a directed run decides: chances, where the action is legal."""

    knock: float
    wait: float = 0.0
    """Pass."""
    give_up: float = 0.5
    """Pass where the stock is empty."""
    lift: float = 0.1
    """Take the upcard, or exchange one card; else the stock's top card, or all."""
    burn: float = 1.0
    """Discard the card just drawn."""

    def choose(self, states: np.ndarray, rng: random.Random) -> int:
        legal = game.legal_actions(states)
        dry = states["top"][0] == states["deck_end"][0]
        if KNOCK in legal and rng.random() < self.knock:
            return KNOCK
        if PASS in legal and rng.random() < (self.give_up if dry else self.wait):
            return PASS
        for first in (DRAW_STOCK, SWAP_ALL):
            if first in legal and rng.random() >= self.lift:
                return first
        drawn = int(states["drawn"][0])
        if drawn >= 0 and FIRST_CARD + drawn in legal and rng.random() < self.burn:
            return FIRST_CARD + drawn
        rest = [action for action in legal if action not in (KNOCK, PASS, DRAW_STOCK, SWAP_ALL)]
        return rng.choice(rest or legal)


Deal = Callable[[np.ndarray, Rules, random.Random], list[int]]


def _deck(rules: Rules) -> list[int]:
    plain = [13 * suit + rank for suit in range(4) for rank in range(rules.low_rank - 2, 13)]
    return plain + list(range(52, 52 + rules.jokers))


def _seats_to_deal(states: np.ndarray) -> int:
    return bin(int(states["in_play"][0])).count("1")


def _laid(hands: list[list[int]], after: list[int]) -> list[int]:
    """Hands in the order of their turns, as the cards lie in the deck."""
    return [hand[place] for place in range(len(hands[0])) for hand in hands] + after


def _any_deal(states: np.ndarray, rules: Rules, rng: random.Random) -> list[int]:
    return []


def _suit_points(hand: list[int]) -> int:
    points = [0] * 5
    for card in hand:
        points[card // 13] += min(card % 13 + 2, 10) + (card % 13 == 12)
    return max(points)


def equal_deal(states: np.ndarray, rules: Rules, rng: random.Random) -> list[int]:
    """As many hands of equal suit points as are found quickly; often all of them."""
    deck = [card for card in _deck(rules) if card < 52]
    rng.shuffle(deck)
    hands = [[deck.pop() for _ in range(rules.hand_size)]]
    for _ in range(_seats_to_deal(states) - 1):
        for _ in range(60):
            hand = rng.sample(deck, rules.hand_size)
            if _suit_points(hand) == _suit_points(hands[0]):
                break
        deck = [card for card in deck if card not in hand]
        hands.append(hand)
    return _laid(hands, [])


def late_blitz_deal(states: np.ndarray, rules: Rules, rng: random.Random) -> list[int]:
    """No blitz, but a hand that a card deeper in the stock completes."""
    return blitz_deal(states, rules, rng, late=True)


def blitz_deal(
    states: np.ndarray, rules: Rules, rng: random.Random, *, late: bool = False
) -> list[int]:
    """Some blitzes, three aces perhaps among them; and a hand that an open card completes."""
    size, seats = rules.hand_size, _seats_to_deal(states)
    suits = rng.sample(range(4), 4)
    wanted: list[list[int]] = []
    if _fire(rules) and not late and rng.random() < 0.5:
        wanted.append([13 * suit + 12 for suit in suits[:3]])
        suits = suits[3:]
    tops = {suit: [13 * suit + 12, *(13 * suit + r for r in rng.sample(range(8, 12), size - 1))]
            for suit in suits}  # fmt: skip
    number = 0 if late else rng.randint(0, len(suits))
    wanted += [tops[suit] for suit in suits[:number]]
    after: list[int] = []
    if number < len(suits):
        *most, last = tops[suits[number]]
        if rules.dealer_choice and not late and rng.random() < 0.5:
            after = [*most, last]
        else:
            wanted.append(most)
            after = [last]
    rest = [card for card in _deck(rules) if card not in {*after, *chain(*wanted)}]
    rng.shuffle(rest)
    hands = [hand + [rest.pop() for _ in range(size - len(hand))] for hand in wanted[:seats]]
    hands += [[rest.pop() for _ in range(size)] for _ in range(seats - len(hands))]
    rng.shuffle(hands)
    before = rest[: rng.randint(1, 2 * seats)] if late else []
    return _laid(hands, before + after)


@dataclass(frozen=True)
class Run:
    """Directed play: house rules on top of a preset's, seats, habits, deals."""

    habits: tuple[Habit | str, ...]
    seats: tuple[int, ...] = (2, 3)
    deal: Deal = _any_deal
    changes: dict[str, Any] = field(default_factory=dict)

    def play(self, rules: Rules, rng: random.Random) -> Tally:
        """One match."""
        changes = {name: rng.choice(values) for name, values in self.changes.items()}
        house = Rules.from_dict(rules.to_dict() | {"max_players": 2} | changes)
        seats = min(rng.choice(self.seats), house.seats_that_fit)
        house = Rules.from_dict(house.to_dict() | {"max_players": seats})
        recorder = Recorder(house, seats, dealer=rng.randrange(seats))
        recorder.states["seed"] = rng.randrange(1 << 60)
        recorder.states["policy_streams"] = [[rng.randrange(1 << 60) for _ in range(9)]]
        habits = [rng.choice(self.habits) for _ in range(seats)]
        players = [make_bot(habit) if isinstance(habit, str) else habit for habit in habits]
        while not recorder.over:
            if recorder.states["phase"][0] == Phase.ROUND_OVER:
                cards = self.deal(recorder.states, house, rng)
                if cards:
                    recorder.stack(cards)
                recorder.deal_round()
                continue
            player = players[int(recorder.states["seat"][0])]
            if isinstance(player, KernelBot):
                recorder.take(int(player.choose(recorder.states, ROW)[0]))
            else:
                recorder.take(player.choose(recorder.states, rng))
        return checked(recorder.record)


FROZEN = Habit(knock=0.5, wait=0.8)
IDLE = Habit(knock=0.1, wait=0.4, lift=0.3, burn=0.8)
LATE = Habit(knock=0.05)
NEVER = Habit(knock=0.0, give_up=0.7, lift=0.02)
PASSING = Habit(knock=0.02, wait=0.97, lift=1.0)
ONE_LIFE = {"lives": (1,), "max_rounds": (6,)}
BOTS = ("threshold:29", "random")


def runs_for(rules: Rules) -> list[Run]:
    """The directed runs of a preset."""
    dry = {"low_rank": (7 if rules.family == "exchange" else 9,)}
    runs = [
        Run((FROZEN,), deal=equal_deal, changes=ONE_LIFE),
        Run((FROZEN, IDLE), changes=ONE_LIFE),
        Run((FROZEN, IDLE), (2, 3), equal_deal, ONE_LIFE | {"max_turns": (1, 2, 3)}),
        Run((FROZEN, IDLE), (2,), equal_deal, {"lives": (1,), "max_rounds": (1, 2)}),
        Run((IDLE, FROZEN), (6, 7), changes=ONE_LIFE | dry),
        Run((LATE, NEVER), (2, 3, 4), equal_deal, ONE_LIFE | dry | {"max_turns": (13, 18, 40)}),
        Run((LATE,), (2,), equal_deal, ONE_LIFE | dry),
        Run((NEVER,), (2, 3, 4), equal_deal, ONE_LIFE | dry | {"max_rounds": (2, 3, 6)}),
        Run((FROZEN, *BOTS), (2, 3, 4), blitz_deal, {"max_rounds": (3,)}),
        Run((FROZEN, *BOTS), (2, 3), blitz_deal, ONE_LIFE),
        Run((FROZEN, FROZEN, "never_knock"), (2, 3), late_blitz_deal, {"max_rounds": (3,)}),
        Run((IDLE, "random"), changes={"lives": (1, 2), "max_rounds": (3,), "max_turns": (2, 5)}),
        Run(("threshold:29", "threshold:25", "danish"), (4,), changes={"max_rounds": (5,)}),
    ]
    if rules.stock_out == "reshuffle":
        runs.append(Run((NEVER,), (6, 7), changes=ONE_LIFE | dry | {"max_turns": (2, 3, 4)}))
    if rules.family == "exchange":
        runs.append(Run((PASSING,), changes=ONE_LIFE))
        runs.append(Run(("threshold:31", "never_knock"), (3, 5), changes=ONE_LIFE))
    return runs


def missing(rules: Rules, tally: Tally, enough: int = ENOUGH) -> list[str]:
    """Branches that the rules have and that did not occur often enough."""
    return [name for name in branches_of(rules) if tally[name] < enough]


def directed_play(rules: Rules, tally: Tally, seed: int, limit: int = 1_500_000) -> Tally:
    """Directed matches on top of a tally until every branch occurred often enough.

    Mostly the run is played that has brought most of what is missing by the decision.
    """
    rng, runs, tally = random.Random(seed), runs_for(rules), Counter(tally)
    limit += tally["decisions"]
    of_run = [Counter[str]() for _ in runs]
    while (lacking := missing(rules, tally)) and tally["decisions"] < limit:
        index = rng.randrange(len(runs))
        if rng.random() < 0.8:
            yields = [sum(t[b] for b in lacking) / (1 + t["decisions"]) for t in of_run]
            index = yields.index(max(yields))
        played = runs[index].play(rules, rng)
        of_run[index] += played
        tally += played
    return tally


HOUSE: dict[str, Rules] = {
    "return the upcard": Rules.preset("danish", return_upcard=True),
    "share in a decider": Rules.preset("swedish", decider="draw"),
    "ride and buy in": Rules.preset("swedish", buy_ins=1),
    "jokers in Schwimmen": Rules.preset("schwimmen_a7", jokers=4),
}
"""House rules for the branches that no preset has."""


def all_rules() -> dict[str, Rules]:
    return PRESETS | HOUSE


# --- the table ---------------------------------------------------------------------------------


def written(tallies: dict[str, Tally]) -> str:
    """The table: every branch, in how many rule sets it occurs, fewest times, all times."""
    lines = [f"{'branch':34}{'rule sets':>10}{'fewest':>9}{'all':>10}  fewest in"]
    for name, has in BRANCHES.items():
        counts = {key: tally[name] for key, tally in tallies.items() if has(all_rules()[key])}
        if counts:
            least = min(counts, key=lambda key: counts[key])
            total = sum(counts.values())
            lines.append(f"{name:34}{len(counts):10}{counts[least]:9}{total:10}  {least}")
    total = sum(tally["decisions"] for tally in tallies.values())
    return "\n".join([*lines, f"{total} decisions, {len(tallies)} rule sets"])


def main(decisions: int = 77_000) -> int:
    """Play everything and print the table; 1 where a branch is missing."""
    tallies, lacking = {}, {}
    for name, rules in all_rules().items():
        natural = ordinary_play(rules, decisions, seed=31)
        tallies[name] = directed_play(rules, natural, seed=31)
        lacking[name] = missing(rules, tallies[name])
        sys.stderr.write(
            f"{name}: {natural['decisions']} + {tallies[name]['decisions'] - natural['decisions']}"
            f" decisions, missing {[(b, tallies[name][b]) for b in lacking[name]]}\n"
        )
    sys.stdout.write(written(tallies) + "\n")
    return int(any(lacking.values()))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
