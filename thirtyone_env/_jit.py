"""The one place that talks to numba: how kernels are compiled, cached and announced.

`kernel` marks a function that other kernels call, `entry` one that Python calls; only entries are
kept on disk, with everything they call inside. With ``NUMBA_DISABLE_JIT=1`` both leave the
function as it is, so that the same text runs under a debugger.

numba's own disk cache does not notice an edit in a called file, so the cache folder is named by a
digest of all kernel sources; it is ours alone (numba's global cache folder is left as it is), it is
found without a HOME and beside a read-only install, and a damaged file in it is compiled anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import caching, cgutils
from numba.cpython.unsafe import numbers as _unsafe
from numba.extending import intrinsic

log = logging.getLogger("thirtyone_env")

INTERPRETED: bool = bool(numba.config.DISABLE_JIT)
"""Whether kernels run as plain Python (``NUMBA_DISABLE_JIT=1``)."""

Function = Callable[..., Any]


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""No kernel allocates: without numba's runtime no array that is handed on is counted."""
_INNER = _OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile a function that is called from other kernels only.

    It gets no wrappers for Python or C, which would take more than half of the compile time.
    """
    return numba.njit(**_INNER)(function)


def inlined_kernel(function: Function) -> Function:
    """As `kernel`, for what runs at every decision: its code is set in wherever it is called.

    LLVM leaves most kernels as calls, which cost as much as the little work between them.
    """
    return numba.njit(**_INNER, forceinline=True)(function)


def wrapping_kernel(function: Function) -> Function:
    """As `kernel`, for unsigned arithmetic that is meant to wrap around."""
    if INTERPRETED:
        return np.errstate(over="ignore")(function)
    return kernel(function)


def entry(function: Function) -> Function:
    """Compile a function that is called from Python; the result is kept on disk."""
    compiled = numba.njit(**_OPTIONS, no_cfunc_wrapper=True)(function)
    if not INTERPRETED:
        compiled._cache = _KernelCache(function)
    return compiled


if INTERPRETED:

    def trailing_zeros(bits: int) -> int:
        """Place of the lowest set bit; `bits` is not zero."""
        return (int(bits) & -int(bits)).bit_length() - 1

else:

    def _trailing_zeros(bits: int) -> int:
        return int(_unsafe.trailing_zeros(bits))

    trailing_zeros = kernel(_trailing_zeros)


# --- flags ---------------------------------------------------------------------------------------


if INTERPRETED:

    def put_flags(out: Any, row: int, at: int, bits: int, size: int) -> None:
        """Write bits, lowest first, as bytes 0 and 1 into a row of a uint8 or int8 array.

        `size` is a constant; the bytes after the 64th are 0.
        """
        bits = int(bits)
        for place in range(size):
            out[row, at + place] = (bits >> place) & 1

else:

    @intrinsic(prefer_literal=True)
    def put_flags(_: Any, out: Any, row: Any, at: Any, bits: Any, size: Any) -> Any:
        """As the interpreted form: LLVM makes vectors of the bits, and bytes of those at once."""
        whole = types.int64

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given, row, at, bits, _ = values
            array = context.make_array(signature.args[0])(context, builder, given)
            shape = cgutils.unpack_tuple(builder, array.shape)
            strides = cgutils.unpack_tuple(builder, array.strides)
            start = cgutils.get_item_pointer2(
                context, builder, array.data, shape, strides, out.layout, [row, at]
            )
            _store_flags(builder, start, bits, size.literal_value)
            return context.get_dummy_value()

        return types.void(out, whole, whole, whole, size), generate


def _store_flags(builder: Any, start: Any, bits: Any, size: int) -> None:
    """Store the lowest bits as bytes, in as few pieces as possible."""
    done = 0
    while done < size:
        piece = 1 << ((size - done).bit_length() - 1)
        some = builder.lshr(bits, bits.type(done)) if done < 64 else bits.type(0)
        if piece == 64:
            flags = some
        else:
            flags = builder.trunc(some, ir.IntType(piece))
        flags = builder.bitcast(flags, ir.VectorType(ir.IntType(1), piece))
        flags = builder.zext(flags, ir.VectorType(ir.IntType(8), piece))
        target = builder.gep(start, [ir.IntType(64)(done)])
        builder.store(flags, builder.bitcast(target, flags.type.as_pointer()), align=1)
        done += piece


# --- the cache folder ----------------------------------------------------------------------------


_CONSTANTS = (
    "_jit.py",
    "checks.py",
    "rules.py",
    "solvers.py",
    "observation/__init__.py",
    "observation/layout.py",
)
"""Sources without kernels that those with kernels take constants and layouts from."""


def _sources_digest() -> str:
    """Digest of every source that holds kernels, and of the versions that compile them."""
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for path in sorted(package.rglob("*.py")):
        text, name = path.read_bytes(), path.relative_to(package).as_posix()
        if b"thirtyone_env._jit import" in text or name in _CONSTANTS:
            digest.update(name.encode() + b"\0" + text)
    versions = f"{numba.__version__} {np.__version__} {sys.version_info[:2]}"
    return hashlib.sha256(digest.digest() + versions.encode()).hexdigest()[:16]


def _candidate_folders() -> list[Path]:
    """Where compiled kernels may be kept, best first."""
    folders = []
    if os.environ.get("THIRTYONE_CACHE_DIR"):
        folders.append(Path(os.environ["THIRTYONE_CACHE_DIR"]))
    if os.environ.get("XDG_CACHE_HOME"):
        folders.append(Path(os.environ["XDG_CACHE_HOME"]) / "thirtyone_env")
    with contextlib.suppress(RuntimeError, KeyError):
        folders.append(Path.home() / ".cache" / "thirtyone_env")
    user = os.getuid() if hasattr(os, "getuid") else 0
    folders.append(Path(tempfile.gettempdir()) / f"thirtyone_env-{user}")
    return folders


def _is_ours(folder: Path) -> bool:
    """Compiled code is loaded from here, so nobody else may be able to put files into it."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _find_cache_folder() -> Path | None:
    """The first folder that can be written, made where it is missing; None where there is none."""
    name = _sources_digest()
    for folder in _candidate_folders():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            target = folder / name
            target.mkdir(mode=0o700, exist_ok=True)
            with tempfile.TemporaryFile(dir=target):
                pass
            if _is_ours(folder) and _is_ours(target):
                return target
        except OSError:
            continue
    return None


CACHE_FOLDER: Path | None = None if INTERPRETED else _find_cache_folder()
"""Where compiled kernels are kept; None where no folder can be written."""


class _Locator(caching._CacheLocator):
    """Tells numba our folder; the folder's name already stands for the package's sources."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._name = f"{function.__module__}.{function.__qualname__}"

    def get_cache_path(self) -> str:
        return str(CACHE_FOLDER or tempfile.gettempdir())

    def get_source_stamp(self) -> str:
        """Of an entry outside the package, such as a test's, its own file counts too."""
        if Path(__file__).parent in Path(self._py_file).parents:
            return "digest"
        try:
            return hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()
        except OSError:  # typed at a prompt
            return os.urandom(16).hex()

    def get_disambiguator(self) -> str:
        return hashlib.sha256(self._name.encode()).hexdigest()[:10]

    def ensure_cache_path(self) -> None:
        """The folder was made when it was chosen."""

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _Impl(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)

    def __init__(self, function: Callable[..., Any]) -> None:
        locators, numba.config.CACHE_LOCATOR_CLASSES = numba.config.CACHE_LOCATOR_CLASSES, ""
        try:
            super().__init__(function)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = locators


class _KernelCache(caching.FunctionCache):
    """Loads and saves compiled entries; no fault of the disk ever stops the program."""

    _impl_class = _Impl
    _compiling_announced = False
    _damage_announced = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        result = None
        if CACHE_FOLDER is not None:
            try:
                result = super().load_overload(sig, target_context)
            except Exception as fault:  # whatever a damaged file raises while it is unpickled
                self._announce_damage(fault)
                with contextlib.suppress(OSError):
                    self.flush()
        if result is None and not _KernelCache._compiling_announced:
            _KernelCache._compiling_announced = True
            log.warning("compiling kernels once for this machine (about 20 s) …")
        return result

    def save_overload(self, sig: Any, data: Any) -> None:
        if CACHE_FOLDER is None:
            return
        try:
            super().save_overload(sig, data)
        except Exception as fault:  # a full or read-only disk costs time at the next start, no more
            self._announce_damage(fault)

    @staticmethod
    def _announce_damage(fault: Exception) -> None:
        if not _KernelCache._damage_announced:
            _KernelCache._damage_announced = True
            log.warning("kernel cache %s is not usable here, going on: %s", CACHE_FOLDER, fault)
