"""Every rule by an example in card notation, and properties of any play at all.

By default seat 0 begins, because the last seat deals; see `situations.table`.
"""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.house_rules import house_rules
from tests.engine.situations import checked, table
from thirtyone_env import game
from thirtyone_env.actions import BUY_IN
from thirtyone_env.cards import NO_CARD, set_of
from thirtyone_env.record import Recorder
from thirtyone_env.state import Phase

LOW, HIGH, MIDDLE = "2h 3s 4d", "Ah Kh 2s", "Kd 9d 2c"  # worth 4, 21 and 19
TEN_1, TEN_2, TEN_3 = "Jd 9s 3c", "Tc 8s 7h", "Jh 5s 4c"
BLITZ_1, BLITZ_2 = "As Ks Qs", "Ac Kc Qc"


# --- knock and showdown --------------------------------------------------------------------------


def test_a_lone_lowest_knocker_loses_two_lives():
    t = table("danish", LOW, HIGH, upcard="2c").play("knock pass")
    assert (t.end, t.losses, t.lives) == ("knock", [2, 0], [1, 3])


def test_a_lone_lowest_knocker_loses_one_life_where_the_rules_say_so():
    t = table("finnish", LOW, HIGH, upcard="2c").play("knock burn")
    assert (t.end, t.losses, t.lives) == ("knock", [1, 0], [2, 3])


def test_the_lowest_loses_one_life_where_it_did_not_knock():
    t = table("danish", HIGH, LOW, MIDDLE, upcard="2d").play("knock pass pass")
    assert (t.losses, t.lives) == ([0, 1, 0], [3, 2, 3])


def test_all_who_share_the_lowest_value_lose_one():
    t = table("danish", HIGH, TEN_1, TEN_2, upcard="2d").play("knock pass pass")
    assert t.losses == [0, 1, 1]


def test_a_knocker_who_ties_is_safe_in_danish():
    t = table("danish", TEN_1, TEN_2, HIGH, upcard="2d").play("knock pass pass")
    assert t.losses == [0, 1, 0]


def test_a_knocker_who_ties_shares_the_loss_in_swedish():
    t = table("swedish", TEN_1, TEN_2, upcard="2d").play("knock burn")
    assert t.losses == [1, 1]


def test_the_other_one_of_two_who_tie_loses():
    t = table("danish", TEN_1, TEN_2, upcard="2d").play("knock pass")
    assert t.losses == [0, 1]


def test_everybody_else_has_exactly_one_turn_after_a_knock():
    t = table("danish", HIGH, LOW, MIDDLE, upcard="2d").play("pass knock")
    assert t.seat == 2
    assert "knock" not in t.legal
    assert t.play("burn").seat == 0
    assert t.play("burn").end == "knock"


def test_a_knock_on_the_first_turn_is_allowed_in_danish():
    assert "knock" in table("danish", LOW, HIGH, upcard="2c").legal


def test_dutch_players_may_not_knock_on_their_own_first_turn():
    t = table("dutch", HIGH, MIDDLE, LOW.replace("3s", "3c"), upcard="2d")
    for _ in range(3):
        assert "knock" not in t.legal
        t.play("burn")
    assert "knock" in t.legal


def test_a_knock_wants_the_least_value():
    low = "3d 4s 5c"
    assert "knock" not in table("danish_min_knock_21", "Kh Qh 2s", low, upcard="2c").legal
    assert "knock" in table("danish_min_knock_21", "Kh Ah 2s", low, upcard="2c").legal
    assert "knock" in table("danish_min_knock_17", "Kh 7h 2s", low, upcard="2c").legal
    assert "knock" not in table("danish_min_knock_17", "Kh 6h 2s", low, upcard="2c").legal


def test_the_least_value_may_be_half_a_point():
    house = {"upcard": "2c", "min_knock": 30.5, "three_of_a_kind": 30.5}
    assert "knock" in table("danish", "Kh Kd Ks", LOW, **house).legal
    assert "knock" not in table("danish", "Kh Qh Th", LOW, **house).legal


def test_the_least_value_counts_on_an_empty_stock_too():
    t = table("danish", "Kd Ad 3s", "Kh Qh 2s", upcard="2c", stock_out="continue", min_knock=21)
    t.burn_until(0)
    assert t.seat == 1
    assert t.legal == {"take_upcard", "pass"}
    assert "knock" in t.play("pass").legal


# --- draw and discard ----------------------------------------------------------------------------


def test_a_turn_offers_what_the_pass_rule_says():
    turn = {"draw_stock", "take_upcard"}
    assert table("danish", LOW, HIGH, upcard="2c").legal == turn | {"knock", "pass"}
    assert table("swedish", LOW, HIGH, upcard="2c").legal == turn | {"knock"}
    assert table("dutch", LOW, HIGH, upcard="2c").legal == turn


def test_a_dutch_player_may_pass_after_a_knock_only():
    t = table("dutch", LOW, HIGH, upcard="2c").play("burn burn")
    assert t.legal == {"draw_stock", "take_upcard", "knock"}
    assert t.play("knock").legal == {"draw_stock", "take_upcard", "pass"}


def test_a_swedish_player_may_not_pass_after_a_knock():
    t = table("swedish", LOW, HIGH, upcard="2c").play("knock")
    assert t.legal == {"draw_stock", "take_upcard"}


def test_the_upcard_just_taken_may_not_be_returned():
    t = table("danish", LOW, HIGH, upcard="2c").play("lift")
    assert t.legal == {"2h", "3s", "4d"}


def test_the_upcard_may_be_returned_under_a_house_rule():
    t = table("danish", LOW, HIGH, upcard="2c", return_upcard=True).play("lift")
    assert t.legal == {"2h", "3s", "4d", "2c"}


def test_a_card_drawn_from_the_stock_may_be_discarded():
    t = table("danish", LOW, HIGH, upcard="2c", stock="5c").play("draw")
    assert t.legal == {"2h", "3s", "4d", "5c"}


def test_the_discard_is_the_next_upcard():
    t = table("danish", LOW, HIGH, upcard="2c", stock="5c").play("stock 4d")
    assert (t.upcard, t.hand(0)) == ("4d", "5c 2h 3s")
    t.play("upcard 2s")
    assert (t.upcard, t.hand(1)) == ("2s", "4d Kh Ah")


def test_four_cards():
    t = table("danish_four_cards", "2h 3s 4d 5c", "As Ks Qs 2c", upcard="2d", stock="6d Js")
    t.play("stock 6d stock 2c")
    assert (t.end, t.losses, t.round["values"]) == ("blitz", [1, 0], [5, 41])


def test_four_cards_are_no_blitz_with_31():
    t = table("danish_four_cards", "2h 3s 4d 5c", "As Ks Qs 2c", upcard="2d")
    assert t.phase == Phase.TURN


# --- blitz ---------------------------------------------------------------------------------------


def test_a_blitz_ends_the_round_and_everybody_else_loses():
    t = table("danish", LOW, "As Ks 2d", HIGH, upcard="2c", stock="5c Qs").play("pass stock 5c")
    assert t.phase == Phase.TURN
    t.play("pass pass stock 2d")
    assert (t.end, t.losses, t.lives) == ("blitz", [1, 0, 1], [2, 3, 2])


def test_a_blitz_after_a_knock_spares_the_knocker_the_second_life():
    t = table("danish", LOW, "As Ks 2d", HIGH, upcard="Qs").play("knock upcard 2d")
    assert (t.end, t.losses) == ("blitz", [1, 0, 1])


def test_a_blitz_after_a_knock_is_only_the_highest_hand_in_dutch():
    t = table("dutch", LOW, "As Ks 2d", HIGH, upcard="2c", stock="3c 4c 5c Qs")
    t.play("burn burn burn knock stock 2d pass")
    assert (t.end, t.losses, t.round["values"]) == ("knock", [2, 0, 0], [4, 31, 21])


def test_three_aces_are_a_blitz_in_finnish():
    t = table("finnish", "Ah Ad 2c", HIGH.replace("Ah", "As"), upcard="Ac").play("upcard 2c")
    assert (t.end, t.losses) == ("blitz", [0, 1])


def test_a_dealt_blitz_ends_the_round_before_the_first_turn():
    t = table("danish", LOW, BLITZ_1, HIGH, upcard="2c")
    assert (t.end, t.events, t.losses) == ("dealt_blitz", [], [1, 0, 1])


def test_several_dealt_blitzes_are_all_safe():
    t = table("danish", LOW, BLITZ_1, BLITZ_2, upcard="2c")
    assert (t.end, t.losses) == ("dealt_blitz", [1, 0, 0])


def test_nobody_loses_where_all_are_dealt_a_blitz():
    t = table("danish", BLITZ_1, BLITZ_2, upcard="2c")
    assert (t.end, t.losses) == ("dealt_blitz", [0, 0])
    assert t.deal(LOW, HIGH, upcard="2c").seat == 1


def test_a_joker_completes_a_blitz():
    t = table("danish_joker", LOW, "As 2d X1", upcard="Ks").play("pass upcard 2d")
    assert (t.end, t.losses) == ("blitz", [1, 0])


# --- the stock runs out --------------------------------------------------------------------------


def test_nobody_loses_when_the_stock_runs_out_in_danish():
    t = table("danish", LOW, HIGH, upcard="2c").burn_until(1)
    assert t.phase == Phase.TURN
    t.play("burn")
    assert (t.end, t.losses, t.lives) == ("void", [0, 0], [3, 3])


def test_the_deal_passes_on_after_a_void_round():
    t = table("danish", LOW, HIGH, upcard="2c").burn_until(0)
    assert t.deal(LOW, HIGH, upcard="2c").round["dealer"] == 0


def test_a_blitz_with_the_last_stock_card_counts():
    rest = rest_of_deck(LOW, "As Ks 2d", "2c", "Qs")
    t = table("danish", LOW, "As Ks 2d", upcard="2c", stock=f"{rest} Qs").burn_until(1)
    assert t.seat == 0
    t.play("pass stock 2d")
    assert (t.end, t.losses) == ("blitz", [1, 0])


def test_the_last_turns_are_played_after_a_knock_even_without_stock():
    t = table("danish", HIGH, LOW, MIDDLE, upcard="2d").burn_until(1)
    assert t.seat == 2
    t.play("knock burn")
    assert t.legal == {"take_upcard", "pass"}
    t.play("pass")
    assert (t.end, t.losses) == ("knock", [0, 1, 0])


def test_dutch_play_goes_on_without_stock_until_a_pass():
    t = table("dutch", LOW, HIGH, upcard="2c").burn_until(0)
    assert t.seat == 1
    assert t.legal == {"take_upcard", "knock", "pass"}
    t.play("upcard 2s pass")
    assert (t.end, t.losses) == ("stock_out", [1, 0])


def test_a_dutch_knock_without_stock_is_judged_as_a_knock_at_once():
    t = table("dutch", LOW, HIGH, upcard="2c").burn_until(0).play("upcard 2s knock")
    assert (t.end, t.losses) == ("stock_out", [2, 0])


def test_under_continue_all_have_to_pass():
    t = table("danish_continue", LOW, HIGH, upcard="2c").burn_until(0)
    t.play("pass upcard 4d pass")
    assert (t.seat, t.end) == (0, None)
    t.play("pass")
    assert (t.end, t.losses) == ("stock_out", [1, 0])


def test_passes_before_the_stock_ran_out_do_not_count():
    t = table("danish_continue", LOW, HIGH, upcard="2c").burn_until(1).play("pass burn pass")
    assert t.end is None
    assert t.play("pass").end == "stock_out"


def test_under_continue_a_knock_is_an_ordinary_one():
    t = table("danish_continue", LOW, HIGH, upcard="2c").burn_until(0).play("pass knock")
    assert t.legal == {"take_upcard", "pass"}
    t.play("pass")
    assert (t.end, t.losses) == ("knock", [2, 0])


def test_the_pile_under_the_upcard_is_shuffled_into_a_new_stock():
    t = table("danish_reshuffle", LOW, HIGH, upcard="2c").burn_until(0)
    *under, top = ["2c", *t.round["stock"]]
    event = t.round["events"][-1]
    assert (event["seat"], event["action"], sorted(event["cards"])) == (
        None,
        "reshuffle",
        sorted(under),
    )
    assert event["cards"] != under
    assert (t.upcard, t.stock_left) == (top, len(under))
    t.play("burn")
    assert t.upcard == event["cards"][0]


def test_nothing_is_reshuffled_after_a_knock():
    t = table("danish_reshuffle", LOW, HIGH, upcard="2c").burn_until(1).play("knock burn")
    assert (t.end, t.events[-1]) == ("knock", "discard")


def test_every_reshuffle_of_a_very_long_round_is_noted():
    house = {"max_turns": 30_000, "low_rank": 5, "hand_size": 4, "three_of_a_kind": None}
    hands = ["5c 6d 7h 8s", "9c Td Jh Qs", "5d 6h 7s 8c", "9d Th Js Qc", "5h 6s 7c 8d",
             "9h Ts Jc Qd", "5s 6c 7d 8h", "9s Tc Jd Qh", "Kc Ad Kh As"]  # fmt: skip
    t = table("danish_reshuffle", *hands, upcard="Ac", blitz_value=41, **house).play("burn " * 900)
    assert t.events.count("reshuffle") == int(t.states["reshuffles"][0]) == 300


def rest_of_deck(*names: str) -> str:
    """The whole deck without some cards."""
    used = " ".join(names).split()
    deck = [rank + suit for suit in "cdhs" for rank in "23456789TJQKA"]
    return " ".join(card for card in deck if card not in used)


# --- the exchange family -------------------------------------------------------------------------

SEVEN, ELEVEN, NINETEEN = "7h 8s 9d", "Ah Td 7s", "Jc 9c Kh"  # worth 9, 11 and 19
OPEN = "Qd 8c Th"


def test_the_dealer_keeps_the_hand_and_the_stock_gives_the_table():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=OPEN)
    assert (t.phase, t.seat, t.legal) == (Phase.DEALER, 1, {"keep", "refuse"})
    assert t.round["table"] is None
    t.play("keep")
    assert (t.hand(1), t.open_table, t.seat) == ("Td Ah 7s", "8c Qd Th", 0)


def test_the_dealer_refuses_the_hand_and_it_becomes_the_table():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=OPEN).play("refuse")
    assert (t.hand(1), t.open_table, t.seat) == ("8c Qd Th", "Td Ah 7s", 0)


def test_widow_has_no_choice_for_the_dealer():
    t = table("widow", SEVEN, ELEVEN, table=OPEN)
    assert (t.phase, t.open_table) == (Phase.TURN, "8c Qd Th")


def test_a_turn_of_the_exchange_family():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=OPEN).play("keep")
    assert t.legal == {"7h", "8s", "9d", "swap_all", "knock", "pass"}
    assert t.play("give 7h").legal == {"8c", "Qd", "Th"}


def test_swapping_one_card_is_one_turn():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=OPEN).play("keep swap 7h Qd")
    assert (t.hand(0), t.open_table, t.seat) == ("9d Qd 8s", "8c 7h Th", 1)
    assert int(t.states["turns"][0]) == 1


def test_swapping_all_cards():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=OPEN).play("keep all")
    assert (t.hand(0), t.open_table, t.seat) == ("8c Qd Th", "9d 7h 8s", 1)


def test_a_knock_and_the_last_turns():
    t = table("schwimmen_a7", SEVEN, NINETEEN, ELEVEN, table=OPEN).play("keep pass knock")
    assert t.legal == {"Td", "Ah", "7s", "swap_all", "pass"}
    t.play("swap 7s Th pass")
    assert (t.end, t.losses, t.round["values"]) == ("knock", [1, 0, 0], [9, 19, 21])


def test_a_lone_lowest_knocker_loses_one_life_in_schwimmen():
    t = table("schwimmen_a7", SEVEN, NINETEEN, table=OPEN).play("keep knock pass")
    assert (t.end, t.losses) == ("knock", [1, 0])


def test_german_players_may_not_knock_on_their_own_first_turn():
    t = table("schwimmen_german", SEVEN, ELEVEN, table=OPEN).play("keep")
    assert "knock" not in t.legal
    assert "knock" not in t.play("pass").legal
    assert "knock" in t.play("swap 7s Th").legal


def test_equal_values_are_decided_by_suit():
    hearts, diamonds = "Qh Th 7s", "Qd Td 8s"
    t = table("schwimmen_a7", hearts, diamonds, table="7c 8c 9h").play("keep knock pass")
    assert (t.losses, t.round["values"]) == ([0, 1], [20, 20])


def test_equal_values_are_shared_in_widow():
    t = table("widow", "Qh Th 7s", "Qd Td 8s", table="7c 8c 9h").play("knock pass")
    assert t.losses == [1, 1]


def test_a_blitz_by_a_swap_costs_the_lowest_a_life():
    t = table("schwimmen_a7", "As Ks 7d", SEVEN, ELEVEN, table="Qs 8c Th").play("keep swap 7d Qs")
    assert (t.end, t.losses) == ("blitz", [0, 1, 0])


def test_a_blitz_by_swapping_all():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table="As Ks Qs").play("keep all")
    assert (t.end, t.losses) == ("blitz", [0, 1])


def test_a_blitz_after_a_knock_ends_the_round_at_once():
    t = table("schwimmen_a7", "As Ks 7d", NINETEEN, SEVEN, table="Qs 8c Th")
    t.play("keep pass knock pass swap 7d Qs")
    assert (t.end, t.losses) == ("blitz", [0, 0, 1])
    t = table("schwimmen_a7", SEVEN, "As Ks 7d", NINETEEN, table="Qs 8c Th")
    t.play("keep knock swap 7d Qs")
    assert (t.end, t.losses) == ("blitz", [1, 0, 0])


def test_a_knocker_alone_lowest_on_a_blitz_is_judged_as_a_knocker():
    t = table("schwimmen_a7", SEVEN, "As Ks 7d", table="Qs 8c Th", knocker_lowest_loss=2)
    t.play("keep knock swap 7d Qs")
    assert (t.end, t.losses) == ("blitz", [2, 0])


def test_three_aces_cost_everybody_else_a_life_in_german_schwimmen():
    hands = ("As Ad 7d", NINETEEN, SEVEN)
    t = table("schwimmen_german", *hands, table="Ac 8c Th").play("keep swap 7d Ac")
    assert (t.end, t.losses, t.round["values"][0]) == ("blitz", [0, 1, 1], 32)
    t = table("schwimmen_a7", *hands, table="Ac 8c Th").play("keep swap 7d Ac")
    assert (t.end, t.losses) == ("blitz", [0, 0, 1])


def test_three_aces_decide_for_another_blitz_too_and_all_holders_are_safe():
    hands = ("As Ad Ac", "Ah Kh Qh", NINETEEN.replace("Kh", "Ks"), SEVEN)
    t = table("schwimmen_german", *hands, table="7c 8c 8h").play("keep pass pass")
    assert (t.end, t.losses) == ("dealt_blitz", [0, 0, 1, 1])


def test_a_dealt_blitz_gives_all_others_one_exchange():
    t = table("schwimmen_a7", SEVEN, BLITZ_1, ELEVEN, table=OPEN).play("keep")
    assert (t.seat, t.legal) == (0, {"9d", "7h", "8s", "swap_all", "pass"})
    t.play("swap 7h Qd")
    assert t.seat == 2
    t.play("pass")
    assert (t.end, t.losses, t.round["values"]) == ("dealt_blitz", [0, 0, 1], [19, 31, 11])


def test_a_blitz_made_in_that_exchange_does_not_stop_the_others():
    t = table("schwimmen_a7", "Ac Kc 7d", BLITZ_1, ELEVEN, table="Qc 8c Th").play("keep swap 7d Qc")
    assert (t.end, t.seat) == (None, 2)
    t.play("all")
    assert (t.end, t.losses, t.round["values"]) == ("dealt_blitz", [0, 0, 1], [31, 31, 10])


def test_widow_has_no_exchange_after_a_dealt_blitz():
    t = table("widow", SEVEN, BLITZ_1, ELEVEN, table=OPEN)
    assert (t.end, t.losses, t.events) == ("dealt_blitz", [1, 0, 0], [])


def test_the_lower_of_two_dealt_blitzes_loses():
    t = table("schwimmen_a7", "Ad Kd Qd", BLITZ_1, table="7c 8c Th").play("keep")
    assert (t.end, t.losses) == ("dealt_blitz", [1, 0])


def test_a_refusal_may_bring_the_dealer_a_blitz():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=BLITZ_1).play("refuse")
    assert t.seat == 0
    t.play("swap 7h Td")
    assert (t.end, t.losses) == ("dealt_blitz", [1, 0])


def test_the_table_is_renewed_when_all_have_passed():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=OPEN, stock="7c 9c Tc").play("keep pass")
    assert t.open_table == "8c Qd Th"
    t.play("pass")
    assert t.round["events"][-1] == {
        "seat": None,
        "action": "renew_table",
        "cards": ["7c", "9c", "Tc"],
    }
    assert (t.open_table, t.seat) == ("7c 9c Tc", 0)


def test_a_swap_starts_the_count_of_passes_anew():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=OPEN).play("keep pass swap 7s Th pass")
    assert "renew_table" not in t.events
    assert t.play("pass").events[-1] == "renew_table"


def test_a_showdown_when_the_stock_cannot_renew_the_table():
    t = table("schwimmen_a7", SEVEN, ELEVEN, table=OPEN).play("keep").all_pass(7)
    assert (t.events.count("renew_table"), t.stock_left) == (7, 2)
    t.all_pass()
    assert (t.end, t.losses) == ("stock_out", [1, 0])


def test_all_cards_put_aside_are_shuffled_with_the_rest_in_german_schwimmen():
    t = table("schwimmen_german", SEVEN, ELEVEN, table=OPEN).play("keep").all_pass(8)
    shuffled, renewed = t.round["events"][-2:]
    assert (shuffled["action"], renewed["action"]) == ("reshuffle", "renew_table")
    assert len(shuffled["cards"]) == 32 - 6
    assert set(renewed["cards"]) == set(shuffled["cards"][:3])
    assert t.stock_left == 32 - 6 - 3
    t.all_pass(8)
    assert t.events.count("reshuffle") == 2


# --- caps ----------------------------------------------------------------------------------------


def test_a_round_without_a_knock_is_void_at_the_cap_on_turns():
    t = table("danish", LOW, HIGH, upcard="2c", max_turns=3).play("pass pass")
    assert t.end is None
    t.play("pass")
    assert (t.end, t.losses, t.lives) == ("max_turns", [0, 0], [3, 3])


def test_a_knock_in_the_last_turn_is_played_out():
    t = table("danish", HIGH, LOW, MIDDLE, upcard="2d", max_turns=1).play("knock pass pass")
    assert (t.end, t.losses) == ("knock", [0, 1, 0])


def test_a_blitz_in_the_last_turn_counts():
    t = table("danish", "As Ks 2d", LOW, upcard="Qs", max_turns=1).play("upcard 2d")
    assert (t.end, t.losses) == ("blitz", [0, 1])


def test_an_empty_stock_comes_before_the_cap_on_turns():
    assert table("danish", LOW, HIGH, upcard="2c", max_turns=45).burn_until(0).end == "void"


def test_a_reshuffle_comes_before_the_cap_on_turns():
    t = table("danish_reshuffle", LOW, HIGH, upcard="2c", max_turns=45).burn_until(1).play("burn")
    assert (t.end, t.events[-1]) == ("max_turns", "reshuffle")


def test_a_showdown_on_an_empty_stock_comes_before_the_cap_on_turns():
    t = table("dutch", LOW, HIGH, upcard="2c", max_turns=46).burn_until(0).play("pass")
    assert (t.end, t.losses) == ("stock_out", [1, 0])


def test_a_new_table_comes_before_the_cap_on_turns():
    t = table("widow", SEVEN, ELEVEN, table=OPEN, max_turns=2).all_pass()
    assert (t.end, t.events[-1]) == ("max_turns", "renew_table")


def test_a_match_ends_without_a_winner_at_the_cap_on_rounds():
    t = table("danish", HIGH, LOW, MIDDLE, upcard="2d", max_rounds=2).play("knock pass pass")
    t.deal(HIGH, LOW, MIDDLE, upcard="2d").play("pass knock pass pass")
    assert (t.phase, t.record["winner"]) == (Phase.OVER, None)
    assert t.record["returns"] == [0.0, 0.0, 0.0]
    assert t.states["truncated"][0]


def test_only_those_in_play_share_at_the_cap_on_rounds():
    t = table("danish", HIGH, LOW, MIDDLE, upcard="2d", max_rounds=1, rules_lives=1)
    t.play("knock pass pass")
    assert (t.record["winner"], t.record["returns"]) == (None, [0.25, -0.5, 0.25])


def test_the_winner_of_the_last_allowed_round_wins():
    t = table("danish", HIGH, LOW, upcard="2d", max_rounds=1, rules_lives=1).play("knock pass")
    assert (t.record["winner"], t.record["returns"]) == (0, [1.0, -1.0])
    assert not t.states["truncated"][0]


# --- lives and elimination -----------------------------------------------------------------------


def test_lives_never_go_below_zero():
    t = table("danish", LOW, HIGH, MIDDLE, upcard="2d", lives=[1, 3, 3]).play("knock pass pass")
    assert (t.losses, t.lives, t.round["eliminated"]) == ([2, 0, 0], [0, 3, 3], [0])


def test_eliminated_players_get_no_cards_and_the_deal_skips_them():
    t = table("danish", HIGH, LOW, MIDDLE, upcard="2d", dealer=0, lives=[3, 1, 3])
    t.play("pass pass knock pass pass")
    assert t.round["eliminated"] == [1]
    t.deal("3h 4s 5d", "", "Ks Qs 2h", upcard="3d")
    assert (t.round["dealer"], t.round["in_play"], t.seat) == (2, [0, 2], 0)
    assert t.round["hands"][1] == []
    assert t.play("knock pass").end == "knock"


def test_the_deal_passes_on_from_a_dealer_who_is_out():
    t = table("danish", HIGH, LOW, MIDDLE, upcard="2d", dealer=1, lives=[3, 1, 3])
    t.play("pass knock pass pass")
    assert t.deal("3h 4s 5d", "", "Ks Qs 2h", upcard="3d").round["dealer"] == 2


def test_the_last_player_in_play_wins():
    t = table("danish", HIGH, LOW, upcard="2d", rules_lives=1).play("knock pass")
    assert (t.phase, t.record["winner"], t.record["pot"]) == (Phase.OVER, 0, 2)


def test_a_lost_last_life_is_a_free_ride_in_swedish():
    t = table("swedish", HIGH, LOW, upcard="2d", rules_lives=1).play("knock burn")
    assert (t.lives, t.round["free_ride"], t.round["eliminated"]) == ([1, 0], [False, True], [])
    t.deal(HIGH, LOW, upcard="2d").play("burn knock burn")
    assert (t.losses, t.record["winner"]) == ([0, 1], 0)


def test_a_two_life_loss_with_one_life_left_gives_the_free_ride():
    t = table("swedish", LOW, HIGH, upcard="2d", rules_lives=1).play("knock burn")
    assert (t.losses, t.lives) == ([2, 0], [0, 1])
    assert t.round["free_ride"] == [True, False]


def test_without_a_free_ride_a_two_life_loss_with_one_life_left_eliminates():
    t = table("danish", LOW, HIGH, upcard="2d", rules_lives=1).play("knock pass")
    assert (t.losses, t.record["winner"]) == ([2, 0], 1)


def test_the_last_player_wins_on_the_free_ride_too():
    t = table("dutch", HIGH, LOW, upcard="2d", lives=[0, 0]).play("burn burn knock pass")
    assert (t.record["winner"], t.round["free_ride"]) == (0, [True, False])


# --- buy-ins -------------------------------------------------------------------------------------


def test_a_buy_in_brings_one_life_and_one_stake():
    t = table("dutch_buy_in", HIGH, LOW, MIDDLE, upcard="2d", rules_lives=1)
    t.play("burn burn burn knock pass pass")
    assert (t.phase, t.seat, t.legal) == (Phase.BUY_IN, 1, {"buy_in", "decline"})
    t.play("buy_in")
    assert (t.lives, t.round["eliminated"], t.record["pot"]) == ([1, 1, 1], [], 4)
    assert t.events[-1] == "buy_in"


def test_who_declines_is_out():
    t = table("dutch_buy_in", HIGH, LOW, MIDDLE, upcard="2d", rules_lives=1)
    t.play("burn burn burn knock pass pass decline")
    assert (t.lives, t.round["eliminated"], t.record["pot"]) == ([1, 0, 1], [1], 3)


def test_several_decide_in_order_from_the_left_of_the_dealer():
    t = table(
        "dutch_buy_in", BLITZ_1, LOW, HIGH, MIDDLE, upcard="2d", dealer=1,
        rules_lives=1,
    )  # fmt: skip
    assert (t.end, t.phase, t.seat) == ("dealt_blitz", Phase.BUY_IN, 2)
    assert t.play("buy_in").seat == 3
    assert t.play("decline").seat == 1
    t.play("buy_in")
    assert (t.round["eliminated"], t.lives) == ([3], [1, 1, 1, 0])


def test_a_player_is_asked_although_only_one_would_remain():
    t = table("dutch_buy_in", BLITZ_1, LOW, upcard="2d", rules_lives=1)
    assert t.phase == Phase.BUY_IN
    t.play("buy_in").deal(BLITZ_1, LOW, upcard="2d")
    assert (t.phase, t.record["winner"], t.record["pot"]) == (Phase.OVER, 0, 3)
    assert t.record["returns"] == [2.0, -2.0]


def test_a_winner_who_bought_in_has_paid_two_stakes():
    t = table("dutch_buy_in", BLITZ_1, LOW, MIDDLE, upcard="2d", rules_lives=1)
    t.play("decline buy_in").deal(LOW, "", BLITZ_1, upcard="2d").play("decline")
    assert (t.record["winner"], t.record["pot"]) == (2, 4)
    assert t.record["returns"] == [-0.5, -0.5, 1.0]


def test_a_buy_in_after_the_last_round_shares_the_pot():
    t = table("dutch_buy_in", BLITZ_1, LOW, upcard="2d", max_rounds=1, rules_lives=1)
    t.play("buy_in")
    assert (t.phase, t.record["winner"]) == (Phase.OVER, None)
    assert t.record["returns"] == [0.5, -0.5]


def test_a_buy_in_does_not_renew_the_free_ride():
    t = table("swedish", BLITZ_1, LOW, upcard="2d", buy_ins=1, rules_lives=1)
    assert t.round["free_ride"] == [False, True]
    t.deal(BLITZ_1, LOW, upcard="2d").play("buy_in")
    t.deal(BLITZ_1, LOW, upcard="2d")
    assert t.record["winner"] == 0


# --- deciders ------------------------------------------------------------------------------------

SHARED = {"upcard": "2d", "rules_lives": 1, "knocker_tie": "shares"}


def test_players_who_would_all_be_out_play_a_decider():
    t = table("danish", TEN_1, TEN_2, **SHARED).play("knock pass")
    assert (t.losses, t.lives, t.round["eliminated"]) == ([1, 1], [0, 0], [])
    t.deal(HIGH, LOW, upcard="2d")
    assert (t.round["decider"], t.round["dealer"]) == (True, 0)
    t.play("pass knock pass")
    assert (t.record["winner"], t.losses) == (0, [0, 1])


def test_a_decider_gives_no_free_rides():
    t = table("swedish", TEN_1, TEN_2, upcard="2d", lives=[0, 0]).play("knock burn")
    assert (t.phase, t.round["free_ride"]) == (Phase.ROUND_OVER, [False, False])
    assert t.deal(BLITZ_1, LOW, upcard="2d").record["winner"] == 0


def test_a_void_round_changes_nothing_in_a_decider():
    t = table("danish", TEN_1, TEN_2, **SHARED).play("knock pass")
    t.deal(HIGH, LOW, upcard="2d").burn_until(0)
    assert (t.end, t.lives, t.phase) == ("void", [0, 0], Phase.ROUND_OVER)
    assert t.deal(BLITZ_1, LOW, upcard="2d").record["winner"] == 0


def test_all_may_lose_in_a_decider_again():
    t = table("danish", TEN_1, TEN_2, **SHARED).play("knock pass")
    t.deal(TEN_1, TEN_2, upcard="2d").play("knock pass")
    assert (t.phase, t.round["eliminated"]) == (Phase.ROUND_OVER, [])
    assert t.deal(BLITZ_1, LOW, upcard="2d").record["winner"] == 0


def test_a_decider_of_three_goes_on_between_two():
    t = table("danish", TEN_1, TEN_2, TEN_3, **SHARED).play("knock pass pass")
    assert t.losses == [1, 1, 1]
    t.deal(TEN_1, HIGH, MIDDLE, upcard="2d").play("pass knock pass pass")
    assert t.round["eliminated"] == [0]
    t.deal("", BLITZ_1, LOW, upcard="2d")
    assert (t.round["decider"], t.record["winner"]) == (True, 1)


def test_who_loses_beside_a_survivor_is_simply_out():
    t = table("danish", TEN_1, TEN_2, HIGH, **SHARED).play("knock pass pass")
    assert (t.record["winner"], t.round["eliminated"]) == (2, [0, 1])


def test_two_who_lose_beside_a_survivor_with_lives_are_out():
    t = table("danish", TEN_1, TEN_2, MIDDLE, HIGH, **SHARED)
    t.play("knock pass pass pass")
    assert (t.round["eliminated"], t.phase) == ([0, 1], Phase.ROUND_OVER)
    assert t.deal("", "", BLITZ_1, LOW, upcard="2d").round["decider"] is False


def test_under_draw_those_who_would_all_be_out_share_the_pot():
    t = table("danish", TEN_1, TEN_2, **SHARED, decider="draw").play("knock pass")
    assert (t.phase, t.record["winner"], t.record["returns"]) == (Phase.OVER, None, [0.0, 0.0])
    assert not t.states["truncated"][0]


def test_of_three_seats_two_share_the_pot():
    t = table("danish", BLITZ_1, BLITZ_2, LOW, **SHARED, decider="draw")
    t.deal(TEN_1, TEN_2, "", upcard="2d").play("pass knock pass")
    assert t.record["returns"] == [0.25, 0.25, -0.5]


def test_nobody_is_asked_in_a_decider():
    t = table("danish", TEN_1, TEN_2, **SHARED, buy_ins=1).play("knock pass decline decline")
    assert t.round["decider"] is False
    assert t.deal(BLITZ_1, LOW, upcard="2d").record["winner"] == 0


def test_a_buy_in_averts_the_decider():
    t = table("danish", TEN_1, TEN_2, **SHARED, buy_ins=1).play("knock pass buy_in decline")
    assert (t.record["winner"], t.record["pot"]) == (0, 3)


# --- properties ----------------------------------------------------------------------------------


def cards_in_places(states: np.ndarray) -> list[int]:
    """The cards of every place: hands, stock, pile, upcard, table."""
    state = states[0]
    stock = state["deck"][int(state["top"]) : int(state["deck_end"])].tolist()
    places = [int(hand) for hand in state["hands"]] + [int(state["pile"]), int(state["table"])]
    if state["upcard"] != NO_CARD:
        places.append(set_of([int(state["upcard"])]))
    return [*places, *(set_of([card]) for card in stock)]


def assert_all_cards_are_there(states: np.ndarray) -> None:
    places, union = cards_in_places(states), 0
    for cards in places:
        assert union & cards == 0
        union |= cards
    assert bin(union).count("1") == int(states["rules"]["deck_size"][0])


def assert_lives_only_fall(before: np.ndarray, states: np.ndarray, bought: bool) -> None:
    change = states["lives"][0] - before["lives"][0]
    seat = int(before["seat"][0])
    if bought:
        assert (before["lives"][0, seat], states["lives"][0, seat]) == (0, 1)
        change[seat] = 0
    assert (change <= 0).all()


@settings(max_examples=300, deadline=None)
@given(rules_and_seats=house_rules(), seed=st.integers(0, 2**63 - 1))
def test_any_play_keeps_cards_and_lives_and_ends(rules_and_seats, seed):
    rules, seats = rules_and_seats
    rng = random.Random(seed)
    recorder = Recorder(rules, seats, seed=seed, deal=0)
    while not recorder.over:
        before = recorder.states.copy()
        if recorder.states["phase"][0] == Phase.ROUND_OVER:
            recorder.deal_round()
            action = None
        else:
            action = rng.choice(game.legal_actions(recorder.states))
            recorder.take(action)
        assert_all_cards_are_there(recorder.states)
        assert_lives_only_fall(before, recorder.states, action == BUY_IN)
    assert abs(sum(recorder.record["returns"])) < 1e-5
    checked(recorder.record)
