"""Train one masked policy by self-play with TorchRL: REINFORCE on whole matches of four players.

All agents are one group, so that one network plays every seat. ``mask`` says who is to act and
``action_mask`` what is legal; the random policy of ``check_env_specs`` and the learned one obey it.

    pip install -c constraints.txt -e ".[torchrl]"
    python examples/torchrl_reinforce.py
"""

import torch
from tensordict.nn import TensorDictModule
from torchrl.envs import PettingZooWrapper
from torchrl.envs.utils import (
    ExplorationType,
    MarlGroupMapType,
    check_env_specs,
    set_exploration_type,
)
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor

import thirtyone_env
from thirtyone_env.adapters.live_turns import LiveTurns

UPDATES, STEPS, MAX_STEPS = 3, 200, 100_000


class Float(torch.nn.Module):
    """Bytes to floats."""

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """The same values as float32."""
        return seen.float()


def make(num_players: int = 4) -> PettingZooWrapper:
    """Matches with all agents in one group; an illegal action raises."""
    table = thirtyone_env.env(rules="danish", num_players=num_players)
    return PettingZooWrapper(
        LiveTurns(table), use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP
    )


def make_policy(env: PettingZooWrapper) -> ProbabilisticActor:
    """A network from what an agent sees to its action; illegal ones have probability zero."""
    seen, legal = ("agents", "observation", "observation"), ("agents", "action_mask")
    network = torch.nn.Sequential(
        Float(),
        MLP(
            in_features=env.observation_spec[seen].shape[-1],
            out_features=env.observation_spec[legal].shape[-1],
            num_cells=[64, 64],
        ),
    )
    return ProbabilisticActor(
        TensorDictModule(network, in_keys=[seen], out_keys=[("agents", "logits")]),
        spec=env.full_action_spec_unbatched,
        in_keys={"logits": ("agents", "logits"), "mask": legal},
        out_keys=[("agents", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )


def main() -> None:
    """Check the specs, train, and print what was played."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    env = make()
    check_env_specs(env)
    env.set_seed(1)
    policy = make_policy(env)
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    for update in range(UPDATES):
        steps, matches, losses = 0, 0, []
        while steps < STEPS:
            with set_exploration_type(ExplorationType.RANDOM):  # TorchRL's default takes the mode
                played = env.rollout(MAX_STEPS, policy)
            returns = played["next", "agents", "reward"].sum(0)  # [players, 1]
            log_prob = policy.get_dist(played).log_prob(played["agents", "action"])
            acting = played["agents", "mask"]
            losses.append(-(log_prob * returns.squeeze(-1))[acting].sum())
            steps, matches = steps + len(played), matches + 1
        loss = torch.stack(losses).sum() / steps
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        print(f"update {update + 1}: {steps} steps, {matches} matches, no illegal action")


if __name__ == "__main__":
    main()
