"""Writing files so that a reader finds the old content or the new, never a part of either."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_bytes(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, then rename it over `path`.

    A failure, or a stop at any moment, leaves what was there before.

    Raises:
        OSError: if the folder cannot be written; no temporary file stays behind.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: Path, content: str) -> None:
    """Write UTF-8 text the way of `write_bytes`."""
    write_bytes(path, content.encode("utf-8"))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
