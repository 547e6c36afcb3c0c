"""Play one seat of Thirty-One through Gymnasium: one match at a time, then 1,024 in one batch.

pip install thirtyone-env
"""

import gymnasium
import numpy as np

from thirtyone_env import make_bot

MATCHES, ROWS, STEPS = 200, 1024, 300


def one_at_a_time() -> float:
    """Share of matches that the `danish` bot wins against three of `threshold:25`."""
    env = gymnasium.make("thirtyone_env:ThirtyOne-v0", opponents="threshold:25", illegal="raise")
    bot, won = make_bot("danish"), 0
    for match in range(MATCHES):
        env.reset(seed=0 if match == 0 else None)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(bot.act(env))
            over = terminated or truncated
        won += reward > 0
    return won / MATCHES


def in_a_batch() -> tuple[int, float]:
    """Random legal actions: matches finished and the learners' mean payoff."""
    envs = gymnasium.make_vec(
        "thirtyone_env:ThirtyOne-v0",
        num_envs=ROWS,
        vectorization_mode="vector_entry_point",
        autoreset_mode="same_step",
        illegal="raise",
    )
    rng = np.random.default_rng(0)
    seen, _ = envs.reset(seed=0)
    finished, paid = 0, 0.0
    for _ in range(STEPS):
        lots = rng.random(seen["action_mask"].shape) * seen["action_mask"]
        seen, rewards, terminated, truncated, _ = envs.step(lots.argmax(axis=1))
        finished += int((terminated | truncated).sum())
        paid += float(rewards.sum())
    return finished, paid / finished


if __name__ == "__main__":
    print(f"danish among three of threshold:25 wins {one_at_a_time():.1%} of {MATCHES} matches")
    print("random play: {} matches, mean payoff {:+.3f}".format(*in_a_batch()))
