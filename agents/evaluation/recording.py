"""Match records of studies: which matches are recorded, and how their records are made.

A record is made after its match, by playing it once more: bots of the kernel decide as they did,
since their randomness comes from the seed, and what policies outside the kernel answered was
noted. So the record is that of the match that was counted, whatever the policies do next time.

Matches are recorded in the order of their deals, those of one deal by all line-ups before the
next deal. A line-up's part of a chunk of deals is a part of the file.

Shapes: `D` deals of a chunk, `R` rotations of the seats.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.policies import TablePolicy
from agents.policies.files import write_bytes
from thirtyone_env.actions import KNOCK
from thirtyone_env.arena import Tables, resolve_actions
from thirtyone_env.game import legal_actions
from thirtyone_env.record import Json, Recorder, dump
from thirtyone_env.record.files import open_to_write
from thirtyone_env.record.recorder import bot_row
from thirtyone_env.rules import MAX_SEATS, Rules
from thirtyone_env.state import ASK_ALL, ASK_KNOCK, Phase

Answers = Mapping[int, Sequence[int]]
"""What policies outside the kernel answered, in order, by row: place of the deal x R + rotation."""


class MatchScribe:
    """Writes the records of one line-up.

    Args:
        policies: of the line-up; in rotation r policy p sits at seat (p + r) mod S.
        rules: of the matches.
        seed: start of the cards and of the bots' randomness.
    """

    def __init__(self, policies: Sequence[TablePolicy], rules: Rules, seed: int) -> None:
        self.policies, self.rules, self.seed = policies, rules, seed
        size = len(policies)
        tables = Tables(rules, size, seed=seed, matches=[0], deal=False)
        for p, policy in enumerate(policies):
            tables.set_controllers(0, p, policy.controller)
        self._controllers = tables.states["controllers"][0, :size].copy()
        self._book = tables.book

    def record(self, deal: int, rotation: int, answers: Sequence[int]) -> Json:
        """The record of one match; unfinished where the answers end before it does."""
        size = len(self.policies)
        at_seat = [(seat - rotation) % size for seat in range(size)]
        names = [self.policies[p].name for p in at_seat]
        recorder = Recorder(self.rules, size, seed=self.seed, deal=deal, policies=names)
        recorder.states["controllers"][0, :size] = self._controllers[at_seat]
        left = iter(answers)
        while not recorder.over:
            if recorder.states["phase"][0] == Phase.ROUND_OVER:
                recorder.deal_round()
            elif _asks_outside(recorder.states):
                answer = next(left, None)
                if answer is None:
                    break
                recorder.take(self._resolved(recorder.states, answer))
            else:
                recorder.take(int(bot_row(recorder.states, 0, self._book.array)))
        return recorder.record

    def _resolved(self, states: np.ndarray, answer: int) -> int:
        given, out = np.array([answer]), np.zeros(1, np.int64)
        row, book = np.zeros(1, np.int64), self._book.array
        resolve_actions(states, row, book, given, out, False, False, MAX_SEATS)
        return int(out[0])

    def lines(self, deals: np.ndarray, wanted: np.ndarray, answers: Answers) -> bytes:
        """The records of the matches that are wanted, a line each.

        Args:
            deals: int64[D], their numbers.
            wanted: bool[D, R].
            answers: of the policies outside the kernel.
        """
        size = len(self.policies)
        found = [
            dump(self.record(int(deals[d]), int(r), answers.get(int(d) * size + int(r), ())))
            for d, r in np.argwhere(wanted)
        ]
        return "".join(line + "\n" for line in found).encode()


def _asks_outside(states: np.ndarray) -> bool:
    ask = states["controllers"]["ask"][0, int(states["seat"][0])]
    if ask == ASK_ALL:
        return True
    at_start = ask == ASK_KNOCK and states["phase"][0] == Phase.TURN
    return bool(at_start and KNOCK in legal_actions(states))


@dataclass(frozen=True)
class Wanted:
    """The first matches of a study."""

    sizes: tuple[int, ...]
    """Rotations of every line-up, in order."""
    most: int | None = None
    """How many matches are recorded; None: all."""

    def of(self, line_up: int, deals: np.ndarray) -> np.ndarray:
        """bool[D, R]: which matches of a line-up are recorded."""
        size = self.sizes[line_up]
        if self.most is None:
            return np.ones((deals.size, size), bool)
        before = sum(self.sizes[:line_up])
        number = deals[:, None] * sum(self.sizes) + before + np.arange(size)
        wanted: np.ndarray = number < self.most
        return wanted


class Recording:
    """The parts of a record file, kept until the file is put together.

    Args:
        path: of the file, ``.jsonl`` or ``.jsonl.gz``; a new one.
        most: how many matches are recorded; None: all.
        folder: where the parts are kept and found again; None: somewhere until the end.

    Raises:
        ValueError: if there is such a file, or none can be there.
    """

    def __init__(self, path: Path, most: int | None, folder: Path | None = None) -> None:
        if path.exists():
            raise ValueError(f"{path} exists; choose another name, nothing is overwritten")
        if not path.parent.is_dir():
            raise ValueError(f"--record {path}: there is no folder {path.parent}")
        if most is not None and most < 1:
            raise ValueError(f"--record-matches {most}: at least 1")
        self.path, self.most = path, most
        self._temporary = None
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix=".parts-", dir=path.parent)
            folder = Path(self._temporary.name)
        else:
            folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

    def part(self, name: str, matches: int) -> Path:
        """Where a part lies."""
        return self.folder / f"{name}-{matches}.jsonl"

    def has(self, name: str, matches: int) -> bool:
        """Whether a part is there; one without matches always is."""
        return matches == 0 or self.part(name, matches).exists()

    def keep(self, name: str, matches: int, lines: bytes) -> None:
        """Keep a part."""
        if matches:
            write_bytes(self.part(name, matches), lines)

    def write(self, parts: Iterable[tuple[str, int]]) -> int:
        """Put the file together from parts by name and matches, in their order.

        Returns:
            The number of matches in it.
        """
        total = 0
        with open_to_write(self.path) as file:
            for name, matches in parts:
                if matches:
                    file.write(self.part(name, matches).read_bytes())
                    total += matches
        return total

    def close(self) -> None:
        """Remove what was kept for the time being."""
        if self._temporary is not None:
            self._temporary.cleanup()
