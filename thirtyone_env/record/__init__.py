"""Match records: write, read, replay and check them (docs/record.md is the format).

A record is one JSON line that holds every card of a match. Whatever is recorded is first played by
the engine: writing, replaying and checking are one mechanism, `Recorder`, which follows the engine
step by step and notes what happened. A record is checked by laying its cards on the decks, taking
its decisions, and comparing what comes out with what it says, to the byte.

Command line: ``python -m thirtyone_env.record play|check|show``.
"""

from thirtyone_env.record.checking import Fault, check, dump, replay
from thirtyone_env.record.files import check_file, read, write
from thirtyone_env.record.recorder import Json, Recorder, play_match, record_match
from thirtyone_env.record.words import describe, describe_round

__all__ = [
    "Fault",
    "Json",
    "Recorder",
    "check",
    "check_file",
    "describe",
    "describe_round",
    "dump",
    "play_match",
    "read",
    "record_match",
    "replay",
    "write",
]
