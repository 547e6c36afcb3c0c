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
import gc
import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba import types
from numba.core import caching, cgutils, codegen, compiler
from numba.cpython.unsafe import numbers as _unsafe
from numba.extending import intrinsic

log = logging.getLogger("thirtyone_env")

INTERPRETED: bool = bool(numba.config.DISABLE_JIT)
"""Whether kernels run as plain Python (``NUMBA_DISABLE_JIT=1``)."""

Function = Callable[..., Any]


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""No kernel allocates: without numba's runtime no array that is handed on is counted."""
_INNER = _OPTIONS | {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "forceinline": False,  # said, since numba hands a caller's options on to what it calls
}


class _PartLibrary(codegen.JITCodeLibrary):
    """A kernel as its callers take it in: tidied up by itself, never together with what it calls.

    numba optimises and makes machine code at every level of calls, each time of everything that is
    called below, which takes twice as long as doing it for the entries alone.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Kernels look nothing up in their modules."""


class _PartCompiler(compiler.Compiler):
    def compile_extra(self, function: Function) -> Any:
        self.state.library = _PartLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


_INNER["pipeline_class"] = _PartCompiler


class _EntryLibrary(codegen.JITCodeLibrary):
    """An entry with all that it calls, made for loops through a few seats or cards.

    Vectors of such loops, and loops unrolled, are no quicker and take long to make. Nobody else can
    call what an entry calls: where that has one caller, LLVM sets it in there, and arguments that
    are always the same are dropped. It has names of its own, since the linker finds functions by
    name, private ones too, and others may have compiled the same kernel for themselves.
    """

    wide = False
    """Whether loops are made for long rows of numbers, in vectors and unrolled."""

    def _optimize_final_module(self) -> None:
        options = llvm.create_pipeline_tuning_options(3)
        options.loop_vectorization = options.slp_vectorization = self.wide
        options.loop_unrolling = self.wide
        shared = llvm.Linkage.linkonce_odr
        called = [one for one in self._final_module.functions if one.linkage == shared]
        for number, function in enumerate(called):
            function.linkage = llvm.Linkage.internal
            function.name = f"{self.name}.part{number}"
        builder = llvm.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """What the disk keeps: of LLVM's code, which nobody links to, the names alone."""
        module = self._get_module_for_linking()
        names = [one.name for one in module.functions if not one.is_declaration]
        names += [one.name for one in module.global_variables if not one.is_declaration]
        outline = llvm.parse_assembly("".join(f'@"{name}" = global i8 0\n' for name in names))
        return self.name, "object", (self._get_compiled_object(), outline.as_bitcode())


class _WideLibrary(_EntryLibrary):
    """An entry made for loops through long rows of numbers, as the layers of networks are."""

    wide = True


class _EntryCompiler(compiler.Compiler):
    library = _EntryLibrary

    def compile_extra(self, function: Function) -> Any:
        self.state.library = self.library(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        with _no_collections():
            return super().compile_extra(function)


class _WideCompiler(_EntryCompiler):
    library = _WideLibrary


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Let Python's collector rest: compiling makes millions of objects, hardly any in circles."""
    rests = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if rests:
            gc.enable()


ENTRY_OPTIONS: dict[str, Any] = _OPTIONS | {
    "no_cfunc_wrapper": True,
    "pipeline_class": _EntryCompiler,
}
"""What numba is told about an entry."""
WIDE_OPTIONS: dict[str, Any] = ENTRY_OPTIONS | {"pipeline_class": _WideCompiler}
"""And about a wide one."""


def kernel(function: Function) -> Function:
    """Compile a function that is called from other kernels only.

    It gets no wrappers for Python or C, which would take more than half of the compile time.
    """
    return numba.njit(**_INNER)(function)


def inlined_kernel(function: Function) -> Function:
    """As `kernel`, for what runs at every decision: its code is set in wherever it is called.

    LLVM leaves most kernels as calls, which cost as much as the little work between them.
    """
    return numba.njit(**_INNER | {"forceinline": True})(function)


def wrapping_kernel(function: Function) -> Function:
    """As `kernel`, for unsigned arithmetic that is meant to wrap around."""
    if INTERPRETED:
        return np.errstate(over="ignore")(function)
    return kernel(function)


def entry(function: Function) -> Function:
    """Compile a function that is called from Python; the result is kept on disk."""
    return _kept(numba.njit(**ENTRY_OPTIONS)(function), function)


def wide_entry(function: Function) -> Function:
    """As `entry`, for loops through long rows of numbers: these become vectors, unrolled.

    Sums keep their order, so that the numbers are those of an `entry`.
    """
    return _kept(numba.njit(**WIDE_OPTIONS)(function), function)


def _kept(compiled: Any, function: Function) -> Function:
    """A compiled function that is kept on disk."""
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


# --- bits ----------------------------------------------------------------------------------------


if INTERPRETED:

    def bits_among(bits: int, mask: int) -> int:
        """The bits at the places of a constant mask, side by side, lowest first."""
        found, place, mask = 0, 0, int(mask)
        while mask:
            low = mask & -mask
            found |= (int(bits) & low != 0) << place
            mask, place = mask ^ low, place + 1
        return found

else:

    @intrinsic(prefer_literal=True)
    def bits_among(_: Any, bits: Any, mask: Any) -> Any:
        """As the interpreted form, in one instruction where the processor has it."""
        whole, places = types.int64, mask.literal_value

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return _among(context, builder, values[0], places)

        return whole(whole, mask), generate


def _among(context: Any, builder: Any, bits: Any, mask: int) -> Any:
    """The bits at the places of a mask, by what the processor has."""
    _, processor, features = context.codegen().magic_tuple()
    slow = processor in ("bdver4", "znver1", "znver2")
    if "+bmi2" not in features or slow:
        return _gathered(builder, bits, mask)
    name, word = "llvm.x86.bmi.pext.64", bits.type
    pext = cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, [word, word]), name)
    return builder.call(pext, [bits, word(mask)])


def _gathered(builder: Any, bits: Any, mask: int) -> Any:
    """The same by shifts, one for each run of places."""
    found, done, place = bits.type(0), 0, 0
    while mask >> place:
        place += ((mask >> place) & -(mask >> place)).bit_length() - 1
        size = (~(mask >> place) & ((mask >> place) + 1)).bit_length() - 1
        some = builder.and_(builder.lshr(bits, bits.type(place)), bits.type((1 << size) - 1))
        found = builder.or_(found, builder.shl(some, bits.type(done)))
        place, done = place + size, done + size
    return found


# --- flags ---------------------------------------------------------------------------------------


if INTERPRETED:

    def put_flags(out: Any, row: int, at: int, bits: int, size: int) -> None:
        """Write bits, lowest first, as bytes 0 and 1 into a row of a uint8 or int8 array.

        `size` is a constant; the bytes after the 64th are 0.
        """
        bits = int(bits)
        for place in range(size):
            out[row, at + place] = (bits >> place) & 1

    def put_flags_among(out: Any, row: int, at: int, bits: int, first: int, second: int) -> None:
        """Write 64 flags: the bits at the places of two constant masks, one after the other.

        No other bits are set.
        """
        found = bits_among(bits, second) << int(first).bit_count()
        put_flags(out, row, at, found | bits_among(bits, first), 64)

    def put_byte(out: Any, row: int, at: int, value: int) -> None:
        """Write the lowest byte of a number that is not negative into a row of a uint8 array."""
        out[row, at] = int(value) & 255

else:

    @intrinsic(prefer_literal=True)
    def put_flags(_: Any, out: Any, row: Any, at: Any, bits: Any, size: Any) -> Any:
        """As the interpreted form: LLVM makes vectors of the bits, and bytes of those at once."""
        whole = types.int64

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given, row, at, bits, _ = values
            start = _place(context, builder, signature.args[0], given, [row, at])
            _store_flags(builder, start, bits, size.literal_value)
            return context.get_dummy_value()

        return types.void(out, whole, whole, whole, size), generate

    @intrinsic(prefer_literal=True)
    def put_flags_among(
        _: Any, out: Any, row: Any, at: Any, bits: Any, first: Any, second: Any
    ) -> Any:
        """As the interpreted form; bytes change their places where the processor can do that."""
        whole, masks = types.int64, (first.literal_value, second.literal_value)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given, row, at, bits, *_ = values
            start = _place(context, builder, signature.args[0], given, [row, at])
            if "+avx512vbmi," in context.codegen().magic_tuple()[2]:
                _store_moved_flags(builder, start, bits, masks)
            else:
                some, more = (_among(context, builder, bits, mask) for mask in masks)
                more = builder.shl(more, more.type(masks[0].bit_count()))
                _store_flags(builder, start, builder.or_(some, more), 64)
            return context.get_dummy_value()

        return types.void(out, whole, whole, whole, first, second), generate

    @intrinsic
    def put_byte(_: Any, out: Any, row: Any, at: Any, value: Any) -> Any:
        """As the interpreted form."""
        whole = types.int64

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given, row, at, value = values
            start = _place(context, builder, signature.args[0], given, [row, at])
            builder.store(builder.trunc(value, ir.IntType(8)), start)
            return context.get_dummy_value()

        return types.void(out, whole, whole, whole), generate


def _store_moved_flags(builder: Any, start: Any, bits: Any, masks: tuple[int, int]) -> None:
    """Store the bits at the places of two masks as bytes, then a bit that is never set."""
    order = [place for mask in masks for place in range(64) if mask >> place & 1]
    order += [63] * (64 - len(order))
    flags = builder.bitcast(bits, ir.VectorType(ir.IntType(1), 64))
    flags = builder.zext(flags, ir.VectorType(ir.IntType(8), 64))
    indices = ir.Constant(ir.VectorType(ir.IntType(32), 64), order)
    flags = builder.shuffle_vector(flags, flags, indices)
    builder.store(flags, builder.bitcast(start, flags.type.as_pointer()), align=1)


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


# --- bytes ---------------------------------------------------------------------------------------


if INTERPRETED:

    def put_bytes(
        out: Any, row: int, at: int, record: Any, field: str, first: int, size: int
    ) -> None:
        """Copy bytes of a record, from the `first` of a field on, into a row of a uint8 array.

        `field` and `size` are constants; `size` may reach beyond the field, not beyond the record.
        """
        start = record.dtype.fields[field][1] + first
        copied = record.tobytes()[start : start + size]
        out[row, at : at + size] = np.frombuffer(copied, np.uint8)

    def put_shorts(
        out: Any, row: int, at: int, record: Any, field: str, first: int, size: int
    ) -> None:
        """The same for numbers of two bytes, none of them negative; 255 stands for more."""
        start = record.dtype.fields[field][1] + 2 * first
        copied = record.tobytes()[start : start + 2 * size]
        out[row, at : at + size] = np.minimum(np.frombuffer(copied, np.uint16), 255)

else:

    @intrinsic(prefer_literal=True)
    def put_bytes(
        _: Any, out: Any, row: Any, at: Any, record: Any, field: Any, first: Any, size: Any
    ) -> Any:
        """As the interpreted form, in one load and one store."""
        return _copying(out, record, field, size, 8)

    @intrinsic(prefer_literal=True)
    def put_shorts(
        _: Any, out: Any, row: Any, at: Any, record: Any, field: Any, first: Any, size: Any
    ) -> Any:
        """As the interpreted form, in one load and one store."""
        return _copying(out, record, field, size, 16)


def _copying(out: Any, record: Any, field: Any, size: Any, bits: int) -> Any:
    """Signature and code for copying numbers of so many bits as bytes."""
    whole, offset = types.int64, record.offset(field.literal_value)
    numbers = ir.VectorType(ir.IntType(bits), size.literal_value)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        given, row, at, source, _, first, _ = values
        source = builder.bitcast(source, ir.IntType(8).as_pointer())
        start = builder.add(builder.mul(first, first.type(bits // 8)), first.type(offset))
        source = builder.bitcast(builder.gep(source, [start]), numbers.as_pointer())
        loaded = builder.load(source, align=1)
        if bits > 8:
            most = numbers([255] * numbers.count)
            loaded = builder.select(builder.icmp_unsigned("<", loaded, most), loaded, most)
            loaded = builder.trunc(loaded, ir.VectorType(ir.IntType(8), numbers.count))
        target = _place(context, builder, signature.args[0], given, [row, at])
        builder.store(loaded, builder.bitcast(target, loaded.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, whole, whole, record, field, whole, size), generate


# --- fields --------------------------------------------------------------------------------------


if INTERPRETED:

    def word_of(record: Any, field: str, index: int) -> Any:
        """An item of a record's field of int64; `field` is a constant, `index` not negative."""
        return np.int64(record[field][index])

else:

    @intrinsic(prefer_literal=True)
    def word_of(_: Any, record: Any, field: Any, index: Any) -> Any:
        """As the interpreted form, without a look at the sign of the index."""
        whole, offset = types.int64, record.offset(field.literal_value)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            source, _, index = values
            source = builder.bitcast(source, ir.IntType(8).as_pointer())
            start = builder.add(builder.mul(index, index.type(8)), index.type(offset))
            source = builder.gep(source, [start])
            return builder.load(builder.bitcast(source, index.type.as_pointer()), align=1)

        return whole(record, field, whole), generate


# --- memory --------------------------------------------------------------------------------------


if INTERPRETED:

    def prefetch(states: Any, row: int, first: str, last: str) -> None:
        """Tell the processor that some fields of a row of an array of records are about to be used.

        `first` and `last` are constants: the names of the first and the last of these fields.
        """

else:

    @intrinsic(prefer_literal=True)
    def prefetch(_: Any, states: Any, row: Any, first: Any, last: Any) -> Any:
        """As the interpreted form."""
        fields = states.dtype.dtype.fields
        begin = fields[first.literal_value][1]
        kind, end, *_ = fields[last.literal_value]
        lines = range(begin, end + kind.itemsize, _CACHE_LINE)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            start = builder.bitcast(
                _place(context, builder, signature.args[0], values[0], [values[1]]), byte
            )
            fetch = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(ir.VoidType(), [byte, number, number, number]),
                "llvm.prefetch.p0",
            )
            for at in lines:
                line = builder.gep(start, [ir.IntType(64)(at)])
                builder.call(fetch, [line, number(1), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(states, types.int64, first, last), generate


_CACHE_LINE = 64


def _place(context: Any, builder: Any, kind: Any, given: Any, indices: Any) -> Any:
    """The address of an item of an array."""
    array = context.make_array(kind)(context, builder, given)
    shape = cgutils.unpack_tuple(builder, array.shape)
    strides = cgutils.unpack_tuple(builder, array.strides)
    return cgutils.get_item_pointer2(
        context, builder, array.data, shape, strides, kind.layout, indices
    )


# --- the cache folder ----------------------------------------------------------------------------


_CONSTANTS = (
    "_jit.py",
    "bots/__init__.py",
    "bots/book.py",
    "charts.py",
    "checks.py",
    "exchange_parts.py",
    "pages.py",
    "rules.py",
    "seen.py",
    "solvers.py",
    "threads.py",
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
    """Loads and saves compiled entries; no fault of the disk ever stops the program.

    numba makes its whole compiler ready before it looks at the disk, which takes longer than all
    that is loaded; what is compiled makes it ready by itself.
    """

    _impl_class = _Impl
    _compiling_announced = False
    _damage_announced = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        result = None
        if CACHE_FOLDER is not None:
            try:
                with self._guard_against_spurious_io_errors():
                    result = self._load_overload(sig, target_context)
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
