"""Train a policy: `python train.py configs/quickstart.yaml [--key value ...]`."""

import sys

from agents.training.cli import main

if __name__ == "__main__":
    sys.exit(main())
