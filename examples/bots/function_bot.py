"""A bot as a Python function: from what a seat sees to the name of an action.

python evaluate.py tournament python:examples/bots/function_bot.py:patient danish random
"""

RANKS = "23456789TJQKA"


def patient(view):
    """Collect the best suit; knock with 27, or with 23 on the first two turns."""
    legal = view["legal"]
    if "knock" in legal and view["value"] >= (23 if view["turn"] <= 2 else 27):
        return "knock"
    hand, open_card = view["hand"], view["upcard"]
    if view["phase"] == "turn":
        fits = open_card is not None and suit_worth([*hand, open_card]) >= suit_worth(hand) + 5
        if fits and "take_upcard" in legal:
            return "take_upcard"
        return legal[0]
    if view["phase"] == "discard":
        cards = [name.removeprefix("discard ") for name in legal]
        return "discard " + max(cards, key=lambda card: suit_worth([c for c in hand if c != card]))
    return legal[0]


def suit_worth(cards):
    """Points of the best suit, jokers left out."""
    points = {}
    for card in cards:
        rank, suit = card
        if rank != "X":
            worth = 11 if rank == "A" else min(RANKS.index(rank) + 2, 10)
            points[suit] = points.get(suit, 0) + worth
    return max(points.values(), default=0)
