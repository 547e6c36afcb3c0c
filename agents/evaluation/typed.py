"""Dataclasses from YAML 1.2 files: every key and type is checked, errors name what is allowed."""

from __future__ import annotations

import dataclasses
import difflib
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from agents.evaluation.options import ConfigError

Built = TypeVar("Built")


def read_yaml(path: Path | str) -> Any:
    """What a file holds; an empty one holds no keys.

    Raises:
        ConfigError: if it is missing or not YAML.
    """
    path = Path(path)
    try:
        data = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {_reason(error)}") from error
    except YAMLError as error:
        raise ConfigError(f"{path}: {_yaml_problem(error)}") from error
    return {} if data is None else data


def build(cls: type[Built], values: Mapping[Any, Any], where: str = "") -> Built:
    """An instance of a dataclass from a mapping, every key and type checked.

    Args:
        cls: the dataclass.
        values: its fields by name.
        where: what errors put before a key.

    Raises:
        ConfigError: naming the key, what is allowed, and the nearest valid key.
    """
    assert dataclasses.is_dataclass(cls)
    hints = get_type_hints(cls, include_extras=False)
    allowed = [each.name for each in dataclasses.fields(cls)]
    unknown = [key for key in values if key not in allowed]
    if unknown:
        key = unknown[0]
        raise ConfigError(
            f"unknown key {where}{key}{nearest(str(key).replace('-', '_'), allowed)}; "
            f"allowed: {', '.join(sorted(allowed))}"
        )
    missing = [
        each.name
        for each in dataclasses.fields(cls)
        if each.name not in values
        and each.default is dataclasses.MISSING
        and each.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ConfigError(f"{where}{missing[0]} is missing")
    arguments = {key: convert(value, hints[key], where + key) for key, value in values.items()}
    return cls(**arguments)


def convert(value: Any, kind: Any, where: str) -> Any:
    """`value` as a `kind`, or a ConfigError that says what was expected."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where} must be keys and values, not {value!r}")
        assert isinstance(kind, type)
        return build(kind, value, f"{where}.")
    if origin is Literal:
        if value not in args:
            choices = ", ".join(str(choice) for choice in args)
            hint = nearest(str(value), [str(choice) for choice in args])
            raise ConfigError(f"{where} must be one of {choices}, not {value!r}{hint}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{where} must be a list, not {value!r}")
        return tuple(convert(item, args[0], f"{where}[{i}]") for i, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where} must be keys and values, not {value!r}")
        return {
            convert(key, args[0], where): convert(item, args[1], f"{where}.{key}")
            for key, item in value.items()
        }
    if origin in (Union, types.UnionType):
        if any(_fits(value, choice) for choice in args):
            return value
    elif _fits(value, kind):
        return float(value) if kind is float else value
    raise ConfigError(f"{where} must be {_described(kind)}, not {value!r}")


def _fits(value: Any, kind: Any) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def _described(kind: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    return names.get(kind, "a number, text, true, false or null")


def nearest(key: str, allowed: Any) -> str:
    """A hint at the valid key that is most like a wrong one; nothing where none is."""
    close = difflib.get_close_matches(key, list(allowed), 1)
    return f", did you mean {close[0]}?" if close else ""


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _yaml_problem(error: YAMLError) -> str:
    """One line: where and what."""
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return str(error)
