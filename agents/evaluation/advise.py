"""What to do now: the expected payoff of every legal action, by roll-outs over hidden cards.

What the player tells is put together as a table (`thirtyone_env.situation`), and every action is
judged over the same fresh deals of the hidden cards (`thirtyone_env.search`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.evaluation.commands import Output, Ruled
from agents.evaluation.options import Names, Taken
from agents.evaluation.statistics import LEVEL, Estimate, mean_interval
from agents.evaluation.tables import Column, DataTable
from agents.policies import DecidingPolicy, ScriptedPolicy, TablePolicy, make
from thirtyone_env import Rules, make_bot
from thirtyone_env.actions import action_name
from thirtyone_env.arena import Tables
from thirtyone_env.search import BOT, Judgement, judge
from thirtyone_env.situation import situation
from thirtyone_env.threads import checked_threads

MOST_DEALS = 1_000_000
"""Ten seconds of one core, which Ctrl-C does not cut short; more would tell nothing more."""
UNITS = {
    "lives": "lives won against the others' mean in this round",
    "equity": "chance to win the match, after this round",
    "match": "payoff of the match: 1 won, -1/(players - 1) lost",
}


@dataclass(frozen=True)
class Advised:
    """One legal action."""

    action: int
    """In the card format."""
    name: str
    payoff: float
    low: float
    high: float
    """Interval of the payoff."""
    behind: float
    """Payoff that it lacks to the best action."""
    behind_low: float
    behind_high: float
    """Interval of that, from the same deals for both, so narrower than those of the payoffs."""
    chosen_by: tuple[str, ...]
    """Policies that would take it."""


@dataclass(frozen=True)
class Advice:
    """Every legal action, best first."""

    actions: tuple[Advised, ...]
    payoff: str
    """What is counted."""
    deals: int
    bot: str
    level: float = LEVEL

    @property
    def clear(self) -> bool:
        """Whether the best action is better than every other one beyond chance."""
        return all(action.behind_low > 0 for action in self.actions[1:])


def advise(
    states: np.ndarray,
    rules: Rules,
    *,
    deals: int,
    bot: str = BOT,
    payoff: Literal["lives", "equity", "match"] = "equity",
    policies: tuple[TablePolicy, ...] = (),
    threads: int = 1,
) -> Advice:
    """Judge every legal action of the seat to act.

    Args:
        states: STATE[1].
        rules: its rules.
        deals: fresh deals of the hidden cards, the same for all actions.
        bot: plays on at every seat.
        payoff: what is counted; see `search.judge`.
        policies: asked what they would do.
        threads: threads; the numbers do not depend on them.

    Raises:
        ValueError: for a bot that does not exist, or a policy not made for this table.
    """
    found = judge(states, deals=deals, bot=bot, payoff=payoff, threads=threads)
    chosen: dict[int, list[str]] = {}
    for policy in policies:
        policy.check(rules, int(states["num_players"][0]))
        chosen.setdefault(_choice(policy, states, rules), []).append(policy.name)
    return Advice(tuple(_rows(found, states, chosen)), payoff, deals, bot)


def _rows(found: Judgement, states: np.ndarray, chosen: Mapping[int, list[str]]) -> list[Advised]:
    phase = int(states["phase"][0])
    best = found.payoffs[found.actions.index(found.best)]
    rows = []
    for action, paid in zip(found.actions, found.payoffs, strict=True):
        payoff, behind = mean_interval(paid), mean_interval(best - paid)
        rows.append(
            Advised(
                action=action,
                name=action_name(action, phase),
                payoff=payoff.mean,
                low=payoff.low,
                high=payoff.high,
                behind=behind.mean,
                behind_low=behind.low,
                behind_high=behind.high,
                chosen_by=tuple(chosen.get(action, ())),
            )
        )
    return sorted(rows, key=lambda row: (row.behind, row.action))


def _choice(policy: TablePolicy, states: np.ndarray, rules: Rules) -> int:
    """What a policy would do, in the card format."""
    row = np.zeros(1, np.int64)
    chooser: Any = policy if hasattr(policy, "choose") else None
    if isinstance(policy, ScriptedPolicy):
        chooser = make_bot(policy.name)
    if chooser is not None:
        return int(chooser.choose(states.copy(), row)[0])
    tables = Tables(rules, int(states["num_players"][0]), seed=0, matches=[0])
    tables.states[:] = states
    return int(cast(DecidingPolicy, policy).act_batch(tables, row)[0])


def table(advice: Advice) -> Table:
    """The advice as a table for a terminal."""
    asked = any(row.chosen_by for row in advice.actions)
    view = Table(title=UNITS[advice.payoff], caption=_caption(advice))
    view.add_column("action")
    view.add_column("payoff", justify="right")
    view.add_column("behind the best", justify="right")
    if asked:
        view.add_column("chosen by")
    for place, row in enumerate(advice.actions):
        behind = f"{row.behind:.3f} ± {(row.behind_high - row.behind_low) / 2:.3f}"
        cells = [row.name, f"{row.payoff:+.3f} ± {(row.high - row.low) / 2:.3f}"]
        cells += [behind if place else "", *[", ".join(row.chosen_by)] * asked]
        view.add_row(*cells, style="bold" if place == 0 else None)
    return view


def _caption(advice: Advice) -> str:
    found = "best beyond chance" if advice.clear else "not told apart from the next; more --deals"
    return (
        f"{advice.actions[0].name}: {found}\n"
        f"{advice.level:.0%} intervals, {advice.deals:,} deals; {advice.bot} plays on"
    )


def to_json(advice: Advice) -> str:
    """The advice as JSON text."""
    return json.dumps(asdict(advice) | {"clear": advice.clear}, indent=2) + "\n"


def data_table(advice: Advice) -> DataTable:
    """The advice for files."""
    rows = tuple(
        (
            row.name,
            Estimate(row.payoff, row.low, row.high),
            Estimate(row.behind, row.behind_low, row.behind_high),
            ", ".join(row.chosen_by),
        )
        for row in advice.actions
    )
    unit = UNITS[advice.payoff]
    return DataTable(
        "actions",
        "Legal actions, the best first",
        (
            Column("action", "action", "name", "text"),
            Column("payoff", "payoff", unit, "signed", interval=True),
            Column("behind", "behind the best", unit, "signed", interval=True),
            Column("chosen_by", "chosen by", "names of policies", "text"),
        ),
        rows,
    )


@dataclass(frozen=True, kw_only=True)
class AdviseCommand(Output, Ruled):
    """Say what each legal action is worth at the start of a turn, and which one to take.

    Players are numbered by their turns: 1 has the first turn of the round.
    """

    hand: str
    """Own cards: "Kh 9h 4c"; ranks 2 … 9 T J Q K A, suits c d h s, jokers X1 … X4."""
    upcard: str | None = None
    """The upcard (draw family)."""
    table: str = ""
    """The open cards (exchange family)."""
    players: int = 4
    """Players in play."""
    position: int = 1
    """Which of them decides."""
    turn: int = 1
    """Which of its own turns of this round this is."""
    discards: str = ""
    """Cards known to lie under the upcard, or put aside."""
    taken: Taken = field(default_factory=dict)
    """Cards that others have taken openly and still hold."""
    knocked_by: int | None = None
    """The player that has knocked or closed."""
    lives: tuple[int, ...] | None = None
    """Lives of every player; as at the start of a match if not given."""
    payoff: Literal["lives", "equity", "match"] = "equity"
    """What is counted: lives of this round, the chance to win by lives, or the match played out."""
    bot: str = BOT
    """The bot that plays on at every seat."""
    policy: Names = ()
    """Policies that are asked what they would do."""
    deals: int = 10_000
    """Deals of the hidden cards."""
    seed: int = 0
    """Start of the cards."""
    workers: int | None = None
    """Threads, as many as this process may run at once if not given; the numbers do not depend on
    them."""

    def __call__(self) -> None:
        """Judge, print, and write what was asked for."""
        self.check_output()
        if not 2 <= self.deals <= MOST_DEALS:
            raise ValueError(f"deals = {self.deals} is not allowed; allowed: 2 … {MOST_DEALS:,}")
        rules = self.the_rules()
        states = situation(
            rules,
            self.players,
            hand=self.hand,
            upcard=self.upcard,
            table=self.table,
            position=self.position,
            turn=self.turn,
            discards=self.discards,
            taken=self.taken,
            knocked_by=self.knocked_by,
            lives=self.lives,
            seed=self.seed,
        )
        advice = advise(
            states,
            rules,
            deals=self.deals,
            bot=self.bot,
            payoff=self.payoff,
            policies=tuple(make(name, outside=True) for name in self.policy),
            threads=checked_threads(self.workers),
        )
        if self.format == "json":
            sys.stdout.write(to_json(advice))
        elif self.format == "csv":
            sys.stdout.write(data_table(advice).to_csv())
        elif self.format == "table":
            Console(highlight=False).print(table(advice))
        told = ("hand", "upcard", "table", "players", "position", "turn", "discards", "payoff")
        facts: dict[str, object] = {"study": "advise", "rules": rules.to_dict(), "seed": self.seed}
        facts |= {name: getattr(self, name) for name in told}
        facts |= {"deals": self.deals, "bot": self.bot, "level": LEVEL, "clear": advice.clear}
        self.write_files("advise", facts, [data_table(advice)])
