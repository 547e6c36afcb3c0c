"""Four bots at a table, through PettingZoo.

pip install thirtyone-env
"""

from collections import Counter

import thirtyone_env

BOTS = ("random", "threshold:25", "danish", "swedish")
MATCHES = 100


def main() -> None:
    """Play matches and count who wins."""
    env = thirtyone_env.env(rules="danish", num_players=4)
    bots = {f"player_{seat}": thirtyone_env.make_bot(name) for seat, name in enumerate(BOTS)}
    won: Counter[str] = Counter()
    for match in range(MATCHES):
        env.reset(seed=0 if match == 0 else None)
        for agent in env.agent_iter():
            _, reward, terminated, truncated, _ = env.last()
            if terminated and reward > 0:
                won[bots[agent].name] += 1
            env.step(None if terminated or truncated else bots[agent].act(env))
    for name in BOTS:
        print(f"{name:<14} won {won[name]:3} of {MATCHES}")


if __name__ == "__main__":
    main()
