"""Measure policies: `python evaluate.py benchmark POLICY... [--key value ...]`."""

import sys

from agents.evaluation.cli import main

if __name__ == "__main__":
    sys.exit(main())
