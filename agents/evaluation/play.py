"""The command `play`: a person at the table in the terminal."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import tyro
from rich.console import Console
from rich.text import Text

from agents.evaluation.advise import advise
from agents.evaluation.advise import table as advice_table
from agents.evaluation.commands import INTERRUPTED, Output, Ruled
from agents.evaluation.decisions import Decisions
from agents.evaluation.live import LiveMatch, Moment
from agents.evaluation.options import at_least
from agents.evaluation.picture import card_text, match_words, table_picture, words_of
from agents.evaluation.watch import RecordFile, Show, json_lines, lines_of
from agents.policies import TablePolicy, make
from thirtyone_env.actions import (
    ACTION_WORDS,
    DRAW_STOCK,
    FIRST_CARD,
    KNOCK,
    PASS,
    TAKE_UPCARD,
    action_name,
    parse_action,
)
from thirtyone_env.cards import NAMES, NO_CARD, cards_of
from thirtyone_env.game import legal_actions, value_of
from thirtyone_env.render.seen import stock_size
from thirtyone_env.search import BOT
from thirtyone_env.state import NOBODY, Phase

SHORT = {
    "s": "draw_stock",
    "stock": "draw_stock",
    "draw": "draw_stock",
    "u": "take_upcard",
    "upcard": "take_upcard",
    "take": "take_upcard",
    "k": "knock",
    "p": "pass",
    "a": "swap_all",
    "all": "swap_all",
    "buy": "buy_in",
}
"""Other words for actions."""
FAILED = 1
HELP = """Type an action by its name or the letter before it, or a card by its name, as Kh or 10s:
ranks 2 … 9, T or 10, J, Q, K, A; suits c d h s; jokers X1 …
  hint   what every action is worth      table   the table once more
  ?      this help                       q       leave (or Ctrl-D, Ctrl-C)"""


class Left(Exception):
    """The person has left the table."""


class NotPossible(ValueError):
    """What was typed is no legal action; the message says why."""


def understood(text: str, states: np.ndarray) -> int:
    """The legal action (card format) that was typed.

    Args:
        text: what the person typed.
        states: STATE[1], in which they are to act.

    Raises:
        NotPossible: saying what is wrong with it.
    """
    action = _action_of(text, int(states["phase"][0]))
    if action not in legal_actions(states):
        raise NotPossible(why_not(action, states))
    return action


def _action_of(text: str, phase: int) -> int:
    words = text.replace("-", "_").split()
    joined = "_".join(words).lower()
    if joined in ("take", "take_upcard") and phase == Phase.TAKE:
        raise NotPossible("say which card of the table you take")
    if joined in SHORT or joined in ACTION_WORDS:
        return parse_action(SHORT.get(joined, joined))
    name = words[-1] if words else ""
    name = "T" + name[2:] if name.startswith("10") else name
    name = name[:1].upper() + name[1:].lower()
    known = len(words) == 1 or (len(words) == 2 and words[0].lower() in _CARD_WORDS)
    if name in NAMES and known:
        return FIRST_CARD + NAMES.index(name)
    close = difflib.get_close_matches(joined, [*ACTION_WORDS, *SHORT], 1)
    hint = f"; did you mean {words_of(close[0])!r}?" if close else "; ? shows what can be typed"
    raise NotPossible(f"{text!r} is no action{hint}")


_CARD_WORDS = ("discard", "give", "take", "card")


def why_not(action: int, states: np.ndarray) -> str:
    """Why an action is not legal for the seat to act."""
    phase, rules = Phase(int(states["phase"][0])), states["rules"][0]
    seat = int(states["seat"][0])
    hand = cards_of(int(states["hands"][0, seat]))
    if action >= FIRST_CARD:
        return _why_not_card(action - FIRST_CARD, states, phase, hand)
    if phase == Phase.DISCARD:
        return "you have drawn: now discard a card"
    if phase == Phase.TAKE:
        return "you have given a card: now take one from the table"
    if phase == Phase.DEALER:
        return "the dealer first keeps or refuses the cards"
    if phase == Phase.BUY_IN:
        return "you are out: buy in, or decline"
    if action == KNOCK:
        return _why_not_knock(states, rules, seat)
    if action == PASS:
        if rules["pass_allowed"] == 1:
            return "you may pass only after somebody has knocked"
        return "these rules know no passing: draw, take the upcard or knock"
    if action == DRAW_STOCK and not rules["exchange"]:
        return "the stock is empty"
    if action == TAKE_UPCARD and not rules["exchange"]:
        return "there is no upcard"
    return f"{words_of(ACTION_WORDS[action])} is not possible now"


def _why_not_knock(states: np.ndarray, rules: np.void, seat: int) -> str:
    if states["knocker"][0] != NOBODY:
        return f"seat {int(states['knocker'][0])} has knocked already: this is your last turn"
    if states["dealt_blitz"][0]:
        return "a blitz was dealt: this is your last turn"
    if not rules["first_turn_knock"] and states["own_turns"][0, seat] == 0:
        return "by these rules nobody knocks on their first turn of a round"
    value = value_of(states, int(states["hands"][0, seat])) / 2
    return (
        f"by these rules a hand must be worth {rules['min_knock'] / 2:g} to knock; "
        f"yours is worth {value:g}"
    )


def _why_not_card(card: int, states: np.ndarray, phase: Phase, hand: Sequence[int]) -> str:
    name = NAMES[card]
    if phase == Phase.DISCARD:
        if card in hand:
            return f"by these rules the card that you took, {name}, may not go back at once"
        return f"{name} is not in your hand"
    if phase == Phase.TAKE:
        return f"{name} is not on the table"
    if phase == Phase.TURN and states["rules"]["exchange"][0]:
        return f"{name} is not in your hand"
    if phase == Phase.TURN:
        upcard = int(states["upcard"][0])
        if card == upcard != NO_CARD:
            return "to take the upcard say 'take upcard', or u"
        return "first draw from the stock or take the upcard, then discard"
    return f"{name} does not answer the question"


def offered(states: np.ndarray) -> Text:
    """The legal actions by name."""
    phase = int(states["phase"][0])
    parts, cards = [], []
    letters = {word: short for short, word in SHORT.items() if len(short) == 1}
    for action in legal_actions(states):
        if action >= FIRST_CARD:
            cards.append(card_text(NAMES[action - FIRST_CARD]))
            continue
        word = ACTION_WORDS[action]
        part = Text(words_of(word), "bold")
        if word == "take_upcard":
            part.append_text(Text(" ") + card_text(NAMES[int(states["upcard"][0])]))
        if word in letters:
            part = Text(f"{letters[word]} ", "cyan") + part
        parts.append(part)
    if cards:
        word = action_name(FIRST_CARD, phase).split()[0]
        parts.append(Text(f"{word} ", "bold") + Text(", ").join(cards))
    return Text("  ·  ", "dim").join(parts)


@dataclass(frozen=True)
class PlayCommand(Output, Ruled):
    """Play against policies in the terminal; type ? at the table for help."""

    opponents: tyro.conf.Positional[tuple[str, ...]] = ("danish",)
    """Bots or saved policies for the other seats; if they are fewer, they are repeated."""
    players: int | None = None
    """Seats; one more than there are opponents if not given."""
    seat: int = 0
    """Your seat, from 0."""
    seed: int | None = None  # type: ignore[assignment]
    """Start of the cards; none: drawn by lot and told at the end."""
    deal: int = 0
    """Number of the match under that seed."""
    hints: int = 2_000
    """Deals of the hidden cards behind a hint."""
    record: Path | None = None
    """A new file for the match record, .jsonl or .jsonl.gz."""
    format: Literal["table", "json", "csv", "parquet"] = "table"
    """Nothing but the table; or, behind it, one JSON object an event or the table of the decisions,
    and what is shown at the table goes to standard error; parquet goes to the folder."""

    def __call__(self) -> int:
        """Play one match."""
        self.check_output()
        rules = self.the_rules()
        if not self.opponents:
            raise ValueError("name at least one opponent, such as danish")
        seats = self.players or len(self.opponents) + 1
        if seats <= len(self.opponents):
            raise ValueError(f"--players {seats} for you and {len(self.opponents)} opponents")
        if not 0 <= self.seat < seats:
            raise ValueError(f"--seat {self.seat}: seats are 0 … {seats - 1}")
        at_least(0, deal=self.deal)
        if self.hints < 2:
            raise ValueError(f"--hints {self.hints}: at least 2 deals")
        made = [make(name, outside=True) for name in self.opponents]
        line_up: list[TablePolicy | None] = [made[i % len(made)] for i in range(seats - 1)]
        line_up.insert(self.seat, None)
        seed = self.seed
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        match = LiveMatch(rules, line_up, seed=seed, deal=self.deal)
        console = Console(highlight=False, stderr=self.format in ("json", "csv"))
        person = _Person(match, self.seat, self.hints, console)
        with RecordFile(self.record) as records:
            status = person.play()
            records.add(match.recorder.record)
            _say_end(match, self.seat, seed, records, console)
        tables = person.decisions.tables()
        if self.format == "json":
            sys.stdout.write("".join(f"{line}\n" for line in person.lines))
        elif self.format == "csv":
            sys.stdout.write(tables[0].to_csv())
        facts = {"study": "play", "policies": list(match.names), "rules": rules.to_dict()}
        self.write_files("play", facts | {"seed": seed, "deal": self.deal}, tables)
        return status


def _say_end(match: LiveMatch, seat: int, seed: int, records: RecordFile, console: Console) -> None:
    """How it ended, and where it is kept."""
    record = match.recorder.record
    if match.over:
        console.print(Text(match_words(record, match.names, seat), "bold"))
    elif record["rounds"]:
        lives = int(match.states["lives"][0, seat])
        held = "1 life" if lives == 1 else f"{lives} lives"
        console.print(f"you left in round {len(record['rounds'])} with {held}", markup=False)
    cards = f"the cards were those of --seed {seed} --deal {match.recorder.record['deal']}"
    kept = f"; the record is in {records.path}" if records.path else ""
    console.print(Text(cards + kept, "dim"), soft_wrap=True)


class _Person:
    """Sits at the table and is asked."""

    def __init__(self, match: LiveMatch, seat: int, hints: int, console: Console) -> None:
        self.match, self.seat, self.hints, self.console = match, seat, hints, console
        self.show = Show(seat, 1.0, False, True)
        self.decisions, self.lines = Decisions(seat), list[str]()

    def play(self) -> int:
        """Play to the end or until the person leaves; the exit status."""
        try:
            while not self.match.over:
                for moment in self.match.play(chances=False):
                    self._tell(moment)
                if not self.match.over:
                    self._tell(self.match.take(self._decision()))
        except Left:
            return 0
        except KeyboardInterrupt:
            self.console.print()
            return INTERRUPTED
        except ValueError as error:  # a policy that fails
            self.console.print(Text(f"the match ends here: {error}", "red"))
            return FAILED
        return 0

    def _tell(self, moment: Moment) -> None:
        deal, names = self.match.recorder.record["deal"], self.match.names
        for line in lines_of(moment, names, self.show):
            self.console.print(Text(line))
        self.decisions.add(moment, deal, names)
        self.lines += json_lines([moment], deal, self.show)

    def _decision(self) -> int:
        states = self.match.states
        if int(states["phase"][0]) not in (Phase.DISCARD, Phase.TAKE):
            self._show_table()
        commands: dict[str, Callable[[], None]] = {
            "?": lambda: self.console.print(Text(HELP)),
            "help": lambda: self.console.print(Text(HELP)),
            "hint": self._hint,
            "h": self._hint,
            "table": self._show_table,
        }
        while True:
            self.console.print(offered(states))
            text = self._asked()
            if text.lower() in ("q", "quit", "exit"):
                raise Left
            if text.lower() in commands:
                commands[text.lower()]()
                continue
            if not text:
                continue
            try:
                return understood(text, states)
            except NotPossible as reason:
                self.console.print(Text(f"{reason}", "yellow"))

    def _asked(self) -> str:
        try:
            if self.console.stderr:
                self.console.print("> ", end="")
            return input("" if self.console.stderr else "> ").strip()
        except EOFError:
            self.console.print()
            raise Left from None

    def _show_table(self) -> None:
        self.console.print(table_picture(self.match.states, self.match.names, self.seat))
        size = stock_size(self.match.states)
        if size <= 3 and not self.match.states["rules"]["exchange"][0]:
            self.console.print(Text(f"the stock runs out: {size} cards", "yellow"))

    def _hint(self) -> None:
        found = advise(self.match.states, self.match.rules, deals=self.hints, bot=BOT)
        self.console.print(advice_table(found))
