"""Four bots at a table, through PettingZoo.

pip install -c constraints.txt -e .
python examples/pettingzoo_bots.py
"""

from collections import Counter

import thirtyone_env

BOTS = ("random", "threshold:25", "danish", "swedish")
MATCHES = 100


def main() -> None:
    """Play matches and count who wins; an illegal action would raise."""
    env = thirtyone_env.env(rules="danish", num_players=4)
    bots = {f"player_{seat}": thirtyone_env.make_bot(name) for seat, name in enumerate(BOTS)}
    won: Counter[str] = Counter()
    steps = 0
    for match in range(MATCHES):
        env.reset(seed=0 if match == 0 else None)
        for agent in env.agent_iter():
            _, reward, terminated, truncated, _ = env.last()
            if terminated or truncated:
                won[bots[agent].name] += reward > 0
                env.step(None)
            else:
                env.step(bots[agent].act(env))
                steps += 1
    print(f"{steps} steps in {MATCHES} matches, no illegal action")
    for name in BOTS:
        print(f"{name:<14} won {won[name]}")


if __name__ == "__main__":
    main()
