"""Play whole matches through PettingZoo: three random players against one bot that can.

pip install -c constraints.txt -e .
python examples/pettingzoo_bots.py
"""

import numpy as np

import thirtyone_env

MATCHES = 20


def main() -> None:
    """Play and print."""
    env = thirtyone_env.env(rules="danish", num_players=4)
    bot, rng, steps = thirtyone_env.make_bot("threshold:25"), np.random.default_rng(0), 0
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for match in range(MATCHES):
        env.reset(seed=match)
        for agent in env.agent_iter():
            seen, reward, terminated, truncated, _ = env.last()
            returns[agent] += reward / MATCHES
            if terminated or truncated:
                env.step(None)
            elif agent == "player_0":
                env.step(bot.act(env))
                steps += 1
            else:
                env.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
                steps += 1
    print(f"{steps} steps in {MATCHES} matches, no illegal action")
    print({agent: round(paid, 2) for agent, paid in returns.items()})


if __name__ == "__main__":
    main()
