"""Train PPO of RLlib by self-play, heads-up, for some hundred steps; masked, so nothing illegal.

Both players share one module, Ray's own ``ActionMaskingTorchRLModule``.

    pip install -c constraints/rllib.txt -e ".[rllib]"
    python examples/rllib_ppo.py
"""

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from thirtyone_env.adapters.rllib import ThirtyOneMultiAgentEnv

TABLE = {"rules": "danish", "num_players": 2, "observation_format": "compact"}
ITERATIONS, STEPS = 2, 256


def config() -> PPOConfig:
    """PPO with one masked module for everybody, sampling in this process."""
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config=DefaultModelConfig(fcnet_hiddens=[64, 64]),
    )
    return (
        PPOConfig()
        # RLlib's own check of environments samples actions without masks.
        .environment(ThirtyOneMultiAgentEnv, env_config=TABLE, disable_env_checking=True)
        .env_runners(num_env_runners=0, batch_mode="complete_episodes")
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": module}))
        .training(gamma=1.0, train_batch_size_per_learner=STEPS, minibatch_size=64, num_epochs=2)
        .debugging(seed=0, log_level="ERROR")
    )


def main() -> None:
    """Train and print what was played."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    algorithm = config().build_algo()
    for iteration in range(ITERATIONS):
        played = algorithm.train()["env_runners"]
        print(
            f"iteration {iteration + 1}: {played['num_env_steps_sampled']} steps, "
            f"{played['num_episodes']} matches, no illegal action; "
            f"returns {played['agent_episode_returns_mean']}"
        )
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
