"""Record files: one match a line, ``.jsonl`` or ``.jsonl.gz``."""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from thirtyone_env.record.checking import Fault, check, dump
from thirtyone_env.record.recorder import Json


@contextmanager
def open_to_read(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A record file (``.jsonl`` or ``.jsonl.gz``; ``-`` is standard input) as bytes."""
    if str(path) == "-":
        yield sys.stdin.buffer
    elif str(path).endswith(".gz"):
        with gzip.open(path, "rb") as file:
            yield file  # type: ignore[misc]
    else:
        with open(path, "rb") as file:
            yield file


def read(path: str | os.PathLike[str]) -> Iterator[tuple[int, Json]]:
    """Line number, from 1, and record of every line of a file; nothing is checked but the JSON.

    Raises:
        Fault: for a line that is cut off or no JSON.
        OSError: for a file that cannot be read.
    """
    with open_to_read(path) as file:
        number = 0
        try:
            for number, raw in enumerate(file, 1):
                yield number, _parse_line(raw, number)
        except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
            raise Fault(f"the file is cut off or damaged: {fault}", line=number + 1) from None


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is there twice")
    return result


def _parse_line(raw: bytes, number: int) -> Json:
    try:
        text = raw.decode("utf-8")
        if not text.endswith("\n"):
            raise ValueError("the line is cut off")
        result: Json = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as fault:
        raise Fault(f"not a record: {fault}", line=number) from None
    if dump(result) + "\n" != text:
        raise Fault("not in canonical form (spaces, escapes or number format)", line=number)
    return result


@contextmanager
def open_to_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new record file; it appears under its name when it is complete.

    Raises:
        FileExistsError: if there is such a file already.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists():
        raise FileExistsError(f"{target} exists; choose another name, nothing is overwritten")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
                    yield file  # type: ignore[misc]
            else:
                yield raw
        os.chmod(name, 0o644)
        os.link(name, target)
    finally:
        os.unlink(name)


def write(path: str | os.PathLike[str], records: Iterable[Json]) -> int:
    """Write records to a new file; the number written.

    Raises:
        FileExistsError: if there is such a file already.
    """
    count = 0
    with open_to_write(path) as file:
        for record in records:
            file.write((dump(record) + "\n").encode())
            count += 1
    return count


def check_file(path: str | os.PathLike[str]) -> int:
    """Check every record of a file; the number of matches.

    Raises:
        Fault: at the first fault, with line, round and event.
    """
    count = 0
    for line, record in read(path):
        check(record, line)
        count += 1
    return count
