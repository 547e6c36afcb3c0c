"""Play one seat of Thirty-One through Gymnasium.

pip install -c constraints.txt -e .
python examples/gymnasium_bot.py
"""

import gymnasium

from thirtyone_env import make_bot

MATCHES = 200


def main() -> None:
    """The `danish` bot against three of `threshold:25`; an illegal action would raise."""
    env = gymnasium.make("thirtyone_env:ThirtyOne-v0", opponents="threshold:25", illegal="raise")
    bot, won, steps = make_bot("danish"), 0, 0
    for match in range(MATCHES):
        env.reset(seed=0 if match == 0 else None)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(bot.act(env))
            over = terminated or truncated
            steps += 1
        won += reward > 0
    print(f"{steps} steps in {MATCHES} matches, no illegal action")
    print(f"danish wins {won / MATCHES:.1%}")


if __name__ == "__main__":
    main()
