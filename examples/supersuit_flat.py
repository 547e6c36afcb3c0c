"""Flatten the observation with SuperSuit and stack it, then play masked random matches.

SuperSuit's wrappers for boxes refuse dictionaries, so one lambda makes a box first: the mask, then
the observation.

    pip install -c constraints.txt -e ".[supersuit]"
    python examples/supersuit_flat.py
"""

import numpy as np
import supersuit
from gymnasium import spaces

import thirtyone_env

MATCHES = 20


def make():
    """Four players; an observation is mask and bytes as one float32 vector, two of them stacked."""
    env = thirtyone_env.env(rules="danish", num_players=4)
    env = supersuit.observation_lambda_v0(
        env,
        lambda seen, space: np.concatenate([seen["action_mask"], seen["observation"]], dtype="f4"),
        lambda space: spaces.Box(
            0.0, 255.0, (space["action_mask"].shape[0] + space["observation"].shape[0],)
        ),
    )
    return supersuit.frame_stack_v1(env, 2)


def main() -> None:
    """Play and print."""
    env, rng, steps = make(), np.random.default_rng(0), 0
    actions = env.action_space(env.possible_agents[0]).n
    wins = dict.fromkeys(env.possible_agents, 0)
    for match in range(MATCHES):
        env.reset(seed=match)
        for agent in env.agent_iter():
            seen, reward, terminated, truncated, _ = env.last()
            if terminated or truncated:
                wins[agent] += reward > 0
                env.step(None)
                continue
            newest = seen[len(seen) // 2 :]
            env.step(int(rng.choice(np.flatnonzero(newest[:actions]))))
            steps += 1
    print(f"{steps} steps in {MATCHES} matches, no illegal action; wins {wins}")


if __name__ == "__main__":
    main()
