"""Types and checks that the command lines and configuration files share."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any

import tyro

from agents.policies import split_names
from thirtyone_env.rules import Rules, resolve_rules


class ConfigError(ValueError):
    """A configuration that cannot be used; the message names the key and what is allowed."""


def at_least(least: int, **given: int) -> None:
    """Refuse numbers that are too small.

    Raises:
        ValueError: naming the first of them and what is allowed.
    """
    for name, value in given.items():
        if value < least:
            raise ValueError(f"{name} = {value} is not allowed; allowed: {least} or more")


def some(**given: Collection[object]) -> None:
    """Refuse empty lists of an option.

    Raises:
        ValueError: naming the first of them.
    """
    for name, values in given.items():
        if not values:
            raise ValueError(f"--{name} names nothing; at least one is needed")


def _counts(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(part) for part in text.split(",") if part.strip()))


SeatCounts = Annotated[
    tuple[int, ...],
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="N,N,...",
        instance_from_str=lambda args: _counts(args[0]),
        is_instance=lambda value: isinstance(value, tuple),
        str_from_instance=lambda value: [",".join(str(n) for n in value)],
    ),
]
"""Seat counts, "2,4" on the command line."""

Names = Annotated[
    tuple[str, ...],
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="NAME,NAME,...",
        instance_from_str=lambda args: split_names(args[0]),
        is_instance=lambda value: isinstance(value, tuple),
        str_from_instance=lambda value: [",".join(value)],
    ),
]
"""Names of policies, "random,threshold:25" on the command line."""

Mixture = Annotated[
    dict[str, float],
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="NAME=WEIGHT,...",
        instance_from_str=lambda args: {k: float(v) for k, v in _pairs(args[0]).items()},
        is_instance=lambda value: isinstance(value, dict),
        str_from_instance=lambda value: [joined(value)],
    ),
]
"""Weights of policies, "random=1,threshold:25=2" on the command line."""

HouseRules = Annotated[
    dict[str, int | float | bool | str | None],
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="FIELD=VALUE,...",
        instance_from_str=lambda args: {k: _scalar(v) for k, v in _pairs(args[0]).items()},
        is_instance=lambda value: isinstance(value, dict),
        str_from_instance=lambda value: [joined(value)],
    ),
]
"""Fields of the rules that differ from the preset, "min_knock=21" on the command line."""


Taken = Annotated[
    dict[int, str],
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="PLAYER=CARDS,...",
        instance_from_str=lambda args: {int(k): v for k, v in _pairs(args[0]).items()},
        is_instance=lambda value: isinstance(value, dict),
        str_from_instance=lambda value: [",".join(f"{k}={v}" for k, v in value.items())],
    ),
]
"""Cards by player, "2=Kh Qh,3=7d" on the command line."""


YES_OR_NO = tyro.constructors.ConstructorRegistry()
"""Lets flags with a value be written as in YAML: true and false, in any case."""


@YES_OR_NO.primitive_rule
def _yes_or_no(
    kind: tyro.constructors.PrimitiveTypeInfo,
) -> tyro.constructors.PrimitiveConstructorSpec[bool] | None:
    if kind.type is not bool:
        return None
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="true|false",
        instance_from_str=lambda args: _flag(args[0]),
        is_instance=lambda value: isinstance(value, bool),
        str_from_instance=lambda value: [str(value).lower()],
    )


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text!r} must be true or false")
    return text.lower() == "true"


def joined(values: Mapping[str, Any]) -> str:
    """Keys and values the way the command line takes them."""
    return ",".join(f"{key}={json.dumps(value).strip(chr(34))}" for key, value in values.items())


def _pairs(text: str) -> dict[str, str]:
    """Keys and values of "a=1,b:2,3=4"; a key may hold commas, a value may not."""
    pairs: dict[str, str] = {}
    key = ""
    for part in text.split(",") if text else []:
        head, equals, value = part.rpartition("=")
        if equals:
            pairs[f"{key}{head}".strip()] = value.strip()
            key = ""
        else:
            key += f"{part},"
    if key:
        raise ValueError(f"{key.rstrip(',')!r} lacks its value, as in KEY=VALUE")
    return pairs


def _scalar(text: str) -> Any:
    """A number, true, false, null, or the text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def rules_of(preset: str, house_rules: Mapping[str, Any]) -> Rules:
    """A preset with some fields changed.

    Raises:
        ConfigError: if they do not exist or do not fit together.
    """
    try:
        return resolve_rules({"preset": preset, **house_rules} if house_rules else preset)
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"rules: {error.args[0] if error.args else error}") from error
