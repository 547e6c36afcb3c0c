"""Measure policies: `python evaluate.py benchmark POLICY... [--key value ...]`, or `exploit`."""

import sys

from agents.evaluation.claims.command import ClaimsCommand
from agents.evaluation.cli import COMMANDS, main
from agents.training.exploit import ExploitCommand

if __name__ == "__main__":
    sys.exit(main(commands={**COMMANDS, "claims": ClaimsCommand, "exploit": ExploitCommand}))
