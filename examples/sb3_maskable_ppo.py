"""Learn to play heads-up with MaskablePPO, whose actions are always legal, and evaluate it.

pip install 'thirtyone-env[sb3]'
"""

from sb3_contrib import MaskablePPO

from thirtyone_env.adapters.sb3 import ThirtyOneVecEnv, evaluate_masked

TABLE = {
    "num_players": 2,
    "opponents": "threshold:25",
    "illegal": "raise",
    "action_format": "slot",
    "canonical_suits": True,
}


def main() -> None:
    """Train for a minute or less; print the share of matches won before and after."""
    env = ThirtyOneVecEnv(512, seed=0, reward="equity", **TABLE)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=32,
        batch_size=4096,
        n_epochs=3,
        learning_rate=1e-3,
        gamma=1.0,
        seed=0,
        device="cpu",
    )
    for label, steps in (("untrained", 0), ("trained", 262_144)):
        if steps:
            model.learn(steps)
        table = ThirtyOneVecEnv(500, seed=1_000_000, **TABLE)
        returns, lengths = evaluate_masked(model, table, 1000)
        won = (returns > 0).mean()
        print(f"{label:>9}: wins {won:.1%} of {len(returns)} matches ({lengths.mean():.0f} steps)")


if __name__ == "__main__":
    main()
