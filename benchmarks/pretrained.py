"""A finished run's policy as a network that comes with the checkout.

    python -m benchmarks.pretrained RUN NAME

Copies the policy, its card and the card's picture into agents/pretrained/NAME, which
`network:NAME` stands for. configs/NAME.yaml must be the configuration of the run: whoever trains
it again gets the policy.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from agents.policies.files import write_text
from agents.policies.network import NetworkPolicy
from agents.training.config import load, recipe

ROOT = Path(__file__).resolve().parents[1]
PRETRAINED = ROOT / "agents" / "pretrained"
ELSEWHERE = ("runs", "name")
"""Keys of a configuration that say where a run is, not what is learned."""


def ship(run: Path, name: str) -> Path:
    """Copy a finished run's policy; the folder.

    Raises:
        ValueError: if the configuration of that name is not the run's, with what differs.
    """
    policy, config = NetworkPolicy.load(run), ROOT / "configs" / f"{name}.yaml"
    done, wanted = recipe(load(run / "config.yaml")), recipe(load(config))
    keys = (done.keys() | wanted.keys()) - set(ELSEWHERE)
    differ = sorted(key for key in keys if done.get(key) != wanted.get(key))
    if differ:
        raise ValueError(f"{config} is not what {run} was trained by: {', '.join(differ)}")
    training = {**policy.config.training, "config": wanted}
    policy = replace(policy, config=replace(policy.config, training=training))
    folder = PRETRAINED / name
    folder.mkdir(parents=True, exist_ok=True)
    policy.save(folder)
    card = (run / "card.md").read_text()
    where = rf"\S*{re.escape(run.name)}"
    for given, shipped in (
        (rf"# {where}\n", f"# network:{name}\n"),
        (rf"python train.py {where}/config.yaml", f"python train.py {config.relative_to(ROOT)}"),
        ("`config.yaml` in the same folder repeats it:", "It is repeated by"),
        (rf"benchmark {where} ", f"benchmark network:{name} "),
    ):
        card, count = re.subn(given, shipped, card)
        if count != 1:
            raise ValueError(f"{run / 'card.md'} has {count} times what {given!r} matches")
    write_text(folder / "card.md", card)
    shutil.copy(run / "knock_chart.png", folder)
    return folder


if __name__ == "__main__":
    print(ship(Path(sys.argv[1]), sys.argv[2]))
