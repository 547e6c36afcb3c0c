"""TorchRL: specs, masked rollouts, rewards, ends and seeds at several table sizes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from torchrl.envs import PettingZooWrapper  # noqa: E402
from torchrl.envs.utils import MarlGroupMapType, check_env_specs  # noqa: E402

import thirtyone_env  # noqa: E402
from tests.integrations.shared import generator, legal, table  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested:UserWarning")
GROUPS = {"one group": MarlGroupMapType.ALL_IN_ONE_GROUP, "a group each": None}
ENOUGH = 100_000


def make(num_players, grouping="one group", **options):
    log = table(num_players, **options)
    env = PettingZooWrapper(log, use_mask=True, group_map=GROUPS[grouping])
    return env, log


def by_seat(env, played, key):
    """A value of every step and seat."""
    return torch.cat([played["next", group, key] for group in env.group_map], 1)[..., 0].numpy()


@pytest.mark.parametrize("num_players", [2, 4])
@pytest.mark.parametrize("grouping", list(GROUPS))
@pytest.mark.parametrize(
    "options", [{}, {"observation_format": "compact", "action_format": "slot"}]
)
def test_the_specs_hold(num_players, grouping, options):
    env, _ = make(num_players, grouping, **options)
    check_env_specs(env)


@pytest.mark.parametrize(
    ("num_players", "grouping"), [(2, "a group each"), (3, "one group"), (4, "a group each")]
)
def test_random_rollouts_pay_what_the_engine_pays(num_players, grouping):
    rng = generator("torchrl", num_players, grouping)
    torch.manual_seed(int(rng.integers(1 << 60)))
    env, log = make(num_players, grouping)
    env.set_seed(int(rng.integers(1 << 31)))
    for _ in range(3):
        played = env.rollout(ENOUGH)
        returns = by_seat(env, played, "reward").sum(0)
        np.testing.assert_allclose(returns, log.finished[-1], atol=1e-5)
        done = by_seat(env, played, "done")
        assert done[-1].all()
        assert (np.diff(done.astype(int), axis=0) >= 0).all()
        assert played["next", "done"].sum() == 1
    assert len(log.finished) == 3


def test_masks_are_the_engines():
    rng = generator("torchrl masks")
    torch.manual_seed(int(rng.integers(1 << 60)))
    env, log = make(4)
    state = env.reset()
    for _ in range(200):
        acting = torch.nonzero(state["agents", "mask"]).flatten().tolist()
        assert acting == [log.possible_agents.index(log.agent_selection)]
        mask = state["agents", "action_mask"][acting[0]]
        assert torch.nonzero(mask).flatten().tolist() == legal(log).tolist()
        _, state = env.step_and_maybe_reset(env.rand_action(state))


def test_the_same_seed_plays_the_same():
    def rollout(seed):
        env, _ = make(4)
        env.set_seed(seed)
        torch.manual_seed(0)
        return env.rollout(60)

    one, same, other = rollout(3), rollout(3), rollout(4)
    assert (one == same).all()
    assert not (one.shape == other.shape and (one == other).all())


def test_without_live_turns_three_players_stop_at_the_first_elimination():
    """Why `LiveTurns` is there; when this fails, it is no longer needed."""
    env = PettingZooWrapper(thirtyone_env.env(num_players=3), use_mask=True)
    env.set_seed(1)
    with pytest.raises((RuntimeError, ValueError)):
        env.rollout(ENOUGH)
