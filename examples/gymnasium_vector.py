"""Play 1,024 matches of Thirty-One in one batch through Gymnasium.

pip install -c constraints.txt -e .
python examples/gymnasium_vector.py
"""

import gymnasium
import numpy as np

ROWS, STEPS = 1024, 300


def main() -> None:
    """Random legal actions against three of `threshold:25`; an illegal action would raise."""
    envs = gymnasium.make_vec(
        "thirtyone_env:ThirtyOne-v0",
        num_envs=ROWS,
        vectorization_mode="vector_entry_point",
        autoreset_mode="same_step",
        opponents="threshold:25",
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
    print(f"{ROWS * STEPS} steps in {finished} matches, no illegal action")
    print(f"mean payoff {paid / finished:+.3f}")


if __name__ == "__main__":
    main()
