"""Learn when to knock with MaskablePPO, whose actions are always legal, and evaluate it.

pip install -c constraints.txt -e '.[sb3]'
python examples/sb3_maskable_ppo.py
"""

from sb3_contrib import MaskablePPO

from thirtyone_env.adapters.sb3 import KnockTimingVecEnv, evaluate_masked

TABLE = {
    "num_players": 2,
    "opponents": "threshold:25",
    "observation_format": "compact",
    "illegal": "raise",
}


def main() -> None:
    """Train for some seconds; print the share of matches won before and after.

    An illegal action would raise.
    """
    env = KnockTimingVecEnv(512, seed=0, reward="equity", **TABLE)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=32,
        batch_size=2048,
        n_epochs=4,
        learning_rate=2e-3,
        gamma=1.0,
        ent_coef=0.01,
        seed=0,
        device="cpu",
    )
    for label, steps in (("untrained", 0), ("trained", 400_000)):
        if steps:
            model.learn(steps)
        table = KnockTimingVecEnv(500, seed=1_000_000, **TABLE)
        returns, lengths = evaluate_masked(model, table, 2000)
        won = (returns > 0).mean()
        print(f"{label:>9}: {lengths.sum()} steps in {len(returns)} matches, no illegal action")
        print(f"{label:>9}: wins {won:.1%}")


if __name__ == "__main__":
    main()
