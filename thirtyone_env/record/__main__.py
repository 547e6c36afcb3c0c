"""The command line of match records: ``python -m thirtyone_env.record play|check|show``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from thirtyone_env.bots import BOT_FORMS, controller
from thirtyone_env.record import Fault, check_file, describe, play_match, read, write
from thirtyone_env.rules import PRESETS, Rules


def _value(text: str) -> Any:
    """A rule's value as written on the command line: JSON, with none and plain words."""
    if text.lower() in ("none", "null"):
        return None
    if text.lower() in ("true", "false", "yes", "no"):
        return text.lower() in ("true", "yes")
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_changes(settings: Sequence[str]) -> dict[str, Any]:
    """Rule changes of ``name=value`` texts.

    Raises:
        ValueError: for a text that is not of this form.
    """
    changes = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"--set {setting!r}: expected RULE=VALUE, such as min_knock=21")
        changes[name.strip()] = _value(text.strip())
    return changes


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m thirtyone_env.record", description="Write, check and show match records."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    play = commands.add_parser("play", help="play matches between bots and record them")
    play.add_argument("--rules", default="danish", help=f"a preset: {', '.join(PRESETS)}")
    play.add_argument(
        "--set", action="append", default=[], metavar="RULE=VALUE", help="a house rule; repeatable"
    )
    play.add_argument("--players", type=int, help="seats (default: the number of policies)")
    play.add_argument(
        "--policies",
        default="random,threshold:25",
        help=f"a bot for each seat, separated by commas: {', '.join(BOT_FORMS)} "
        "(one name alone: for every seat)",
    )
    play.add_argument("--matches", type=int, default=1, help="number of matches")
    play.add_argument("--seed", type=int, default=0, help="what the cards derive from")
    play.add_argument("--first", type=int, default=0, metavar="N", help="index of the first match")
    play.add_argument("--out", required=True, help=".jsonl or .jsonl.gz; - for standard output")
    check = commands.add_parser("check", help="check records against the rules that they name")
    check.add_argument("files", nargs="+", metavar="FILE")
    show = commands.add_parser("show", help="a record in words")
    show.add_argument("file", metavar="FILE")
    show.add_argument(
        "--match", type=int, default=1, metavar="N", help="number of the line, from 1"
    )
    return parser


def split_policies(text: str) -> list[str]:
    """Bot names separated by commas; numbers after a comma belong to threshold_by_turn."""
    names: list[str] = []
    for part in text.split(","):
        part = part.strip()
        if names and names[-1].startswith("threshold_by_turn:") and part.replace(".", "").isdigit():
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def _play(options: argparse.Namespace) -> int:
    rules = Rules.preset(options.rules, **parse_changes(options.set))
    policies = split_policies(options.policies)
    players = len(policies) if options.players is None else options.players
    if len(policies) == 1:
        policies *= players
    if len(policies) != players:
        raise ValueError(f"--policies names {len(policies)} bots for --players {players}")
    if options.matches < 1:
        raise ValueError(f"--matches {options.matches}: at least 1")
    if not 0 <= options.seed < 1 << 64:
        raise ValueError(f"--seed {options.seed}: 0 … 2**64 − 1")
    if not 0 <= options.first <= (1 << 63) - options.matches:
        raise ValueError(f"--first {options.first}: 0 … 2**63 − 1")
    for name in policies:
        if name in ("external", "knock"):
            raise ValueError(f"bot {name!r} decides outside; bots are {', '.join(BOT_FORMS)}")
        controller(name)
    rules.check_seats(players)
    indices = range(options.first, options.first + options.matches)
    records = (play_match(rules, policies, seed=options.seed, deal=index) for index in indices)
    number = write(options.out, records)
    print(f"{number} matches written to {options.out}", file=sys.stderr)
    return 0


def _check(options: argparse.Namespace) -> int:
    for path in options.files:
        try:
            print(f"{path}: {check_file(path)} matches, no fault")
        except Fault as fault:
            print(f"{path}: {fault}")
            return 1
    return 0


def _show(options: argparse.Namespace) -> int:
    number = 0
    for number, record in read(options.file):
        if number == options.match:
            try:
                print(describe(record))
            except (KeyError, TypeError, IndexError, AttributeError) as fault:
                raise Fault(f"malformed: {fault!r}; see check", line=number) from None
            return 0
    raise ValueError(f"--match {options.match}: {options.file} has matches 1 … {number}")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return {"play": _play, "check": _check, "show": _show}[options.command](options)
    except (ValueError, OSError) as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1 if isinstance(fault, Fault) else 2


if __name__ == "__main__":
    sys.exit(run())
