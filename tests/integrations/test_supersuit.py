"""SuperSuit: which wrappers take this environment, and that they leave the match as it is."""

import numpy as np
import pytest

pytest.importorskip("supersuit")

import supersuit
from gymnasium import spaces

import thirtyone_env
from tests.integrations.shared import generator, legal, payoffs
from thirtyone_env.actions import PASS


def flat(env):
    """Mask and observation as one float32 vector, the mask first."""
    return supersuit.observation_lambda_v0(
        env,
        lambda seen, space: np.concatenate([seen["action_mask"], seen["observation"]], dtype="f4"),
        lambda space: spaces.Box(0.0, 255.0, (65 + space["observation"].shape[0],), np.float32),
    )


def floats(env):
    """The observation as float32, the mask as it is."""
    return supersuit.observation_lambda_v0(
        env,
        lambda seen, space: seen | {"observation": seen["observation"].astype("f4")},
        lambda space: spaces.Dict(
            {
                "observation": spaces.Box(0.0, 255.0, space["observation"].shape, np.float32),
                "action_mask": space["action_mask"],
            }
        ),
    )


WORKING = {
    "observation_lambda_v0, Dict": floats,
    "observation_lambda_v0, Box": flat,
    "observation_lambda_v0, frame_stack_v1": lambda env: supersuit.frame_stack_v1(flat(env), 2),
    "agent_indicator_v0": lambda env: supersuit.agent_indicator_v0(flat(env)),
    "reward_lambda_v0": lambda env: supersuit.reward_lambda_v0(env, lambda reward: reward),
    "clip_reward_v0": supersuit.clip_reward_v0,
    "pad_action_space_v0": supersuit.pad_action_space_v0,
    "nan_zeros_v0": supersuit.nan_zeros_v0,
}
REFUSING = {
    "dtype_v0": lambda env: supersuit.dtype_v0(env, np.float32),
    "flatten_v0": supersuit.flatten_v0,
    "normalize_obs_v0": supersuit.normalize_obs_v0,
    "frame_stack_v1": supersuit.frame_stack_v1,
    "agent_indicator_v0": supersuit.agent_indicator_v0,
    "pad_observations_v0": supersuit.pad_observations_v0,
    "black_death_v3": supersuit.black_death_v3,
}


@pytest.mark.parametrize("name", list(WORKING))
def test_wrapped_matches_pay_what_the_engine_pays(name):
    rng = generator("supersuit", name)
    env = WORKING[name](thirtyone_env.env(num_players=4))
    for _ in range(3):
        env.reset(seed=int(rng.integers(1 << 60)))
        totals = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            seen, reward, terminated, truncated, _ = env.last()
            assert env.observation_space(agent).contains(seen)
            totals[agent] += reward
            if terminated or truncated:
                env.step(None)
                continue
            if isinstance(seen, dict):
                mask = seen["action_mask"]
            else:
                start = len(seen) // 2 if "frame" in name else 0  # the newest frame is the last
                mask = seen[start : start + 65]
            settled = legal(env).size == 0  # by the deal: the first player passes
            assert np.flatnonzero(mask).tolist() == ([PASS] if settled else legal(env).tolist())
            env.step(int(rng.choice(np.flatnonzero(mask))))
        np.testing.assert_allclose(list(totals.values()), payoffs(env), atol=1e-5)


@pytest.mark.parametrize("name", list(REFUSING))
def test_what_the_page_calls_unsupported_is_refused(name):
    with pytest.raises((AttributeError, AssertionError)):
        REFUSING[name](thirtyone_env.env(num_players=4))


def test_the_same_seed_plays_the_same():
    def trace(seed):
        env, seen = flat(thirtyone_env.env(num_players=3)), []
        env.reset(seed=seed)
        for agent in env.agent_iter(40):
            vector, _, ended, cut, _ = env.last()
            seen.append((agent, vector.tobytes()))
            env.step(None if ended or cut else int(np.flatnonzero(vector[:65])[-1]))
        return seen

    assert trace(3) == trace(3)
    assert trace(3) != trace(4)
