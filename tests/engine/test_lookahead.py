"""Bots that look ahead: tables equal counting by hand, names, and books that travel."""

import itertools
import random
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

from tests.engine.house_rules import random_house_rules
from tests.engine.situations import fresh_seed, table
from thirtyone_env._jit import entry
from thirtyone_env.actions import DRAW_STOCK, KNOCK, TAKE_UPCARD, action_name
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.bots import controller
from thirtyone_env.bots.book import CERTAIN, UNIT
from thirtyone_env.bots.worth import DrawTables, draw_tables, exchange_tables, hand_key
from thirtyone_env.cards import BIT, NAMES, hand_value, set_of
from thirtyone_env.classes import hand_index, whole_deck
from thirtyone_env.policy import make_bot
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import Phase, new_states

DRAW_PRESETS = [name for name, rules in PRESETS.items() if rules.family == "draw"]


@entry
def value_and_index(states, cards: int) -> tuple[int, int]:
    state = states[0]
    return hand_value(cards, state.rules), hand_index(cards)


class ByHand:
    """Worth of hands, counted card by card."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.deck = rules, [int(BIT[card]) for card in whole_deck(rules)]
        self._states = new_states(rules, 2, 1)
        self._known: dict[tuple[int, int], int] = {}

    def looked_up(self, hand: int) -> tuple[int, int]:
        """Value and index of a hand."""
        return value_and_index(self._states, hand)

    def after(self, hand: int, card: int) -> list[int]:
        """The hands that a draw and a discard may leave."""
        more = hand | card
        return [more ^ bit for bit in self.deck if more & bit]

    def worth(self, hand: int, draws: int) -> int:
        """V_k, with the same rounding of means."""
        if draws == 0:
            return self.looked_up(hand)[0] * UNIT
        if (hand, draws) not in self._known:
            best = [
                max(self.worth(after, draws - 1) for after in self.after(hand, card))
                for card in self.deck
                if not hand & card
            ]
            self._known[hand, draws] = (sum(best) + len(best) // 2) // len(best)
        return self._known[hand, draws]


def some_hand(rules: Rules, rng: random.Random) -> int:
    return set_of(rng.sample(whole_deck(rules), rules.hand_size))


def check_tables(rules: Rules, rng: random.Random, hands: int) -> None:
    """V_1 and the last draw of some hands; V_2 of one."""
    tables, count = draw_tables(hand_key(rules.record)), ByHand(rules)
    for place in range(hands):
        hand = some_hand(rules, rng)
        number = tables.number[count.looked_up(hand)[1]]
        assert tables.worth[0, number] == count.worth(hand, 0)
        assert tables.worth[1, number] == count.worth(hand, 1)
        if place == 0:
            assert tables.worth[2, number] == count.worth(hand, 2)
        best = [
            max(count.looked_up(after)[0] for after in count.after(hand, card))
            for card in count.deck
            if not hand & card
        ]
        for seats in (2, 5):
            total = int(tables.showdown[seats][best].sum())
            assert tables.last[seats, number] == (total + len(best) // 2) // len(best)


@pytest.mark.parametrize("name", DRAW_PRESETS)
def test_tables_equal_counting_by_hand(name):
    check_tables(PRESETS[name], random.Random(fresh_seed()), 4)


def test_tables_equal_counting_by_hand_under_house_rules():
    rng = random.Random(fresh_seed())
    for _ in range(8):
        rules = random_house_rules(rng)[0]
        if rules.family == "draw":
            check_tables(rules, rng, 2)


def danish_tables() -> DrawTables:
    return draw_tables(hand_key(PRESETS["danish"].record))


def test_more_draws_are_never_worth_less():
    assert (np.diff(danish_tables().worth, axis=0) >= 0).all()


def test_chances_rise_with_the_value_and_the_number_of_players():
    showdown = danish_tables().showdown
    assert (np.diff(showdown[2:], axis=1) > 0).all()
    assert (np.diff(showdown[2:], axis=0) >= 0).all()
    assert showdown[2, 62] > 0.9 * CERTAIN


# --- choices -----------------------------------------------------------------------------------


def choice(bot: str, states: np.ndarray) -> int:
    return int(make_bot(bot).choose(states, np.array([0]))[0])


def test_it_draws_where_a_little_gain_now_costs_what_may_come():
    t = table("danish", "Kh Qh 2s", "3d 4s 5c", upcard="4h")
    assert choice("lookahead:4", t.states) == TAKE_UPCARD
    t = table("danish", "Kh 9c 9d", "3d 4s 5c", upcard="2h")
    assert choice("threshold:27", t.states) == TAKE_UPCARD
    assert choice("lookahead:4", t.states) == DRAW_STOCK


def test_it_does_not_lay_open_what_the_next_player_collects():
    for collected, laid in (("Kd Qd", "5c"), ("Kc Qc", "5d")):
        t = table("danish", "Kh 9h 5d", f"{collected} 4s", upcard="2c", stock="5c").play("draw")
        t.states["known"][0, 1] = set_of(map(NAMES.index, collected.split()))
        assert action_name(choice("lookahead:4,feed=1", t.states)) == f"card {laid}"


# --- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "lookahead",
        "lookahead:",
        "lookahead:5",
        "lookahead:4,",
        "lookahead:4,feed",
        "lookahead:4,feed=-1",
        "lookahead:4,feed=nan",
        "lookahead:4,feed=1,feed=2",
        "lookahead:4,knock=27.3",
        "lookahead:4,knock=",
        "lookahead:4,knock=" + "/".join(["27"] * 9),
        "lookahead:4,loud=1",
        "counter:4",
        "counter,feed",
    ],
)
def test_malformed_names_are_refused_with_what_is_allowed(name):
    with pytest.raises(ValueError, match=r"bot '.*K one of 1, 2, 3, 4, 6.*feed=X"):
        make_bot(name)


def test_options_are_told_apart():
    rules, matches = PRESETS["danish"], np.arange(200)
    seen = {
        option: play_matches(
            rules, [f"lookahead:4{option}", "threshold:27"], seed=1, matches=matches
        )
        for option in ("", ",knock=31", ",feed=3", ",high=3", ",knock=21/31")
    }
    assert len({payoffs.tobytes() for payoffs in seen.values()}) == len(seen)


def test_a_controller_of_another_book_is_refused():
    tables = Tables(PRESETS["danish"], 2, seed=1, matches=[0])
    with pytest.raises(ValueError, match="by its name"):
        tables.set_controllers(None, 0, controller("lookahead:4"))


# --- exchange family ---------------------------------------------------------------------------


def test_a_dealer_compares_the_hand_with_every_second_hand():
    rules = PRESETS["schwimmen_a9"]
    tables = exchange_tables(hand_key(rules.record))
    count, rng = ByHand(rules), random.Random(fresh_seed())
    for _ in range(3):
        hand = some_hand(rules, rng)
        left = [bit for bit in count.deck if not hand & bit]
        second = [sum(cards) for cards in itertools.combinations(left, 3)]
        total = sum(count.looked_up(cards)[0] * UNIT for cards in second)
        number = tables.number[count.looked_up(hand)[1]]
        assert tables.refused[0, number] == (total + len(second) // 2) // len(second)


def test_a_last_exchange_is_for_the_place_among_all_hands():
    """Clubs stand above diamonds of the same value."""
    rules = Rules.preset("schwimmen_a7", dealer_choice=False)
    t = table(rules, "Kd Kc 8h", "Ad 9d 7h", table="Qd Qc 7s", dealer=1)
    t.states["knocker"] = 1
    assert action_name(choice("lookahead:4", t.states), Phase.TURN) == "give 8h"
    t.states["phase"], t.states["given"] = Phase.TAKE, NAMES.index("8h")
    assert action_name(choice("lookahead:4", t.states), Phase.TAKE) == "take Qc"


# --- counting ----------------------------------------------------------------------------------


def test_cards_that_are_left_are_counted():
    """`counter` leaves an upcard that it would take where only better cards are left."""
    t = table("danish", "Kh Qh 2s", "3d 4s 5c", upcard="4h")
    states = t.states.copy()
    assert choice("counter,feed=0,high=0", states) == TAKE_UPCARD
    left = states["hands"][0, 0] | set_of(map(NAMES.index, ["4h", "8h", "9h", "Th", "Jh", "Ah"]))
    states["pile"] = set_of(range(52)) & ~left
    assert choice("counter,feed=0,high=0", states) == DRAW_STOCK
    assert choice("lookahead:4,feed=0,high=0", states) == TAKE_UPCARD


def test_counter_does_not_knock_below_what_all_others_show():
    t = table("danish", "Kh Qh 6h", "Ad Kd 6d", upcard="2c")
    assert choice("counter,knock=25", t.states) == KNOCK
    t.states["known"][0, 1] = t.states["hands"][0, 1]
    assert choice("counter,knock=25", t.states) != KNOCK
    assert choice("lookahead:4,knock=25", t.states) == KNOCK


# --- cost and strength -------------------------------------------------------------------------


def seconds(bot: str) -> float:
    """CPU time of this thread for some matches among four of a kind."""
    begun = time.thread_time()
    play_matches(PRESETS["danish"], [bot] * 4, seed=1, matches=np.arange(3_000))
    return time.thread_time() - begun


def times_greedy(bot: str) -> float:
    """How many times longer it takes than a greedy one right beside it, the middle of seven."""
    seconds(bot), seconds("threshold:25")
    return float(np.median([seconds(bot) / seconds("threshold:25") for _ in range(7)]))


@pytest.mark.slow
def test_looking_ahead_costs_little():
    assert times_greedy("lookahead:4") < 6
    assert times_greedy("counter") < 60


@pytest.mark.slow
@pytest.mark.parametrize(("bot", "field", "least"), [
    ("lookahead:4", "threshold:27", 0.6),
    ("counter", "threshold:27", 0.6),
    ("counter", "lookahead:4", 0.5),
])  # fmt: skip
def test_looking_ahead_wins_heads_up(bot, field, least):
    matches = np.arange(6000)
    first = play_matches(PRESETS["danish"], [bot, field], seed=3, matches=matches)[:, 0]
    second = play_matches(PRESETS["danish"], [field, bot], seed=3, matches=matches)[:, 1]
    assert ((first + second) / 2 + 1).mean() / 2 > least


# --- books -------------------------------------------------------------------------------------

MIXED = ["danish", "swedish", "danish_four_cards", "danish_joker", "dutch", "schwimmen_a7"]


def mixed_tables(size: int, threads: int = 1) -> Tables:
    """Matches by several rules, bots at all seats but one."""
    rules = [PRESETS[MIXED[row % len(MIXED)]] for row in range(size)]
    tables = Tables(rules, 3, seed=5, matches=np.arange(size), threads=threads)
    tables.set_controllers(None, 1, "lookahead:4")
    tables.set_controllers(np.arange(size), 2, ["lookahead:2,feed=1", "threshold:25"] * (size // 2))
    return tables


def play_on(tables: Tables) -> bytes:
    """Play to the end, a bot for the seat outside; the states then."""
    bot = make_bot("lookahead:6")
    tables.play()
    while not tables.over.all():
        rows = np.flatnonzero(~tables.over)
        tables.act(bot.act_batch(tables, rows), rows)
    return tables.states.tobytes()


def test_rows_do_not_depend_on_each_other_or_on_threads():
    many = play_on(mixed_tables(24, threads=2))
    assert many == play_on(mixed_tables(24))
    alone = mixed_tables(24)
    for row in range(0, 24, 7):
        one = Tables([PRESETS[MIXED[row % len(MIXED)]]], 3, seed=5, matches=[row])
        one.set_controllers(None, 1, "lookahead:4")
        one.set_controllers(None, 2, ["lookahead:2,feed=1", "threshold:25"][row % 2])
        play_on(one)
        play_on(alone) if row == 0 else None
        for name in ("lives", "winner", "decisions", "hands"):
            assert one.states[name][0].tobytes() == alone.states[name][row].tobytes()


def test_new_rules_in_a_row_bring_their_tables():
    tables = mixed_tables(12)
    tables.play()
    rows = np.arange(12)
    tables.deal(rows, rows, rules=[PRESETS[MIXED[(row + 1) % len(MIXED)]] for row in rows])
    fresh = Tables(
        [PRESETS[MIXED[(row + 1) % len(MIXED)]] for row in rows], 3, seed=5, matches=rows
    )
    fresh.set_controllers(None, 1, "lookahead:4")
    fresh.set_controllers(rows, 2, ["lookahead:2,feed=1", "threshold:25"] * 6)
    play_on(tables), play_on(fresh)
    for name in ("lives", "winner", "decisions", "hands"):
        assert tables.states[name].tobytes() == fresh.states[name].tobytes()


@pytest.mark.integration
def test_tables_go_on_in_another_process():
    tables = mixed_tables(12)
    tables.play()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(play_on, ForkingPickler.loads(ForkingPickler.dumps(tables)))
        assert there.result() == play_on(tables)
