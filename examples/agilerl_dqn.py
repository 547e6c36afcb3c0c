"""Train one masked DQN agent of AgileRL by self-play, heads-up, for some hundred steps.

AgileRL's DQN takes the mask when it acts, but not when it looks ahead: its targets would count
illegal actions. So every decision is stored with what the rest of the match brought, as a last
step.

    pip install -c constraints/agilerl.txt -e ".[agilerl]"
    python examples/agilerl_dqn.py
"""

import numpy as np
import torch
from agilerl.algorithms import DQN
from agilerl.components import ReplayBuffer
from tensordict import TensorDict

import thirtyone_env

MATCHES = 30


def play(env, agent: DQN, epsilon: float) -> tuple[list[dict], dict[str, float]]:
    """A match of the agent against itself: its decisions, each with the return, and the returns."""
    env.reset()
    decisions, returns = [], dict.fromkeys(env.possible_agents, 0.0)
    for name in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        returns[name] += reward
        if terminated or truncated:
            env.step(None)
            continue
        mask = seen["action_mask"][None]
        action = int(agent.get_action(seen["observation"][None], epsilon, action_mask=mask)[0])
        decisions.append((name, seen["observation"], action))
        env.step(action)  # an illegal one would raise
    # Matches pay at their end only, so what follows a decision is the return of the whole.
    steps = [
        {"obs": obs, "action": action, "reward": returns[name], "next_obs": obs, "done": 1.0}
        for name, obs, action in decisions
    ]
    return steps, returns


def main() -> None:
    """Train and print what was played."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    env = thirtyone_env.env(rules="danish", num_players=2, observation_format="compact")
    env.reset(seed=1)
    name = env.possible_agents[0]
    agent = DQN(env.observation_space(name)["observation"], env.action_space(name), lr=1e-3)
    memory, count, losses = ReplayBuffer(max_size=10_000), 0, []
    for match in range(MATCHES):
        steps, _ = play(env, agent, epsilon=1.0 - 0.8 * match / MATCHES)
        count += len(steps)
        columns = {
            key: torch.as_tensor(np.array([step[key] for step in steps], np.float32))
            for key in steps[0]
        }
        memory.add(TensorDict(columns, batch_size=[len(steps)]))
        if len(memory) >= agent.batch_size:
            losses.append(agent.learn(memory.sample(agent.batch_size)))
    print(f"{count} steps in {MATCHES} matches, no illegal action; {len(losses)} updates")
    print(f"loss: first {losses[0]:.3f}, last {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
