"""The panel: a fixed set of bots that a policy meets now and then while it learns.

Its tables are its own, its deals are the same every time and no others' (neither the training's
nor the benchmark's, whose seeds differ), and no generator of the training is drawn from: a run
learns the same with and without it.

Shapes: `D` deals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents.evaluation.chart import percent
from agents.evaluation.match import lone, play
from agents.evaluation.statistics import Estimate, rate_interval
from agents.policies import TablePolicy
from thirtyone_env.rules import Rules


@dataclass(frozen=True)
class PanelRow:
    """The policy against one bot."""

    players: int
    opponent: str
    rate: Estimate
    """Of matches won."""


@dataclass(frozen=True)
class PanelResult:
    """What the panel says of a policy at some step."""

    step: int
    score: Estimate
    """Mean win rate over all bots and seat counts, with its interval by deal."""
    rows: tuple[PanelRow, ...]

    @property
    def note(self) -> str:
        """For the progress bar: the mean win rate at every size of table."""
        sizes = dict.fromkeys(row.players for row in self.rows)
        if len(sizes) < 2:
            return f"panel {percent(self.score.mean)} ± {100 * self.score.half:.1f}"
        rates = {
            size: float(np.mean([row.rate.mean for row in self.rows if row.players == size]))
            for size in sizes
        }
        return f"panel {' / '.join(percent(rate) for rate in rates.values())}"

    def numbers(self) -> dict[str, float]:
        """One line of `panel.csv`."""
        numbers = {"score": self.score.mean, "low": self.score.low, "high": self.score.high}
        return numbers | {f"{row.opponent}@{row.players}": row.rate.mean for row in self.rows}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PanelResult:
        """From what `to_dict` gave."""
        rows = tuple(
            PanelRow(row["players"], row["opponent"], Estimate(**row["rate"]))
            for row in values["rows"]
        )
        return cls(values["step"], Estimate(**values["score"]), rows)


@dataclass(frozen=True)
class Panel:
    """Bots, tables and deals."""

    opponents: Sequence[TablePolicy]
    rules: Rules
    players: tuple[int, ...]
    deals: int
    seed: int
    workers: int | None = None

    def judge(self, policy: TablePolicy, step: int) -> PanelResult:
        """Let a policy meet every bot on all deals, in every rotation of the seats.

        Raises:
            ValueError: if one of them is not made for these tables.
        """
        rows = []
        shares = np.zeros(self.deals)
        for size in self.players:
            for opponent in self.opponents:
                matches = play(
                    lone(policy, opponent, size),
                    rules=self.rules,
                    deals=self.deals,
                    seed=self.seed,
                    workers=self.workers,
                )
                rows.append(PanelRow(size, opponent.name, matches.win_rate(0)))
                shares += matches.win_shares(0)
        return PanelResult(step, rate_interval(shares / len(rows)), tuple(rows))
