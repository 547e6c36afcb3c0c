"""Bots: always legal, no suit favoured, thresholds as documented, and better than chance."""

import itertools
import random

import numpy as np
import pytest

from tests.engine.situations import Table, fresh_seed, table
from thirtyone_env import game
from thirtyone_env._jit import entry
from thirtyone_env.actions import FIRST_CARD, KEEP, KNOCK, REFUSE, action_name
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.bots.hands import tie_break
from thirtyone_env.cards import BIT, JOKER_MASK, NAMES, NO_CARD, hand_value
from thirtyone_env.policy import make_bot
from thirtyone_env.rules import PRESETS, Rules
from thirtyone_env.state import Phase

ROW = np.array([0])
NAMED = (
    "random",
    "never_knock",
    "threshold:25",
    "threshold:30.5",
    "threshold_by_turn:21,25.5,28",
    "danish",
    "dutch",
    "swedish",
    "lookahead:4",
    "counter",
    "lookahead:1,feed=1,high=1,knock=24/27",
)


ADVICE = ("threshold:25", "danish", "dutch", "swedish")


def choice(bot: str, states: np.ndarray) -> int:
    """The bot's action for the seat to act."""
    return int(make_bot(bot).choose(states, ROW)[0])


def knocks(bot: str, t: Table) -> bool:
    return choice(bot, t.states) == KNOCK


# --- legal -------------------------------------------------------------------------------------


def play_checked(rules: Rules, seats: int, size: int, seed: int) -> int:
    """Matches in which every decision is checked by `Tables.act`; the number of decisions."""
    rng = random.Random(seed)
    tables = Tables(rules, seats, seed=seed, matches=np.arange(size))
    bots = [make_bot(name) for name in NAMED]
    seated = np.array([rng.choices(range(len(bots)), k=seats) for _ in range(size)])
    decisions = 0
    while not tables.over.all():
        rows = np.flatnonzero(~tables.over)
        whose = seated[rows, tables.waiting[rows]]
        actions = np.zeros(len(rows), np.int64)
        for index in np.unique(whose):
            actions[whose == index] = bots[index].act_batch(tables, rows[whose == index])
        tables.act(actions, rows)
        decisions += len(rows)
    return decisions


@pytest.mark.parametrize("name", PRESETS)
def test_bots_play_legally(name):
    rules = Rules.preset(name, max_rounds=12)
    for seats in {2, min(4, rules.max_players), rules.max_players}:
        assert play_checked(rules, seats, 12, fresh_seed()) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_bots_play_legally_in_many_matches(name):
    rules = Rules.preset(name, max_rounds=100)
    for seats in {2, min(4, rules.max_players), rules.max_players}:
        assert play_checked(rules, seats, 400, fresh_seed()) > 10_000


def test_a_choice_leaves_the_state_as_it_is():
    states = game.new_match(PRESETS["danish"], 4, seed=3)
    for name in NAMED[1:]:
        before = game.clone(states)
        choice(name, states)
        assert states.tobytes() == before.tobytes()


# --- no favoured suit --------------------------------------------------------------------------


def renamed(states: np.ndarray, naming: tuple[int, ...]) -> np.ndarray:
    """The same match with suit s called naming[s]."""
    result = states.copy()
    cards = np.array([13 * naming[c // 13] + c % 13 for c in range(52)] + [52, 53, 54, 55, NO_CARD])
    for name in ("deck", "upcard", "drawn", "taken", "given"):
        result[name] = cards[states[name]]
    for name in ("hands", "known", "discards", "table", "pile", "recycled"):
        sets = states[name]
        result[name] = sets & JOKER_MASK
        for suit in range(4):
            result[name] |= ((sets >> 16 * suit) & 0x1FFF) << 16 * naming[suit]
    return result


def renamed_action(action: int, naming: tuple[int, ...]) -> int:
    card = action - FIRST_CARD
    return action if not 0 <= card < 52 else FIRST_CARD + 13 * naming[card // 13] + card % 13


@entry
def liking(states, card: int) -> int:
    """How a bot likes a discard, without the hash that settles ties."""
    state = states[0]
    rest = np.int64(state.hands[state.seat]) ^ np.int64(BIT[card])
    return hand_value(rest, state.rules) * 100_000 + (tie_break(state, rest, card) >> 8)


def suits_tie(states: np.ndarray) -> bool:
    """Whether two suits of the hand of the seat to act are worth the same."""
    hand, points = int(states["hands"][0, int(states["seat"][0])]), [0] * 4
    for card in range(52):
        if hand & int(BIT[card]):
            points[card // 13] += min(card % 13 + 2, 10) + (card % 13 == 12)
    return len(set(points) - {0}) < sum(map(bool, points))


def positions(rules: Rules, seats: int, number: int, seed: int) -> list[np.ndarray]:
    """States at every decision of matches of mixed bots."""
    rng, result = random.Random(seed), []
    for match in itertools.count():
        states = game.new_match(rules, seats, seed=seed, match=match)
        while not game.is_over(states):
            if rng.random() < 0.3:
                result.append(states.copy())
                if len(result) == number:
                    return result
            game.step(states, choice(rng.choice(NAMED), states))
    raise AssertionError


@pytest.mark.parametrize("rules", ["danish", "dutch_four_cards", "danish_joker", "danish_half"])
@pytest.mark.parametrize(
    "bot", ["threshold:25", "danish", "dutch", "swedish", "lookahead:4", "counter"]
)
def test_renaming_the_suits_renames_the_choice(bot, rules):
    seed = fresh_seed()
    rng, decided = random.Random(seed), 0
    for states in positions(PRESETS[rules], 3, 300, seed):
        naming = tuple(rng.sample(range(4), 4))
        chosen, other = choice(bot, states), choice(bot, renamed(states, naming))
        decided += renamed_action(chosen, naming) == other
        if renamed_action(chosen, naming) == other or (bot == "swedish" and suits_tie(states)):
            continue
        # Otherwise the hash settled a tie between two discards that are equally good.
        assert states["phase"][0] == Phase.DISCARD, action_name(chosen)
        back = tuple(naming.index(suit) for suit in range(4))
        cards = [chosen - FIRST_CARD, renamed_action(other, back) - FIRST_CARD]
        if bot not in ("swedish", "lookahead:4", "counter"):
            assert liking(states, cards[0]) == liking(states, cards[1])
    assert decided > 200


@pytest.mark.parametrize("rules", ["schwimmen_a7", "widow"])
def test_renaming_the_suits_renames_what_an_exchange_is_worth(rules):
    seed = fresh_seed()
    rng = random.Random(seed)
    for states in positions(PRESETS[rules], 3, 300, seed):
        if states["phase"][0] not in (Phase.TURN, Phase.DEALER):
            continue
        naming = tuple(rng.sample(range(4), 4))
        worlds = [states, renamed(states, naming)]
        seen = []
        for world in worlds:
            seat, action = int(world["seat"][0]), choice("threshold:25", world)
            world["one_round"] = 1
            game.step(world, action)
            if world["phase"][0] == Phase.TAKE:
                game.step(world, choice("threshold:25", world))
                action = FIRST_CARD
            seen.append((action, game.value_of(world, int(world["hands"][0, seat]))))
        assert seen[0] == seen[1]


def test_exact_ties_fall_to_every_suit():
    """Three cards of one rank and a higher one: nothing but the hash says which of them goes."""
    times = np.zeros(4, np.int64)
    for rank, high in itertools.permutations("23456789", 2):
        if rank < high:
            for suits in itertools.permutations("cdhs", 3):
                hand = [rank + suit for suit in sorted(suits)]
                for suit in sorted(set("cdhs") - set(suits)):
                    times[_discarded_suit(hand, high + suit)] += 1
    expected = times.sum() / 4
    assert ((times - expected) ** 2 / expected).sum() < 21.1  # one in ten thousand


def _discarded_suit(hand: list[str], high: str) -> int:
    """The suit that `threshold:31` discards after it drew the high card; no trips are worth it."""
    others = "Kc Qd Jh" if high[1] != "c" else "Ks Qd Jh"
    t = table("swedish", " ".join(hand), others, upcard="Ac", stock=high).play("draw")
    return (choice("threshold:31", t.states) - FIRST_CARD) // 13


# --- thresholds --------------------------------------------------------------------------------

OTHER = "3d 4s 5c"


def test_a_threshold_knocks_with_its_value_or_more():
    for hand, value in (("Kh Qh 4h", 24), ("Kh Qh 5h", 25), ("Kh Qh 6h", 26)):
        t = table("danish", hand, OTHER, upcard="2c")
        assert knocks("threshold:25", t) == (value >= 25)
        assert knocks("threshold:25.5", t) == (value >= 25.5)


def test_a_threshold_tells_half_points_apart():
    t = table("danish_half", "Kh Kd Ks", OTHER, upcard="2c")
    assert knocks("threshold:30.5", t)
    assert not knocks("threshold:31", t)
    assert not knocks("threshold:30.5", table("danish", "Kh Kd Ks", OTHER, upcard="2c"))


def with_own_turns(t: Table, turns: int) -> Table:
    """The seat to act has taken so many turns in this round."""
    t.states["own_turns"][0, t.seat] = turns
    return t


def least_that_knocks(bot: str, turns: int = 0, **fields: int) -> int:
    """The least value of a two- or three-card suit, 10 to 30, with which a bot knocks."""
    found = []
    for hand in HANDS:
        t = with_own_turns(table("danish", hand, OTHER, upcard="2c", lives=LIVES), turns)
        for name, value in fields.items():
            t.states[name] = value
        if knocks(bot, t):
            found.append(game.hand_points(hand, "danish"))
    return int(min(found))


LIVES = [3, 3]
HANDS = ["Kh 2h 7s", *(f"Kh {n}h 2s" for n in range(3, 10)), "Kh Qh 2s", "Kh Ah 2s"]
HANDS += [f"Kh Qh {n}h" for n in range(2, 10)] + ["Kh Qh Jh"]


def test_thresholds_by_turn():
    bot = "threshold_by_turn:21,25.5,28"
    assert [least_that_knocks(bot, turns) for turns in range(5)] == [21, 26, 28, 28, 28]


def test_the_danish_thresholds():
    assert [least_that_knocks("danish", turns) for turns in range(7)] == [
        21,
        23,
        25,
        25,
        25,
        27,
        27,
    ]


def test_the_dutch_thresholds():
    assert least_that_knocks("dutch") == 28
    assert least_that_knocks("dutch", knocks=1, knock_turns=9) == 28
    assert least_that_knocks("dutch", knocks=2, knock_turns=10) == 26
    assert least_that_knocks("dutch", knocks=2, knock_turns=9) == 28
    assert least_that_knocks("dutch", knocks=3, knock_turns=6) == 29
    assert least_that_knocks("dutch", knocks=3, knock_turns=7) == 28


def test_the_dutch_threshold_on_the_last_life():
    for lives, free_ride, least in (([1, 3], False, 26), ([1, 3], True, 28), ([0, 3], True, 26)):
        for hand, value in (("Kh Qh 5h", 25), ("Kh Qh 6h", 26), ("Kh Qh 8h", 28)):
            rules = Rules.preset("danish", free_ride=free_ride)
            t = table(rules, hand, OTHER, upcard="2c", lives=lives)
            assert knocks("dutch", t) == (value >= least)


def test_the_swedish_thresholds():
    assert least_that_knocks("swedish") == 27
    for known, least in (("Kd Td", 23), ("Kd 9d", 27), ("Kd Ts", 27), ("Ad", 27)):
        for hand, value in (("Kh Qh 2h", 22), ("Kh Qh 3h", 23), ("Kh Qh 7h", 27)):
            rest = ["4c", "5c", "6c"][: 3 - len(known.split())]
            t = table("danish", hand, " ".join([*known.split(), *rest]), upcard="2c")
            t.states["known"][0, 1] = sum(int(BIT[NAMES.index(card)]) for card in known.split())
            assert knocks("swedish", t) == (value >= least)


def test_the_texts_want_eight_points_more_of_four_cards():
    for bot, least in (("danish", 29), ("dutch", 36), ("swedish", 35), ("threshold:25", 25)):
        for hand in ("Kh 5h 4h 2s", "Kh Qh 5h 2s", "Kh Qh 8h 2s", "Kh Qh 9h 2s", "Kh Qh 9h 5h",
                     "Kh Qh 9h 6h", "Kh Qh 9h 7h"):  # fmt: skip
            t = table("danish_four_cards", hand, "3d 4s 5c 6c", upcard="2c")
            value = game.hand_points(hand, "danish_four_cards")
            assert knocks(bot, t) == (value >= least), (bot, hand)


def test_no_bot_knocks_where_it_may_not():
    t = table("dutch", "Kh Qh Jh", OTHER, upcard="2c")
    assert not any(knocks(bot, t) for bot in NAMED[1:])
    t.play("burn burn")
    assert all(knocks(bot, t) for bot in ("threshold:25", "danish", "dutch", "swedish"))
    assert not knocks("never_knock", t)


# --- other choices -----------------------------------------------------------------------------


def test_the_greedy_rule_takes_an_upcard_that_makes_the_hand_better():
    t = table("danish", "Kh Qh 2s", OTHER, upcard="9h")
    assert action_name(choice("threshold:31", t.states)) == "take_upcard"
    assert action_name(choice("threshold:31", t.play("lift").states)) == "card 2s"
    t = table("danish", "Kh Qh 2s", OTHER, upcard="9d")
    assert action_name(choice("threshold:31", t.states)) == "draw_stock"


def test_a_dealer_refuses_a_hand_below_17():
    for hand, kept in (("Kh 7h 8s", True), ("Kh 9s Td", False)):
        t = table("schwimmen_a7", "7d 8c 9d", hand, table="Qd 8h Th")
        assert choice("threshold:25", t.states) == (KEEP if kept else REFUSE)


def test_the_random_bot_takes_every_legal_action_alike():
    states = game.new_match(PRESETS["danish"], 2, seed=1)
    legal = game.legal_actions(states)
    assert len(legal) == 4
    rng, times = np.random.default_rng(5), dict.fromkeys(legal, 0)
    for _ in range(4000):
        states["policy_streams"] = rng.integers(1 << 63, size=(1, 9), dtype=np.uint64)
        times[choice("random", states)] += 1
    assert sum((n - 1000) ** 2 / 1000 for n in times.values()) < 21.1


# --- strength ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bot", ADVICE)
@pytest.mark.parametrize("rules", ["danish", "dutch", "widow"])
def test_bots_beat_chance_widely(bot, rules):
    matches = np.arange(600)
    payoffs = play_matches(PRESETS[rules], [bot, "random"], seed=2, matches=matches)
    assert (payoffs[:, 0] > 0).mean() > 0.9


def test_a_sensible_threshold_beats_a_reckless_one():
    bots = ["threshold:27", "threshold:12"]
    payoffs = play_matches(PRESETS["danish"], bots, seed=2, matches=np.arange(2000))
    assert payoffs[:, 0].mean() > 0.1
