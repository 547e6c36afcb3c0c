"""Write the tables of the documentation from the code, or check that they are up to date.

A table stands between ``<!-- generated: NAME -->`` and ``<!-- end -->`` in a page of docs/;
`TABLES` says which function writes which name::

    python docs/generate.py            # write
    python docs/generate.py --check    # say what differs and fail
"""

import ast
import dataclasses
import difflib
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from agents.policies.view import KEYS  # noqa: E402
from agents.training.config import (  # noqa: E402
    BenchmarkConfig,
    BestResponseConfig,
    ChartConfig,
    KnockDqnConfig,
    KnockPpoConfig,
    PanelConfig,
    PpoConfig,
    SolverConfig,
)
from agents.training.sweep_config import Dimension, SweepConfig  # noqa: E402
from benchmarks import chart_cards  # noqa: E402
from thirtyone_env import PRESETS, Rules, actions, bots, observation  # noqa: E402
from thirtyone_env import rules as rules_module  # noqa: E402
from thirtyone_env.cards import NAMES, NUM_CARDS, RANKS  # noqa: E402
from thirtyone_env.charts import chart_names  # noqa: E402

BLOCK = re.compile(
    r"(?P<head><!-- generated: (?P<name>[\w.]+) -->\n).*?(?P<tail><!-- end -->)", re.DOTALL
)
BASES = ("danish", "swedish", "finnish", "dutch", "schwimmen_a7")
# What `Rules` says of these alone depends on a second field.
ALLOWED = {
    "blitz_value": "31 with three cards, 41 with four",
    "min_knock": "0, or a value (17, 21, 30.5 …)",
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def shown(value: Any) -> str:
    """A field's value as the pages print it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def field_docs(cls: type) -> dict[str, str]:
    """The texts under the fields of a class, read from its source."""
    source = Path(sys.modules[cls.__module__].__file__ or "").read_text(encoding="utf-8")
    [body] = [
        node.body
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__
    ]
    docs = {}
    for field, text in itertools.pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            docs[field.target.id] = " ".join(str(text.value.value).split())
    return docs


def allowed(name: str) -> str:
    """What a field may be, in the words in which `Rules` refuses anything else."""
    if name in ALLOWED:
        return ALLOWED[name]
    try:
        Rules.from_dict({name: object()})
    except ValueError as refusal:
        text = str(refusal).split("allowed: ", 1)[1]
        for long, short in (
            ("'", ""),
            ("None", "none"),
            ("True or False", "yes, no"),
            (" or ", ", "),
            ("a whole number, ", ""),
        ):
            text = text.replace(long, short)
        return text
    raise AssertionError(f"Rules takes anything as {name}")


def rules_fields() -> str:
    """Every field of `Rules`: values, default, meaning."""
    docs, default = field_docs(Rules), Rules().to_dict()
    rows = [
        (f"`{name}`", allowed(name), shown(default[name]), docs[name])
        for name in rules_module.FIELDS
    ]
    return table(("field", "values", "default", "meaning"), rows)


def rules_presets() -> str:
    """The games as they are written down, for the fields in which they differ from each other."""
    columns = [PRESETS[name].to_dict() for name in BASES]
    rows = [
        (f"`{field}`", *(shown(column[field]) for column in columns))
        for field in rules_module.FIELDS
        if len({column[field] for column in columns}) > 1
    ]
    return table(("field", *BASES), rows)


def rules_variants() -> str:
    """Every other preset as the difference from the nearest of `BASES`."""
    rows = []
    for name, rules in PRESETS.items():
        if name in BASES:
            continue
        fields = rules.to_dict()
        changes = {
            base: [f for f, value in PRESETS[base].to_dict().items() if value != fields[f]]
            for base in BASES
            if PRESETS[base].family == rules.family
        }
        base = min(changes, key=lambda base: len(changes[base]))
        text = ", ".join(f"`{field}` {shown(fields[field])}" for field in changes[base])
        rows.append((f"`{name}`", f"`{base}`", text))
    return table(("preset", "based on", "changes"), rows)


ACTION_MEANINGS = {
    "draw_stock": "draw family: take the top card of the stock",
    "take_upcard": "draw family: take the top card of the discard pile",
    "knock": "end the round after one more turn of everybody else",
    "pass": "let the turn go by",
    "swap_all": "exchange family: swap the whole hand for the table",
    "keep": "exchange family: the dealer keeps the first three cards",
    "refuse": "exchange family: the dealer refuses the first three cards",
    "buy_in": "come back with one life for another stake",
    "decline": "leave the match",
}


def actions_words() -> str:
    """The actions that are not a card."""
    rows = [
        (str(code), f"`{word}`", ACTION_MEANINGS[word])
        for code, word in enumerate(actions.ACTION_WORDS)
    ]
    return table(("code", "name", "meaning"), rows)


def actions_cards() -> str:
    """The actions that are a card, one row a suit."""
    rows = []
    for first in range(0, NUM_CARDS, len(RANKS)):
        names = NAMES[first : first + len(RANKS)]
        low, high = actions.FIRST_CARD + first, actions.FIRST_CARD + first + len(names) - 1
        rows.append((f"{low} … {high}", " ".join(f"`{name}`" for name in names)))
    return table(("codes", "cards"), rows)


def size_formula(size: Callable[[int], int]) -> str:
    """A size that is linear in the number of seats S, written as people write it."""
    slope = size(3) - size(2)
    rest = size(2) - 2 * slope
    if slope == 0:
        return str(rest)
    text = "S" if slope == 1 else f"{slope} S"
    return text if rest == 0 else f"{text} {'+' if rest > 0 else '−'} {abs(rest)}"


def observation_full() -> str:
    """The blocks of the full observation."""
    rows = [
        (f"`{block.name}`", size_formula(block.size), str(block.highest), block.meaning)
        for block in observation.BLOCKS
    ]
    return table(("block", "bytes", "highest", "meaning"), rows)


def observation_sizes() -> str:
    """Bytes of the full observation by number of seats."""
    seats = range(2, rules_module.MAX_SEATS + 1)
    sizes = [str(observation.observation_size(number)) for number in seats]
    return table(("seats", *map(str, seats)), [("bytes", *sizes)])


def observation_compact() -> str:
    """The numbers of the compact observation."""
    rows = [
        (str(place), f"`{name}`", meaning)
        for place, (name, meaning) in enumerate(observation.COMPACT_FEATURES)
    ]
    return table(("", "name", "meaning"), rows)


def bots_table() -> str:
    """Every bot and what it does."""
    return table(("bot", "plays"), [(f"`{name}`", text) for name, text in bots.bot_table().items()])


def config_rows(cls: type, like: type | None = None) -> str:
    """The fields of a configuration: key, default, meaning; those that differ from another's."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if dataclasses.is_dataclass(base):
            docs |= field_docs(base)
    default = cls(**NEEDED.get(cls, {}))
    known = {} if like is None else dataclasses.asdict(like())
    rows = [
        (
            f"`{field.name}`",
            "" if field.name in NEEDED.get(cls, {}) else config_value(getattr(default, field.name)),
            docs[field.name],
        )
        for field in dataclasses.fields(cls)
        if not dataclasses.is_dataclass(getattr(default, field.name))
        and (field.name not in known or known[field.name] != getattr(default, field.name))
    ]
    return table(("key", "default", "meaning"), rows)


def config_value(value: Any) -> str:
    """A default as a configuration file writes it."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {config_value(item)}" for key, item in value.items()) or "none"
    if isinstance(value, tuple):
        return ", ".join(map(config_value, value))
    if isinstance(value, int) and value >= 10_000:
        return f"{value:_}"
    return shown(value)


NEEDED: dict[type, dict[str, Any]] = {
    SweepConfig: {"space": {"": Dimension(choices=(0,))}},
    Dimension: {"choices": (0,)},
}
"""What a configuration is not made without; it has no default."""


def views_table() -> str:
    """What a view holds."""
    return table(["key", "value"], [[f"`{key}`", text] for key, text in KEYS.items()])


TABLES: dict[str, Callable[[], str]] = {
    "rules.fields": rules_fields,
    "rules.presets": rules_presets,
    "rules.variants": rules_variants,
    "actions.words": actions_words,
    "actions.cards": actions_cards,
    "observation.full": observation_full,
    "observation.sizes": observation_sizes,
    "observation.compact": observation_compact,
    "bots": bots_table,
    "views": views_table,
    "training.knock_ppo": lambda: config_rows(KnockPpoConfig),
    "training.knock_dqn": lambda: config_rows(KnockDqnConfig),
    "training.panel": lambda: config_rows(PanelConfig),
    "training.sweep": lambda: config_rows(SweepConfig),
    "training.dimension": lambda: config_rows(Dimension),
    "training.ppo": lambda: config_rows(PpoConfig),
    "training.best_response": lambda: config_rows(BestResponseConfig, PpoConfig),
    "training.chart": lambda: config_rows(ChartConfig),
    "training.solver": lambda: config_rows(SolverConfig),
    "training.benchmark": lambda: config_rows(BenchmarkConfig),
    **{f"chart_cards.{name}": functools.partial(chart_cards.card, name) for name in chart_names()},
}


def rendered(text: str) -> str:
    """A page with its tables written anew.

    Raises:
        KeyError: for a block whose name is not in `TABLES`.
    """
    return BLOCK.sub(lambda m: m["head"] + "\n" + TABLES[m["name"]]() + "\n" + m["tail"], text)


def stale_pages() -> dict[Path, str]:
    """Pages whose tables differ from the code, with the text that they should have."""
    stale = {}
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        fresh = rendered(text)
        if fresh != text:
            stale[page] = fresh
    return stale


def main(arguments: Sequence[str]) -> int:
    """Write the tables; with ``--check`` print differences instead, and 1 if there are any."""
    if list(arguments) not in ([], ["--check"]):
        print("usage: python docs/generate.py [--check]", file=sys.stderr)
        return 2
    stale = stale_pages()
    for page, fresh in stale.items():
        if not arguments:
            page.write_text(fresh, encoding="utf-8")
            continue
        before = page.read_text(encoding="utf-8").splitlines(keepends=True)
        after = fresh.splitlines(keepends=True)
        names = f"{page.name}", f"{page.name}, from the code"
        sys.stderr.writelines(difflib.unified_diff(before, after, *names))
    if stale and arguments:
        print("tables are out of date; `make docs` writes them", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
