"""Scripted policies inside the kernel: `random`, `threshold:T` and the advice of three sources.

A bot sees the State through its own seat only: its hand, what lies open, what was taken or
discarded openly, lives, turns. All but `random`, charts and solvers are functions of that alone.
Greedy ones draw and discard by best value; ties are broken by what can still grow and by not
feeding the next player a card of a suit that it collects, and at last by a hash of the cards (never
by their order, so that no suit is favoured). Two bots that never knock can take upcards from each
other for ever; `Rules.max_turns` ends that.
"""

from __future__ import annotations

from thirtyone_env.bots.book import NO_BOOK, Book, by_rules
from thirtyone_env.bots.deciding import bot_action, going_on
from thirtyone_env.bots.knocking import Bot
from thirtyone_env.bots.names import (
    BOT_FORMS,
    BOTS,
    DRAWS,
    bot_table,
    check_seats,
    controller,
    drawing,
)

__all__ = [
    "BOTS",
    "BOT_FORMS",
    "DRAWS",
    "NO_BOOK",
    "Book",
    "Bot",
    "bot_action",
    "bot_table",
    "by_rules",
    "check_seats",
    "controller",
    "drawing",
    "going_on",
]
