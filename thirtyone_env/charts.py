"""Knock charts: tables of how likely a seat knocks, by what it sees at the start of its turn.

A chart is plain data: eight axes, one probability a cell, the rules and the rule of draws that it
was made for, and a card that says how. It is one JSON file; the table in it is compressed, and its
digest is checked. Nothing of it is ever run as code.

The axes, outermost first; one that is not used has the length 1:

| axis | bins |
| --- | --- |
| players | players in play, from `first_players` on; fewer or more count with the nearest |
| own lives | losses until the seat itself is out, from 1; more count with the last |
| other lives | the least of the opponents' losses until they are out, from 1 |
| seat | players between the first player of the round and this one, from 0 |
| turn | turns that the seat has taken in this round, from 0; later ones count with the last |
| pick-up | the last if an opponent took the upcard (exchanged cards) in its last turn, see below |
| gain | half points that the upcard (the best exchange) adds to the hand: how many of the `gains` |
| value | value of the hand, `first_value` half points and on in steps of `value_step` |

Of three bins of pick-ups the middle one is for an opponent that did so earlier and still holds a
card that it took. What is seen once and forgotten again makes charts answerable: with two bins,
by those who remember.

Probabilities are whole half per cents, so that a chart of 5 sizes of table stays under 100 kB.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from thirtyone_env.rules import MAX_SEATS, RULES, Rules

FORMAT = "thirtyone-knock-chart"
VERSION = 1
CERTAIN = 200
"""What a probability of 1 is in a table: probabilities are counted in half per cents."""
MAX_GAINS = 7
MAX_PICK_UPS = 3
MAX_CELLS = 4_000_000
MAX_FILE = 16_000_000
"""Bytes of a file that is read at all."""
SAFETY_RULES = frozenset({"max_rounds", "min_players", "max_players"})
"""Rules that make no difference to any chart."""
MATCH_RULES = frozenset({"lives", "free_ride", "buy_ins", "decider"})
"""Rules that make none to a chart that does not look at lives."""
FOLDER = Path(__file__).with_name("data") / "charts"
"""The charts that come with the package."""
AXES = ("players", "own_lives", "other_lives", "seat", "turn", "pick_up", "gain", "value")
"""The names of a table's axes, in order."""


class Head(IntEnum):
    """What stands where in the head of a chart's book, before the table."""

    FIRST_PLAYERS = 0
    PLAYERS = 1
    OWN_LIVES = 2
    OTHER_LIVES = 3
    SEATS = 4
    TURNS = 5
    PICK_UPS = 6
    GAINS = 7
    EDGES = 8
    FIRST_VALUE = EDGES + MAX_GAINS
    VALUE_STEP = FIRST_VALUE + 1
    VALUES = FIRST_VALUE + 2
    SIZE = FIRST_VALUE + 3


class ChartError(ValueError):
    """A chart that is missing, damaged, or not made for what it is asked to play."""


@dataclass(frozen=True)
class Axes:
    """The bins of a chart.

    Raises:
        ChartError: for a length or an edge that no chart has.
    """

    first_players: int = 2
    """Players of the first bin."""
    players: int = 1
    own_lives: int = 1
    other_lives: int = 1
    seats: int = 1
    turns: int = 1
    pick_ups: int = 1
    gains: tuple[int, ...] = ()
    """Half points from which on a gain counts in the next bin; rising, the first above 0."""
    first_value: int = 0
    """Half points of the lowest bin; lower hands count with it, higher ones with the highest."""
    value_step: int = 1
    """Half points from bin to bin."""
    values: int = 1

    def __post_init__(self) -> None:
        limits = {
            "first_players": (2, MAX_SEATS),
            "players": (1, MAX_SEATS - 1),
            "own_lives": (1, 10),
            "other_lives": (1, 10),
            "seats": (1, MAX_SEATS),
            "turns": (1, 100),
            "pick_ups": (1, MAX_PICK_UPS),
            "first_value": (0, 100),
            "value_step": (1, 100),
            "values": (1, 100),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ChartError(f"{name} = {value!r}; allowed: a whole number, {low} … {high}")
        edges = self.gains
        whole = all(isinstance(edge, int) and not isinstance(edge, bool) for edge in edges)
        if not whole or list(edges) != sorted(set(edges) - {0}) or len(edges) > MAX_GAINS:
            raise ChartError(f"gains = {edges!r}; allowed: up to {MAX_GAINS} rising half points")
        if self.size > MAX_CELLS:
            raise ChartError(f"{self.size:,} cells; allowed: {MAX_CELLS:,}")

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths in the order of `AXES`."""
        lives = (self.own_lives, self.other_lives)
        last = (self.pick_ups, len(self.gains) + 1, self.values)
        return (self.players, *lives, self.seats, self.turns, *last)

    @property
    def size(self) -> int:
        """Number of cells."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def points(self) -> np.ndarray:
        """float64[values]: the hand values of the bins, in points."""
        return (self.first_value + self.value_step * np.arange(self.values)) / 2

    @property
    def head(self) -> np.ndarray:
        """int32[Head.SIZE]: the axes as kernels read them."""
        head = np.zeros(Head.SIZE, np.int32)
        head[: Head.GAINS] = (self.first_players, *self.shape[:6])
        head[Head.GAINS] = len(self.gains) + 1
        head[Head.EDGES : Head.EDGES + len(self.gains)] = self.gains
        head[Head.FIRST_VALUE :] = self.first_value, self.value_step, self.values
        return head


@dataclass(frozen=True)
class Chart:
    """How likely a seat knocks, by cell.

    Raises:
        ChartError: if the table does not fit the axes or holds no probabilities.
    """

    axes: Axes
    table: np.ndarray
    """uint8 of `axes.shape`, in half per cents; frozen."""
    rules: Rules
    """The rules that it was made for."""
    draws: str = "greedy"
    """The rule that it was made to draw and discard with."""
    name: str = "chart"
    card: Mapping[str, Any] = field(default_factory=dict)
    """Recipe and figures: plain data for people, read by nothing."""

    def __post_init__(self) -> None:
        table = np.array(self.table)
        if table.dtype != np.uint8 or table.shape != self.axes.shape:
            raise ChartError(
                f"a table {table.dtype}{list(table.shape)}; expected uint8{list(self.axes.shape)}"
            )
        if table.max() > CERTAIN:
            raise ChartError(f"the table holds {table.max()}; allowed: 0 … {CERTAIN}")
        table.setflags(write=False)
        object.__setattr__(self, "table", table)

    @classmethod
    def of(cls, axes: Axes, probabilities: np.ndarray, rules: Rules, **others: Any) -> Chart:
        """The chart of probabilities float64 of `axes.shape`, each rounded to half a per cent."""
        table = np.rint(np.asarray(probabilities) * CERTAIN)
        if not (table >= 0).all() or not (table <= CERTAIN).all():
            raise ChartError("probabilities must lie between 0 and 1")
        return cls(axes, table.astype(np.uint8), rules, **others)

    @property
    def probabilities(self) -> np.ndarray:
        """float64 of `axes.shape`."""
        return self.table / CERTAIN

    @property
    def book(self) -> np.ndarray:
        """int32[Head.SIZE + cells]: head and table as kernels read them."""
        return np.concatenate([self.axes.head, self.table.ravel().astype(np.int32)])

    @cached_property
    def digest(self) -> str:
        """What tells charts apart: of the axes and the table."""
        return hashlib.sha256(self.axes.head.tobytes() + self.table.tobytes()).hexdigest()

    @property
    def players(self) -> tuple[int, ...]:
        """The numbers of players that it was made for."""
        first = self.axes.first_players
        return tuple(range(first, first + self.axes.players))

    def check(self, rules: Rules, num_players: int) -> None:
        """Refuse a table that the chart was not made for.

        Rules of the match alone (`MATCH_RULES`) may differ, unless the chart looks at lives. A
        match goes on with fewer and fewer players; numbers below the chart's count with its lowest.

        Raises:
            ChartError: naming every rule that differs, or the numbers of players it knows.
        """
        self.check_players(num_players)
        mine, table = self.rules.to_dict(), rules.to_dict()
        free = self._free_rules
        differences = [
            f"{rule} is {mine[rule]} for the chart, {table[rule]} at the table"
            for rule in mine
            if mine[rule] != table[rule] and rule not in free
        ]
        if differences:
            raise ChartError(f"{self.name} is made for other rules: {'; '.join(differences)}")

    def check_players(self, num_players: int) -> None:
        """Refuse a number of players.

        Raises:
            ChartError: naming those that the chart knows.
        """
        if num_players not in self.players:
            known = " … ".join(map(str, dict.fromkeys((self.players[0], self.players[-1]))))
            raise ChartError(f"{self.name} is made for {known} players, not for {num_players}")

    def check_record(self, rules: Any) -> None:
        """As `check`, for rules as kernels read them (a record of dtype `RULES`).

        Raises:
            ChartError: naming every field of the record that differs.
        """
        mine, free = self.rules.record, {*self._free_rules, "decider_draw"}
        names = [name for name in RULES.names or () if mine[name] != rules[name]]
        different = [name for name in names if name not in free]
        if different:
            raise ChartError(f"{self.name} is made for other rules: {', '.join(different)} differ")

    @property
    def _free_rules(self) -> frozenset[str]:
        knows_lives = self.axes.own_lives > 1 or self.axes.other_lives > 1
        return SAFETY_RULES if knows_lives else SAFETY_RULES | MATCH_RULES

    # --- files ---------------------------------------------------------------------------------

    def to_text(self) -> str:
        """The file's content; the same bytes for the same chart."""
        raw = self.table.tobytes()
        content = {
            "format": FORMAT,
            "version": VERSION,
            "rules": self.rules.to_dict(),
            "draws": self.draws,
            "axes": asdict(self.axes),
            "card": dict(self.card),
            "sha256": hashlib.sha256(raw).hexdigest(),
            "table": base64.b64encode(zlib.compress(raw, 9)).decode("ascii"),
        }
        return json.dumps(content, indent=1) + "\n"

    @classmethod
    def from_text(cls, text: str, name: str = "chart") -> Chart:
        """The chart that a file's content stands for.

        Raises:
            ChartError: if it is none, a damaged one, or of a version to come.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ChartError(f"not JSON: {error}") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ChartError(f"it does not say that it is a {FORMAT}")
        if content.get("version") != VERSION:
            raise ChartError(f"version {content.get('version')!r}; this program reads {VERSION}")
        try:
            axes = dict(content["axes"])
            axes["gains"] = tuple(axes["gains"])
            bins = Axes(**axes)
            rules = Rules.from_dict(content["rules"])
            table = _unpacked(content["table"], content["sha256"], bins)
            draws, card = content["draws"], dict(content["card"])
        except (KeyError, TypeError, ValueError) as error:
            raise ChartError(str(error) or type(error).__name__) from error
        if not isinstance(draws, str):
            raise ChartError(f"draws = {draws!r}; allowed: the name of a rule")
        return cls(bins, table, rules, draws, name, card)

    @classmethod
    def load(cls, path: Path | str) -> Chart:
        """Read a chart by its file, or by the name of one that comes with the package.

        Raises:
            ChartError: naming the file, if it is missing or no chart.
        """
        shipped = FOLDER / f"{path}.json"
        path = shipped if str(path) in chart_names() else Path(path)
        try:
            if path.stat().st_size > MAX_FILE:
                raise ChartError(f"{path}: over {MAX_FILE:,} bytes; no chart is as long")
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            known = ", ".join(chart_names()) or "none"
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise ChartError(
                f"no chart at {path}: {reason}; charts that come with the package: {known}"
            ) from error
        try:
            return cls.from_text(text, path.stem)
        except ChartError as error:
            raise ChartError(f"{path} is not a readable chart: {error}") from error

    def to_csv(self) -> str:
        """One line a cell with the bins of all axes; the value in points, then the probability."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*AXES, "knock"])
        firsts = np.array([self.axes.first_players, 1, 1, 0, 0, 0, 0])
        for bins in np.ndindex(self.axes.shape):
            value = f"{self.axes.points[bins[-1]]:g}"
            knock = f"{self.table[bins] / CERTAIN:g}"
            writer.writerow([*(firsts + bins[:-1]).tolist(), value, knock])
        return text.getvalue()

    def to_json(self) -> str:
        """Axes, rules, card and the probabilities as nested lists, for other programs."""
        content = {
            "axes": [
                {"name": name, "length": length}
                for name, length in zip(AXES, self.axes.shape, strict=True)
            ],
            "bins": asdict(self.axes),
            "rules": self.rules.to_dict(),
            "draws": self.draws,
            "card": dict(self.card),
            "knock": self.probabilities.tolist(),
        }
        return json.dumps(content) + "\n"


def chart_names() -> tuple[str, ...]:
    """The charts that come with the package."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def _unpacked(packed: Any, digest: Any, axes: Axes) -> np.ndarray:
    """The table of a file, never more than the axes say."""
    decoder = zlib.decompressobj()
    try:
        raw = decoder.decompress(base64.b64decode(packed, validate=True), axes.size + 1)
    except zlib.error as error:
        raise ChartError(f"the table is damaged: {error}") from error
    if len(raw) != axes.size:
        raise ChartError(f"the table has not the {axes.size:,} cells that its axes say")
    if hashlib.sha256(raw).hexdigest() != digest:
        raise ChartError("the table is damaged: it has another digest")
    return np.frombuffer(raw, np.uint8).reshape(axes.shape)
