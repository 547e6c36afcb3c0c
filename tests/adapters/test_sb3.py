"""The vector environment for Stable-Baselines3: episodes, rewards, opponents, seeds."""

import numpy as np
import pytest

from thirtyone_env.adapters.sb3 import KnockVecEnv
from thirtyone_env.observation import COMPACT_SIZE

MIXTURE = {"random": 1.0, "threshold:25": 2.0, "never_knock": 0.0}


def make(rows=32, **options):
    return KnockVecEnv(rows, MIXTURE, **({"players": (2, 4), "seed": 3} | options))


def decisions(env, count, seed=0):
    """Play a while, knocking one time in five."""
    rng = np.random.default_rng(seed)
    env.reset()
    for _ in range(count):
        yield env.step((rng.random(env.num_envs) < 0.2).astype(int))


def test_shapes_and_types():
    env = make()
    assert env.reset().shape == (32, COMPACT_SIZE)
    observations, rewards, dones, infos = env.step(np.zeros(32, int))
    assert (observations.dtype, rewards.dtype, dones.dtype) == (np.float32, np.float32, bool)
    assert observations.shape == (32, COMPACT_SIZE)
    assert rewards.shape == dones.shape == (32,)
    assert len(infos) == 32


def test_the_same_seed_plays_the_same():
    def trace(seed):
        return [(o.tobytes(), r.tobytes()) for o, r, *_ in decisions(make(seed=seed), 40)]

    assert trace(3) == trace(3)
    assert trace(3) != trace(4)


def test_seeding_again_starts_again():
    env = make()
    first = env.reset()
    env.step(np.zeros(32, int))
    env.seed(3)
    assert (env.reset() == first).all()


@pytest.mark.parametrize("kind", ["equity", "lives"])
def test_rewards_of_a_match_sum_to_its_payoff(kind):
    """Whatever the episodes: from the first decision to the end, changes of one running payoff."""
    env = make(reward=kind, reward_scale=2.0)
    env.reset()
    start, total, checked = env._paid.copy(), np.zeros(32), 0
    rng = np.random.default_rng(1)
    for _ in range(200):
        tables, learner = env.tables, env._learner.copy()
        final = {}
        deal = tables.deal

        def watched(rows, matches, tables=tables, learner=learner, final=final, deal=deal):
            for row in np.atleast_1d(rows):
                final.setdefault(row, tables.payoffs(kind)[row, learner[row]])
            deal(rows, matches)

        tables.deal = watched
        _, rewards, _, _ = env.step((rng.random(32) < 0.2).astype(int))
        tables.deal = deal
        total += rewards
        for row, payoff in final.items():
            assert total[row] == pytest.approx(2 * (payoff - start[row]), abs=1e-5)
            start[row], total[row] = env._paid[row], 0
            checked += 1
    assert checked > 20


def test_an_episode_is_a_round_and_the_match_goes_on():
    env, ended, matches = make(), 0, env_matches(make())
    for _, _, dones, infos in decisions(env, 60):
        ended += dones.sum()
        for done, info in zip(dones, infos, strict=True):
            assert ("terminal_observation" in info) == done
    over = (env_matches(env) != matches).sum()
    assert ended > 32 * 5
    assert over > 0


def env_matches(env):
    return env.tables.states["match"].copy()


def test_unfinished_rows_share_one_empty_dictionary():
    for _, _, dones, infos in decisions(make(), 10):
        assert len({id(info) for info, done in zip(infos, dones, strict=True) if not done}) <= 1
        assert all(info == {} for info, done in zip(infos, dones, strict=True) if not done)


def test_returned_arrays_are_the_callers_own():
    env, kept = make(), []
    for result in decisions(env, 10):
        kept.append((result[0], result[0].copy(), result[1], result[1].copy()))
    for observations, copy, rewards, rewards_copy in kept:
        assert (observations == copy).all()
        assert (rewards == rewards_copy).all()
        observations[:] = 0


def test_opponents_change_only_between_matches():
    env = make()
    env.reset()
    rng = np.random.default_rng(2)
    changed = 0
    for _ in range(100):
        matches, seats = env_matches(env), env.tables.states["controllers"].copy()
        env.step((rng.random(32) < 0.2).astype(int))
        moved = env_matches(env) != matches
        assert (env.tables.states["controllers"][~moved] == seats[~moved]).all()
        changed += (env.tables.states["controllers"][moved] != seats[moved]).any(axis=1).sum()
    assert changed > 0


def test_every_seat_is_the_learners_in_turn():
    env = make(rows=400)
    env.reset()
    for size in (2, 4):
        seats = env._learner[env._players == size]
        assert set(seats) == set(range(size))
    assert (env.tables.waiting == env._learner).all()


def test_bots_of_weight_zero_never_play():
    env = make(rows=400, copies=0.0)
    env.reset()
    bots = env.tables.states["controllers"]["bot"]
    asked = env.tables.states["controllers"]["ask"]
    never = asked.min()
    playing = np.arange(9) < env._players[:, None]
    opponents = bots[playing & (asked == never)]
    assert len(set(opponents.tolist())) == 2


def test_copies_fill_a_table_with_one_bot():
    env = make(rows=200, copies=1.0, players=(4,))
    env.reset()
    for row, learner in enumerate(env._learner):
        others = [seat for seat in range(4) if seat != learner]
        seats = env.tables.states["controllers"][row][others]
        assert (seats == seats[0]).all()


def test_bad_mixtures_are_refused():
    for mixture in ({}, {"random": 0.0}, {"random": -1.0, "danish": 2.0}):
        with pytest.raises(ValueError, match="opponents need weights"):
            KnockVecEnv(4, mixture)
    with pytest.raises(ValueError, match="thresholt"):
        KnockVecEnv(4, {"thresholt": 1.0})
    with pytest.raises(ValueError, match="num_players"):
        KnockVecEnv(4, MIXTURE, players=(99,))


def test_the_rest_of_the_interface():
    env = make(rows=3)
    assert env.get_attr("num_envs") == [3, 3, 3]
    assert env.env_is_wrapped(object, indices=[0]) == [False]
    assert env.seed(None) == [None] * 3
    with pytest.raises(AttributeError, match="render_me"):
        env.env_method("render_me")
    env.close()


def test_a_restored_environment_goes_on_bit_by_bit():
    """Also where bots look up tables that lie elsewhere in the other environment's book."""
    mixture = {"threshold:25": 1.0, "lookahead:4": 1.0, "chart:danish": 1.0}
    options = {"players": (2, 3), "copies": 0.5, "seed": 3, "draws": "swedish"}
    one = KnockVecEnv(24, mixture, **options)
    other = KnockVecEnv(24, {"chart:danish": 1.0}, **(options | {"seed": 8}))
    rng = np.random.default_rng(5)
    one.reset()
    for _ in range(40):
        one.step((rng.random(24) < 0.2).astype(int))
    state = one.state()
    other.restore(state)
    for _ in range(80):
        actions = (rng.random(24) < 0.2).astype(int)
        mine, theirs = one.step(actions), other.step(actions)
        for a, b in zip(mine[:3], theirs[:3], strict=True):
            np.testing.assert_array_equal(a, b)
    assert any(bot == "lookahead:4" for _, bot in state["bots"])


def test_a_state_of_other_rows_or_another_version_is_refused():
    state = make().state()
    with pytest.raises(ValueError, match="32 rows were saved; this environment has 8"):
        make(8).restore(state)
    with pytest.raises(ValueError, match="another version"):
        make().restore(state | {"layout": "other"})


def test_draws_by_a_named_rule():
    with pytest.raises(ValueError, match="draws"):
        make(draws="gready")

    def trace(draws):
        return [o.tobytes() for o, *_ in decisions(make(draws=draws), 20)]

    assert trace("greedy") != trace("swedish")
