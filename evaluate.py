"""Measure policies: `python evaluate.py COMMAND [--key value ...]`; `--help` lists the commands."""

import sys

from agents.evaluation.cli import COMMANDS, main
from agents.training.exploit import ExploitCommand

if __name__ == "__main__":
    sys.exit(main(commands={**COMMANDS, "exploit": ExploitCommand}))
