"""Tables of results: one source for what is printed, written to files, and shown on a page.

A cell is written in one way wherever it is shown; files hold the numbers themselves, with an
interval in three columns. A column says what it is measured in, and so do the files that can.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import rich.box
from rich.table import Table

from agents.evaluation.statistics import Estimate
from agents.policies.files import write_bytes, write_text

Kind = Literal[
    "text", "count", "percent", "signed", "short", "fine", "number", "plain", "points", "share"
]
_INTERVALS: dict[str, tuple[int, int]] = {
    "percent": (100, 1),
    "share": (100, 0),
    "signed": (1, 3),
    "fine": (1, 4),
    "points": (1, 0),
}
"""Scale and digits of half an interval, by kind; 1 and 2 for others."""


@dataclass(frozen=True)
class Column:
    """One column; its cells are values, or estimates with an interval."""

    name: str
    """In files."""
    heading: str
    """In tables for people."""
    unit: str
    """What it is measured in, for the schema of files."""
    kind: Kind = "number"
    interval: bool = False
    """Whether cells are of type Estimate."""
    wide: bool = False
    """Whether a terminal leaves it out."""
    bounds: bool = False
    """Whether an interval is shown by its ends, as one that lies unevenly must be."""

    def show(self, cell: Any) -> str:
        """A cell as people read it."""
        if cell is None:
            return "–"
        if isinstance(cell, Estimate):
            if self.bounds or (self.kind == "percent" and self._uneven(cell)):
                return f"{self.show(cell.mean)} ({self._plain(cell.low)}–{self._plain(cell.high)})"
            return f"{self.show(cell.mean)} ± {self._plain(cell.half)}"
        if self.kind == "text":
            return str(cell)
        if self.kind == "count":
            return f"{cell:,.0f}"
        if self.kind == "percent":
            return f"{100 * cell:.1f} %"
        if self.kind == "share":
            return f"{100 * cell:.0f} %"
        if self.kind == "signed":
            return f"{cell:+.3f}"
        if self.kind == "fine":
            return f"{cell:+.4f}"
        if self.kind == "plain":
            return f"{cell:g}"
        if self.kind == "short":
            return f"{cell:+.2f}"
        return f"{round(cell):+d}" if self.kind == "points" else f"{cell:.2f}"

    def short(self, cell: Any) -> str:
        """A cell as a terminal shows it."""
        return self.show(cell.mean if self.bounds and cell is not None else cell)

    def key(self, cell: Any) -> str:
        """What a cell is sorted by; nothing where there is none."""
        if cell is None:
            return ""
        return str(cell.mean if isinstance(cell, Estimate) else cell)

    @staticmethod
    def _uneven(share: Estimate) -> bool:
        """Whether ± would tell of shares below 0 or above 1."""
        return share.mean - share.half < 0 or share.mean + share.half > 1

    def _plain(self, half: float) -> str:
        scale, digits = _INTERVALS.get(self.kind, (1, 2))
        return f"{scale * half:.{digits}f}"


@dataclass(frozen=True)
class DataTable:
    """Rows of results under their columns."""

    name: str
    """In files and links."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    """What a reader must know."""
    data: bool = False
    """Whether it is for files only, too long to be read."""
    screen: bool = True
    """Whether a terminal shows it."""

    def records(self) -> list[dict[str, Any]]:
        """The rows as files hold them: an interval is three numbers."""
        return [self._record(row) for row in self.rows]

    def _record(self, row: Sequence[Any]) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for column, cell in zip(self.columns, row, strict=True):
            if column.interval:
                low, mean, high = (
                    (cell.low, cell.mean, cell.high) if cell is not None else (None,) * 3
                )
                record |= {
                    column.name: mean,
                    f"{column.name}_low": low,
                    f"{column.name}_high": high,
                }
            else:
                record[column.name] = cell
        return record

    def units(self) -> dict[str, str]:
        """What every column of the files is measured in."""
        found: dict[str, str] = {}
        for column in self.columns:
            ends = ("", "_low", "_high") if column.interval else ("",)
            found |= {f"{column.name}{end}": column.unit for end in ends}
        return found

    def to_csv(self) -> str:
        """CSV text with a header line."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.units()), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return text.getvalue()

    def to_rich(self) -> Table:
        """The table for a terminal."""
        view = Table(
            title=self.title,
            title_justify="left",
            box=rich.box.SIMPLE_HEAD,
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )
        shown = [i for i, column in enumerate(self.columns) if not column.wide]
        for i in shown:
            column = self.columns[i]
            justify: Literal["left", "right"] = "left" if column.kind == "text" else "right"
            long = column.kind == "text" and i > 0
            view.add_column(column.heading, justify=justify, no_wrap=not long)
        for row in self.rows:
            view.add_row(*(self.columns[i].short(row[i]) for i in shown))
        return view

    def to_parquet(self) -> bytes:
        """A Parquet file; units stand with the columns.

        Raises:
            ValueError: if pyarrow is not installed.
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise ValueError("--format parquet needs pyarrow: pip install pyarrow") from error
        records, units = self.records(), self.units()
        arrays = [pa.array([record[name] for record in records]) for name in units]
        fields = [
            pa.field(name, array.type, metadata={"unit": unit})
            for (name, unit), array in zip(units.items(), arrays, strict=True)
        ]
        sink = io.BytesIO()
        schema = pa.schema(fields, metadata={"title": self.title})
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), sink)
        return sink.getvalue()


def to_json(facts: Mapping[str, Any], tables: Sequence[DataTable]) -> str:
    """Facts and tables as JSON text, one row of a table a line."""
    parts = [f'"{name}": {json.dumps(value)}' for name, value in facts.items()]
    for table in tables:
        rows = ",\n".join(json.dumps(record) for record in table.records())
        units = json.dumps(table.units())
        parts.append(f'"{table.name}": {{\n"units": {units},\n"rows": [\n{rows}\n]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write_tables(
    folder: Path,
    name: str,
    facts: Mapping[str, Any],
    tables: Sequence[DataTable],
    parquet: bool = False,
) -> None:
    """Write `NAME.json` with everything, and a CSV file a table (Parquet too, if asked for)."""
    write_text(folder / f"{name}.json", to_json(facts, tables))
    for table in tables:
        write_text(folder / f"{table.name}.csv", table.to_csv())
        if parquet:
            write_bytes(folder / f"{table.name}.parquet", table.to_parquet())
