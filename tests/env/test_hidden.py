"""What a seat cannot know has no influence on what it sees or does, and is dealt anew fairly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from math import comb, prod
from typing import Any

import numpy as np
import pytest

import thirtyone_env
from tests.engine.processes import run
from tests.env.helpers import (
    BOTS,
    EVERY_TABLE,
    KNOCK,
    PASS,
    Chooser,
    at_random,
    cards_on_table,
    content,
    deal,
    deviation,
    generator,
    same_seen,
    scaled,
    shuffled_deck,
    some_player,
    stock_of,
    turns,
    unhurried,
    whole_deck,
)
from tests.env.memory import Memory
from thirtyone_env import PRESETS, Rules, game, make_bot, parse_action
from thirtyone_env._jit import entry
from thirtyone_env.cards import NAMES, names_of
from thirtyone_env.engine.deck import settle_deck
from thirtyone_env.engine.hidden import deal_is_possible, resample_hidden
from thirtyone_env.observation import slices
from thirtyone_env.render import render_text
from thirtyone_env.state import STATE, Phase

HIDDEN = ("hands", "policy_streams", "seed", "stream", "deck", "shuffled", "drawn")
MANY = 5.0  # standard deviations


@entry
def resample_rows(states, seat: int, streams) -> int:
    """Resample every row; how many found no possible deal."""
    failed = 0
    for row in range(len(states)):
        state = states[row]
        if not resample_hidden(state, seat, streams[row]):
            failed += 1
    return failed


@entry
def settle(states) -> None:
    """Settle the order of the stock."""
    state = states[0]
    settle_deck(state)


@entry
def is_possible(states, seat: int) -> bool:
    """Whether the deal as it is counts as possible for a seat."""
    state = states[0]
    return deal_is_possible(state, seat)


def situations(rules: str, seats: int | None, rng: np.random.Generator) -> Iterator[Any]:
    """Environments in the midst of play, at random moments of all sorts of matches, for ever."""
    while True:
        least, most = PRESETS[rules].min_players, PRESETS[rules].max_players
        num_players = seats or int(rng.integers(least, most + 1))
        env = thirtyone_env.env(rules=rules, num_players=num_players, render_mode="ansi")
        env.reset(seed=int(rng.integers(1 << 60)))
        for _, (_, _, done, truncated, _) in turns(env, some_player(rng, num_players)):
            if rng.random() < 0.1 and not (done or truncated):
                yield env


# --- nobody peeks -------------------------------------------------------------------------------


def view(env: Any, seat: int) -> list[Any]:
    """Everything that a seat sees, and does where it is to act."""
    states = env._states
    seen = [
        env.observe(env.possible_agents[seat]),
        game.observe(states, seat, "compact"),
        game.observe(states, seat, canonical=True),
    ]
    if states["phase"][0] < Phase.JUDGE:  # afterwards hands may lie open
        seen.append(render_text(states, seat))
    if seat == states["seat"][0]:
        if env.agent_selection == env.possible_agents[seat]:  # not where a round is just over
            seen.append(env.last())
        for slots, canonical in ((False, False), (True, False), (False, True), (True, True)):
            mask = np.zeros((1, 14 if slots else 65), np.int8)
            game.look(states, seat, np.zeros((1, env._size), np.uint8), mask, canonical, slots)
            seen.append(mask)
        for name in BOTS:
            copied, rows = states.copy(), np.zeros(1, np.int64)
            seen.append(make_bot(name).choose(copied, rows))
            seen.append(make_bot(name).choose(copied, rows, slots=True, canonical=True))
    return seen


def check_valid(states: np.ndarray, before: np.ndarray, seat: int, rules: Rules) -> None:
    """A resampled state is a whole deck, and public as before."""
    assert sorted(cards_on_table(states)) == whole_deck(rules)
    for name in STATE.names or ():
        assert name in HIDDEN or content(states[name]) == content(before[name]), name
    assert states["hands"][0, seat] == before["hands"][0, seat]
    assert states["policy_streams"][0, seat] == before["policy_streams"][0, seat]
    assert (states["known"][0] & ~states["hands"][0] == 0).all()
    sizes = [[int(hand).bit_count() for hand in each["hands"][0]] for each in (states, before)]
    assert sizes[0] == sizes[1]
    if seat == states["seat"][0] or states["taken"][0] >= 0:
        assert states["drawn"][0] == before["drawn"][0]
    elif before["drawn"][0] >= 0:
        hand = names_of(states["hands"][0, int(states["seat"][0])])
        assert NAMES[int(states["drawn"][0])] in hand


def hidden_part(states: np.ndarray) -> tuple[Any, ...]:
    """The hands and the order of the stock."""
    settled = states.copy()
    settle(settled)
    return states["hands"][0].tolist(), stock_of(settled)


def much_is_hidden(states: np.ndarray) -> bool:
    """Whether the seat to act does not know seven cards or more."""
    others = np.delete(states["hands"][0] & ~states["known"][0], int(states["seat"][0]))
    return len(stock_of(states)) + sum(int(hand).bit_count() for hand in others) >= 7


def nobody_peeks(rules: str, number: int) -> None:
    rng = generator("peek", rules)
    looked, different = 0, 0
    for env in situations(rules, None, rng):
        real, acting = env._states, int(env._states["seat"][0])
        bystander = [int(rng.integers(env.num_players))] * int(rng.random() < 0.3)
        for seat in {acting, *bystander}:
            assert real["phase"][0] > Phase.TAKE or is_possible(real, seat)
            seen, before = view(env, seat), content(real)
            env._states = game.clone(real)
            game.resample_hidden(env._states, seat, rng)
            check_valid(env._states, real, seat, env.rules)
            if seat == acting and much_is_hidden(real):
                looked += 1
                different += hidden_part(env._states) != hidden_part(real)
            assert same_seen(view(env, seat), seen)
            env._states = real
            assert content(real) == before
        if looked == number:
            break
    assert different >= 0.99 * number


@pytest.mark.parametrize("rules", PRESETS)
def test_nobody_peeks(rules):
    nobody_peeks(rules, 300)


@pytest.mark.slow
@pytest.mark.parametrize("rules", PRESETS)
def test_nobody_peeks_in_ten_thousand_situations(rules):
    nobody_peeks(rules, scaled(10_000))


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
def test_a_resampled_match_can_be_played_on(rules, num_players):
    rng = generator("play on", rules, num_players)
    for env in islice(situations(rules, num_players, rng), 4):
        states, seat = env._states.copy(), int(rng.integers(num_players))
        game.resample_hidden(states, seat, rng)
        for _ in range(300):
            if game.is_over(states):
                break
            game.step(states, int(rng.choice(game.legal_actions(states))))
            if not game.is_over(states):
                assert sorted(cards_on_table(states)) == whole_deck(PRESETS[rules])


def test_the_random_streams_are_replaced():
    states = game.new_match(PRESETS["danish"], 3, seed=1)
    first, second = states.copy(), states.copy()
    game.resample_hidden(first, 0, np.random.default_rng(1))
    game.resample_hidden(second, 0, np.random.default_rng(2))
    for name in ("seed", "stream"):
        assert len({int(each[name][0]) for each in (states, first, second)}) == 3
    streams = [each["policy_streams"][0, :3].tolist() for each in (states, first, second)]
    assert streams[0][0] == streams[1][0] == streams[2][0]
    assert len({*streams[0], *streams[1], *streams[2]}) == 7


def test_a_resampling_repeats_from_its_generator():
    states = game.new_match(PRESETS["danish"], 3, seed=1)
    pair = [states.copy(), states.copy()]
    for each in pair:
        game.resample_hidden(each, 2, np.random.default_rng(5))
    assert content(pair[0]) == content(pair[1]) != content(states)


RESAMPLED = """
import hashlib, sys
import numpy as np
from thirtyone_env import PRESETS, game
for number, rules in enumerate(PRESETS):
    rng = np.random.default_rng(number)
    states = game.new_match(rules, 3, seed=number)
    digest = hashlib.sha256()
    for _ in range(60):
        if game.is_over(states):
            break
        guess = states.copy()
        if guess["phase"][0] < 5:
            game.resample_hidden(guess, int(rng.integers(3)), rng)
        for name in ("hands", "deck", "drawn", "stream", "seed", "policy_streams"):
            digest.update(guess[name].tobytes())
        game.step(states, int(rng.choice(game.legal_actions(states))))
    sys.stdout.write(f"{rules} {digest.hexdigest()}\\n")
"""


@pytest.mark.slow
def test_interpreted_resampling_is_the_compiled_one():
    compiled, _ = run("-c", RESAMPLED, NUMBA_DISABLE_JIT=None)
    interpreted, _ = run("-c", RESAMPLED, NUMBA_DISABLE_JIT="1")
    assert compiled.count("\n") == len(PRESETS)
    assert compiled == interpreted


# --- dealt as likely as it is -------------------------------------------------------------------


def deals_seen_as(env: Any, seat: int, most: int) -> Memory | None:
    """What a seat remembers, if there are not too many deals to count them all."""
    memory = Memory(env.record(), seat)
    ways = [
        comb(len(memory.pools[pool]), number)
        for held in memory.held.values()
        for pool, number in held.items()
    ]
    return memory if prod(ways) <= most else None


def check_chances(env: Any, seat: int, memory: Memory, rng: np.random.Generator) -> float:
    """Resample many times and compare with the count of all deals; standard deviations."""
    chances: Counter[Any] = Counter()
    for hands, weight in memory.deals():
        chances[tuple(hands[other] for other in memory.others)] += weight
    truth = tuple(frozenset(memory.hands[other]) for other in memory.others)
    assert chances[truth] > 0
    number = max(1000, 6 * len(chances))
    states = np.repeat(env._states, number)
    streams = rng.integers(0, 1 << 63, number).astype(np.uint64)
    assert resample_rows(states, seat, streams) == 0
    hands, times = np.unique(states["hands"][:, memory.others], axis=0, return_counts=True)
    counts = Counter(
        {
            tuple(frozenset(names_of(hand)) for hand in row): time
            for row, time in zip(hands.tolist(), times.tolist(), strict=True)
        }
    )
    impossible = set(counts) - set(chances)
    assert not impossible, sorted(impossible, key=str)[:3]
    return deviation([counts[deal] for deal in chances], list(chances.values()))


def renewing(rng: np.random.Generator) -> Chooser:
    """Passes and draws, so that stocks run out."""

    def choose(env: Any, seen: dict[str, np.ndarray]) -> int:
        legal = np.flatnonzero(seen["action_mask"])
        lasting = PASS if env.rules.family == "exchange" else parse_action("draw_stock")
        if lasting in legal and rng.random() < 0.93:
            return lasting
        return int(rng.choice(legal[legal != KNOCK]))

    return choose


def short(name: str, **changes: Any) -> Rules:
    """A preset with 24 cards."""
    return Rules.preset(name, low_rank=9, **changes)


CHANCES = {
    "danish": (short("danish"), 2, unhurried, 0),
    "joker": (short("danish_joker"), 2, unhurried, 0),
    "min_knock": (short("danish_min_knock_21"), 2, at_random, 0),
    "high_min_knock": (short("danish_half", min_knock=26), 2, at_random, 0),
    "blitz_kept_after_knock": (short("dutch"), 3, at_random, 0),
    "four_cards": (short("danish_four_cards"), 2, unhurried, 0),
    "exchange": (PRESETS["schwimmen_a9"], 2, unhurried, 0),
    "exchange_kept_blitz": (Rules.preset("schwimmen_a9", blitz_after_knock=False), 2, at_random, 0),
    "reshuffled": (short("danish_reshuffle", max_turns=40), 3, renewing, 1),
    "table_reshuffled": (PRESETS["schwimmen_german"], 2, renewing, 1),
}


def chances_hold(name: str, number: int) -> None:
    rules, seats, player, reshuffles = CHANCES[name]
    rng = generator("chances", name)
    worst, left = 0.0, number
    while left:
        env = thirtyone_env.env(rules=rules, num_players=seats)
        env.reset(seed=int(rng.integers(1 << 60)))
        for step, _ in enumerate(turns(env, player(rng))):
            states = env._states
            if step > 300 or not env.agents:
                break
            if states["phase"][0] > Phase.TAKE or rng.random() > 0.2:
                continue
            done = int(states["reshuffles"][0])
            if done < reshuffles or (done > 1 and rules.family == "draw"):
                continue
            seat = int(rng.choice([s for s in range(seats) if int(states["in_play"][0]) >> s & 1]))
            memory = deals_seen_as(env, seat, 1200)
            if memory is not None:
                worst = max(worst, check_chances(env, seat, memory, rng))
                left -= 1
                if not left:
                    break
    assert worst < MANY


@pytest.mark.parametrize("name", CHANCES)
def test_hidden_cards_are_dealt_as_likely_as_they_are(name):
    chances_hold(name, 12)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANCES)
def test_hidden_cards_are_dealt_as_likely_as_they_are_in_many_situations(name):
    chances_hold(name, scaled(400))


@pytest.mark.parametrize("dealer_choice", [False, True])
def test_after_a_dealt_blitz_somebody_holds_it(dealer_choice):
    rng = generator("dealt blitz", dealer_choice)
    rules = Rules.preset("schwimmen_a9", dealer_choice=dealer_choice)
    seen: Counter[int] = Counter()
    for _ in range(15):
        deck = [card for card in shuffled_deck(rules, rng) if card not in ("As", "Ks", "Qs")]
        hands = [" ".join(deck[:3]), " ".join(deck[3:6])]
        holder = int(rng.integers(2))
        hands[holder] = "As Ks Qs"
        env = thirtyone_env.env(rules=rules, num_players=2)
        dealer = int(rng.integers(2))
        env.reset(seed=1, options={"dealer": dealer, "deck": deal(hands, dealer)})
        if dealer_choice:
            env.step(
                parse_action("keep" if dealer == holder else str(rng.choice(["keep", "refuse"])))
            )
        while env._states["dealt_blitz"][0] and env._states["phase"][0] <= Phase.TAKE:
            for seat in range(2):
                memory = Memory(env.record(), seat)
                assert check_chances(env, seat, memory, rng) < MANY
                seen[seat == holder] += 1
            env.step(at_random(rng)(env, env.last()[0]))
    assert min(seen[False], seen[True]) > 10


def test_the_next_card_is_as_likely_as_it_is():
    env = thirtyone_env.env(rules=short("danish"), num_players=2)
    env.reset(seed=3)
    seat = int(env._states["seat"][0])
    memory = Memory(env.record(), seat)
    chances: Counter[str] = Counter()
    for hands, weight in memory.deals():
        for card in memory.pools[0] - hands[1 - seat]:
            chances[card] += weight
    number = 20_000
    states = np.repeat(env._states, number)
    streams = generator("next card").integers(0, 1 << 63, number).astype(np.uint64)
    assert resample_rows(states, seat, streams) == 0
    counts: Counter[str] = Counter()
    for row in range(number):
        drawn = states[row : row + 1]
        game.step(drawn, parse_action("draw_stock"))
        counts[NAMES[int(drawn["drawn"][0])]] += 1
    assert deviation([counts[card] for card in chances], list(chances.values())) < MANY


def test_the_observation_holds_what_perfect_memory_knows():
    """Cards known in hands, pools and counts of hidden cards, against a memory of its own."""
    rng = generator("memory")
    for rules in ("danish_reshuffle", "schwimmen_german", "dutch_four_cards", "danish_joker"):
        for env in islice(situations(rules, 3, rng), 60):
            states, seat = env._states, int(env._states["seat"][0])
            if states["phase"][0] > Phase.TAKE:
                continue
            memory = Memory(env.record(), seat)
            row, places = game.observe(states, seat), slices(3)
            known = row[places["known"]].reshape(3, -1)
            for other in memory.others:
                place = (other - seat) % 3
                given = {memory.given[1]} if memory.given else set()
                assert names(known[place]) | given == memory.shown(other) | given
                if states["reshuffles"][0] == 1:
                    assert row[places["fresh"]][place] == memory.held[other][1]
            if states["reshuffles"][0] == 1:
                assert names(row[places["recycled"]]) == memory.pools[1]
            assert row[places["stock"]][0] == len(stock_of(states))
            open_cards = memory.table | ({memory.upcard} - {None})
            assert names(row[places["open"]]) == open_cards
            assert names(row[places["pile"]]) == memory.pile


def names(flags: np.ndarray) -> set[str]:
    return {NAMES[card] for card in np.flatnonzero(flags)}
