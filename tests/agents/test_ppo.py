"""Learning whole policies: what is stored, paid and learned from is what it should be."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.evaluation import cli as evaluation
from agents.evaluation.exploit import exploit, gain_of
from agents.evaluation.match import play
from agents.evaluation.options import ConfigError
from agents.evaluation.progress import Meter
from agents.policies import make
from agents.training import cli, ppo
from agents.training.config import (
    BenchmarkConfig,
    BestResponseConfig,
    PanelConfig,
    PpoConfig,
    from_mapping,
    load,
    to_yaml,
)
from agents.training.exploit import NetworkExploiter
from agents.training.learning import learn
from agents.training.models import model_state, restore_model
from agents.training.ppo import response
from agents.training.ppo.kernels import (
    CUT,
    ENDED,
    TILE,
    advantages,
    first_layer,
    first_layer_gradient,
    room,
)
from agents.training.ppo.league import League
from agents.training.ppo.network import GraphNetwork, KernelNetwork
from agents.training.ppo.tables import LEARNER, LeagueVecEnv
from agents.training.stopping import Interrupted, Stop
from tests.engine.situations import fresh_seed
from thirtyone_env import Rules, make_bot
from thirtyone_env.actions import NUM_SLOT_ACTIONS
from thirtyone_env.adapters.sb3 import load_policy
from thirtyone_env.arena import Tables
from thirtyone_env.rules import MAX_SEATS
from thirtyone_env.state import Phase

ROOT = Path(__file__).parents[2]
DANISH = Rules.preset("danish")
TINY = PpoConfig(
    name="tiny",
    steps=6_000,
    rows=48,
    rollout=16,
    batch=256,
    hidden=(16, 8),
    threads=1,
    snapshot_every=1_500,
    snapshots=2,
    panel=PanelConfig(every=0),
    benchmark=BenchmarkConfig(players=(2,), opponents=("random",), deals=20, workers=1),
)


def trained(config, folder):
    """The policy of a whole training."""
    folder.mkdir(exist_ok=True)
    algorithm = response if isinstance(config, BestResponseConfig) else ppo
    return learn(algorithm.prepare, config, folder)


def cut(config, folder, at):
    """Go on with a training, and stop it by a signal after so many steps."""
    stop, seen = Stop(), []

    def advance(steps):
        seen.append(steps)
        if sum(seen) >= at:
            stop.number = 2

    meter = Meter(advance, lambda note: None)
    with pytest.raises(Interrupted):
        learn(ppo.prepare, config, folder, meter=meter, stop=stop)


def learned(config, steps, model=None):
    """A model after some steps of a training that is planned for `config.steps`."""
    model = model or ppo.build(config)
    model._last_obs = model.tables.observations()
    while model.num_timesteps < steps:
        _, callback = model._setup_learn(0, None, False)
        model.collect_rollouts(model.env, callback, None, config.rollout)
        model._update_current_progress_remaining(model.num_timesteps, config.steps)
        model.train()
    return model


def collected(config):
    """A model before its first update, with a roll-out."""
    model = ppo.build(config)
    _, callback = model._setup_learn(0, None, False)
    model.collect_rollouts(model.env, callback, None, config.rollout)
    return model


def dense(model):
    """uint8[T·B, K]: the observations of a roll-out, from the inputs that were kept."""
    kept = model.experience
    size = kept.actions.size
    found = np.zeros((size, model.observation_space.shape[0]), np.uint8)
    for row in range(size):
        places = slice(kept.starts[row], kept.starts[row + 1])
        some = kept.amounts[places] > 0
        found[row, kept.spots[places][some]] = kept.amounts[places][some]
    return found


def inputs(rng, rows, most):
    """Inputs of rows, groups filled up, as kernels take them, and as uint8[rows, most]."""
    full = (rng.random((rows, most)) < 0.1) * rng.integers(1, 256, (rows, most), np.uint8)
    full[:, 3], full[:, 4] = 1, 0  # one that all have, one that nobody has
    places = [np.flatnonzero(row) for row in full]
    filled = [np.append(place, [0] * (-len(place) % 4)) for place in places]
    amounts = [
        np.append(row[place], [0] * (-len(place) % 4))
        for row, place in zip(full, places, strict=True)
    ]
    starts = np.cumsum([0, *map(len, filled)])
    sparse = np.concatenate(filled).astype(np.uint16), np.concatenate(amounts).astype(np.uint8)
    return (starts, *sparse), full


@pytest.mark.parametrize("count", [1, 3, TILE, 2 * TILE + 7])
def test_the_first_layer_is_the_product_of_matrices(count):
    rng = np.random.default_rng(fresh_seed())
    sparse, full = inputs(rng, 2 * TILE + 9, 50)
    rows = rng.permutation(len(full))[:count]
    weights, biases = rng.random((50, 24), np.float32), rng.random(24, np.float32)
    sums: np.ndarray = np.empty((count, 24), np.float32)
    first_layer(*sparse, rows, weights, biases, sums)
    np.testing.assert_allclose(sums, full[rows] @ weights + biases, rtol=1e-5)
    slopes, gradient = rng.random((count, 24), np.float32), np.ones((50, 24), np.float32)
    first_layer_gradient(*sparse, rows, slopes, room(50), gradient)
    expected = full[rows].T.astype(np.float64) @ slopes + 1
    np.testing.assert_allclose(gradient, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("teacher", "rules", "players"),
    [("threshold:27", "danish", 3), ("solver:danish", "danish", 2), ("counter", "schwimmen_a7", 2)],
)
def test_a_teacher_says_what_its_bot_does(teacher, rules, players):
    config = replace(TINY, teacher=teacher, rules=rules, players=(players,), seed=fresh_seed())
    tables = collected(config).tables
    states = tables.tables.states.copy()
    taught = tables.taught()
    for name in ("policy_streams", "hands", "deck", "phase", "seat"):
        np.testing.assert_array_equal(states[name], tables.tables.states[name])
    chosen = make_bot(teacher).choose(states, np.arange(len(states)))
    tables.tables.act(taught, slots=True, canonical=True)
    states_after = tables.tables.states.copy()
    other = Tables(Rules.preset(rules), players, seed=0, matches=np.arange(len(states)))
    other.states[:] = states
    other.act(chosen)
    for name in ("hands", "upcard", "knocker", "phase", "seat"):
        np.testing.assert_array_equal(states_after[name], other.states[name])


def test_a_policy_learns_what_a_teacher_does(tmp_path):
    config = replace(
        TINY, steps=80_000, teacher="threshold:27", teach_first=80_000, hidden=(64, 32), rows=256,
        batch=512, learning_rate=3e-3, final_entropy=0.0,
    )  # fmt: skip
    found = gain_of(
        trained(config, tmp_path / "x"), "threshold:27", rules=DANISH, num_players=2, deals=2_000,
        seed=fresh_seed(),
    )  # fmt: skip
    assert found.mean > -0.1  # the untaught loses 0.4


@pytest.mark.parametrize("critic", ["own", "shared"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_what_a_rollout_keeps_is_what_the_policy_of_sb3_says(critic, activation):
    model = collected(replace(TINY, critic=critic, activation=activation, players=(2, 3)))
    kept = model.experience
    with torch.no_grad():
        values, logs, _ = model.policy.evaluate_actions(
            torch.from_numpy(dense(model)).float(),
            torch.from_numpy(kept.actions),
            torch.from_numpy(kept.masks != 0),
        )
    np.testing.assert_allclose(logs.numpy(), kept.log_chances, atol=2e-6)
    np.testing.assert_allclose(values[:, 0].numpy(), kept.values.ravel(), atol=2e-6)
    assert kept.masks[np.arange(kept.actions.size), kept.actions].all()


@pytest.mark.parametrize("critic", ["own", "shared"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_gradients_are_those_of_the_loss_of_maskable_ppo(critic, activation):
    model = collected(replace(TINY, critic=critic, activation=activation, max_gradient=1e9))
    rng, kept = np.random.default_rng(5), model.experience
    kept.log_chances += rng.normal(0, 0.2, kept.log_chances.size).astype(np.float32)
    returns = kept.advantages + kept.values
    batch = rng.permutation(np.flatnonzero(kept.valid))[:300]
    values, logs, entropy = model.policy.evaluate_actions(
        torch.from_numpy(dense(model)[batch]).float(),
        torch.from_numpy(kept.actions[batch]),
        torch.from_numpy(kept.masks[batch] != 0),
    )
    gains = torch.from_numpy(kept.advantages.ravel()[batch])
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    ratio = (logs - torch.from_numpy(kept.log_chances[batch])).exp()
    loss = -torch.min(gains * ratio, gains * ratio.clamp(0.8, 1.2)).mean()
    loss = loss - 0.03 * entropy.mean()
    loss = loss + 0.5 * (torch.from_numpy(returns.ravel()[batch]) - values[:, 0]).square().mean()
    expected = torch.autograd.grad(loss, model._parameters)
    model.policy.optimizer.step = lambda: None
    model._step(batch, returns, 0.2, 0.03)
    for parameter, gradient in zip(model._parameters, expected, strict=True):
        np.testing.assert_allclose(parameter.grad, gradient, atol=2e-6)


def plain_advantages(times, gamma, decay):
    """By the definition: one seat's decisions as (value, paid, ended), then what follows."""
    gains, after, gain = [], None, 0.0
    for value, paid, ended in reversed(times[:-1] if times[-1][1] is None else times):
        if after is None and times[-1][1] is None:
            after = times[-1][0]
        following = 0.0 if ended else after
        gain = paid + gamma * following - value + (0.0 if ended else gamma * decay * gain)
        gains.append(gain)
        after = value
    return gains[::-1]


def test_advantages_of_one_seat_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    steps = 40
    values = rng.normal(size=(steps, 1)).astype(np.float32)
    rewards = np.zeros((steps, 1, 9), np.float32)
    rewards[:, 0, 2] = rng.normal(size=steps)
    ended = np.zeros((steps, 1, 9), np.int8)
    ended[:, 0, 2] = rng.random(steps) < 0.2
    seats, last = np.full((steps, 1), 2, np.int8), np.array([2], np.int8)
    gains, valid = np.zeros((steps, 1), np.float32), np.zeros((steps, 1), bool)
    advantages(
        seats, rewards, ended, values, last, np.array([0.7], np.float32), 0.9, 0.8,
        np.zeros((4, 9)), gains, valid,
    )  # fmt: skip
    times = list(zip(values[:, 0], rewards[:, 0, 2], ended[:, 0, 2], strict=True))
    expected = plain_advantages([*times, (np.float32(0.7), None, False)], 0.9, 0.8)
    np.testing.assert_allclose(gains[:, 0], expected, rtol=1e-5, atol=1e-5)
    assert valid.all()


def test_the_decay_of_advantages_moves_from_one_value_to_the_other():
    config = replace(TINY, gae_lambda=0.2, final_gae_lambda=0.8, steps=6_000)
    model = learned(config, 3_000)
    done = model.num_timesteps / config.steps
    assert model._between(model.gae_lambda, model.final_gae_lambda) == pytest.approx(
        0.2 + 0.6 * done
    )
    kept = model.experience
    _, callback = model._setup_learn(0, None, False)
    model.collect_rollouts(model.env, callback, None, config.rollout)
    found = kept.advantages.copy()
    again = np.zeros_like(found), np.zeros_like(kept.valid)
    start = config.rollout * model.tables.num_envs
    last = model._forward(start, model.network.first_weights())[1]
    place = (kept.seats, kept.rewards, kept.ended, kept.values, model.tables.seat, last)
    advantages(*place, 1.0, 0.2 + 0.6 * done, np.zeros((4, MAX_SEATS)), *again)
    np.testing.assert_allclose(found, again[0], atol=1e-6)
    with pytest.raises(ConfigError, match="final_gae_lambda must lie between 0 and 1"):
        replace(TINY, final_gae_lambda=1.5)


def test_each_seat_of_a_table_is_a_trajectory_of_its_own():
    """Seat 1 is paid after its last decision of a round, and waits when the roll-out ends."""
    seats = np.array([[0], [1], [0], [1], [0]], np.int8)
    values = np.array([[1], [2], [3], [4], [5]], np.float32)
    rewards, ended = np.zeros((5, 1, 9), np.float32), np.zeros((5, 1, 9), np.int8)
    rewards[2, 0, :2] = 10, -10  # a round ends with what seat 0 does; seat 1 has decided before
    ended[2, 0] = True
    gains, valid = np.zeros((5, 1), np.float32), np.zeros((5, 1), bool)
    advantages(
        seats, rewards, ended, values, np.array([0], np.int8), np.array([6], np.float32), 1.0, 0.0,
        np.zeros((4, 9)), gains, valid,
    )  # fmt: skip
    assert gains[0, 0] == 3 - 1  # goes on to its own next value, not to that of the other seat
    assert gains[1, 0] == -10 - 2
    assert gains[2, 0] == 10 - 3
    assert valid[:, 0].tolist() == [True, True, True, False, True]
    assert gains[4, 0] == 6 - 5


def test_a_match_that_the_cap_of_rounds_cuts_short_goes_on_at_its_value():
    """Nobody gets a share of the pot for want of time; lives that were lost were lost."""
    rules = Rules.preset("danish", max_rounds=1)
    for reward in ("match", "lives"):
        league = League({"random": 1.0}, [(rules, 2)], self_play=1.0)
        tables = small_tables(league, reward=reward, episode="match")
        rng, cut, ended, lost = np.random.default_rng(4), 0, 0, 0
        for _ in range(60):
            tables.advance(any_actions(tables, rng))
            short = tables.ended == CUT
            cut, ended = cut + int(short.sum()), ended + int((tables.ended == ENDED).sum())
            lost += int((tables.rewards[short] != 0).sum())
        assert cut > 50
        assert ended > cut  # seats that are not there
        assert (lost > 0) == (reward == "lives")
    seats, values = np.zeros((2, 1), np.int8), np.array([[1], [2]], np.float32)
    rewards, short = np.zeros((2, 1, 9), np.float32), np.zeros((2, 1, 9), np.int8)
    rewards[1, 0, 0], short[1, 0, 0] = 7, CUT
    gains, valid = np.zeros((2, 1), np.float32), np.zeros((2, 1), bool)
    advantages(
        seats, rewards, short, values, np.array([0], np.int8), np.array([9], np.float32), 1.0, 0.0,
        np.zeros((4, 9)), gains, valid,
    )  # fmt: skip
    assert gains[:, 0].tolist() == [1, 7]
    assert valid.all()


def small_tables(league=None, rows=64, **options):
    league = league or League({"threshold:21": 1.0, "random": 1.0}, [(DANISH, 3)], self_play=0.3)
    return LeagueVecEnv(rows, league, sizes=np.array([1, 4, 14]), seed=7, **options)


def any_actions(tables, rng):
    return (rng.random(tables.mask.shape) * tables.mask).argmax(axis=1)


@pytest.mark.parametrize("reward", ["lives", "match", "equity", "chances"])
def test_every_seat_is_paid_what_its_match_pays_it(reward):
    """Also what it loses after its last decision; what comes before its first is left out."""
    tables, rng = small_tables(reward=reward, episode="match"), np.random.default_rng(1)
    kind = "equity" if reward == "chances" else reward  # as long as no chances have been found
    paid, early = np.zeros((64, 9)), np.zeros((64, 9))
    settled, late, seats = [0], [0], set()
    begun_with = tables.paid.copy()
    pay, count = tables._pay, tables._count

    def watched_pay(rows, over):
        before = tables.paid[rows].copy()
        pay(rows, over)
        early[rows] += np.where(tables.fresh[rows], tables.paid[rows] - before, 0)

    def watched_count(rows):
        count(rows)
        final = tables.tables.payoffs(kind, rows) - begun_with[rows]
        mine = tables.owner[rows] == LEARNER
        found = paid[rows] + tables.rewards[rows] + early[rows]
        np.testing.assert_allclose(found[mine], final[mine], atol=1e-5)
        settled[0] += int(mine.sum())
        seats.update(np.nonzero(mine)[1].tolist())
        paid[rows], early[rows] = -tables.rewards[rows], 0.0  # the rest of this step is another's

    tables._pay, tables._count = watched_pay, watched_count
    deal = tables._deal

    def watched_deal(rows):
        deal(rows)
        begun_with[rows] = 1 / 3 if kind == "equity" else 0.0
        early[rows] += tables.paid[rows] - begun_with[rows]  # a blitz is dealt

    tables._deal = watched_deal
    for _ in range(150):
        acting = tables.seat.copy()
        tables.advance(any_actions(tables, rng))
        paid += tables.rewards
        others = np.arange(9) != acting[:, None]
        mine = (tables.owner == LEARNER) & others & (tables.rewards != 0)
        late[0] += int(mine.sum())
    assert settled[0] > 200
    assert seats == {0, 1, 2}
    assert late[0] > 20


def test_a_loss_before_the_first_decision_belongs_to_no_decision():
    """Whoever has not yet decided in its match is not paid, or the match before would be blamed."""
    tables = small_tables(reward="lives")
    tables.fresh[:] = True
    tables.tables.states["lives_payoff"][:, :3] += 1.0
    tables.round_number -= 1  # as if a round had ended
    tables._pay(tables._all, np.zeros(64, bool))
    assert (tables.rewards == 0).all()
    tables.fresh[:, 1] = False
    tables.tables.states["lives_payoff"][:, :3] -= 3.0
    tables.round_number -= 1
    tables._pay(tables._all, np.zeros(64, bool))
    assert (tables.rewards[:, 1] == -3).all()
    assert (tables.rewards[:, [0, 2]] == 0).all()


def test_opponents_change_only_between_matches():
    config = replace(TINY, players=(2, 4), self_play=0.2, snapshot_play=0.5, copies=0.3)
    model = learned(config, 3_000)
    tables, rng = model.tables, np.random.default_rng(2)
    changed = 0
    for _ in range(80):
        matches, owner = tables.tables.states["match"].copy(), tables.owner.copy()
        tables.league.add(np.zeros_like(tables.league.pool[0]), 5_000, tables.owner)
        tables.league_changed()
        pool = tables.league.pool.copy()
        used = np.unique(owner[owner >= len(tables.league.names)]) - len(tables.league.names)
        tables.advance(any_actions(tables, rng))
        same = tables.tables.states["match"] == matches
        assert (tables.owner[same] == owner[same]).all()
        assert (tables.league.pool[used] == pool[used]).all()
        changed += int((~same).sum())
    assert changed > 20
    kinds = tables.owner[tables.owner != -2]
    assert {LEARNER} < set(np.unique(kinds).tolist())


def test_members_are_copies_and_the_pool_is_capped():
    league = League({"random": 1.0}, [(DANISH, 2)], capacity=3)
    weights = np.ones(5, np.float32)
    nobody = np.array([-1])
    for steps in range(1, 9):
        weights[:] = steps
        league.add(weights, steps, nobody)
    weights[:] = 99
    active = np.flatnonzero(league.active)
    assert len(active) == 3
    assert (league.pool[active] == league.steps[active, None]).all()
    assert {1, 8} <= set(league.steps[active].tolist())
    in_use = np.flatnonzero(league.active)[:1] + 1
    place = int(in_use[0]) - 1
    before = league.pool[place].copy()
    for steps in range(9, 30):
        league.add(np.full(5, steps, np.float32), steps, in_use)
        assert (league.pool[place] == before).all()
    assert len(league.pool) <= 2 * 3 + 3


def test_prioritised_members_are_those_the_learner_loses_to():
    panel = {"random": 1.0, "threshold:25": 1.0}
    league = League(panel, [(DANISH, 2)], self_play=0.0, sampling="prioritised")
    league.count(np.array([0] * 50 + [1] * 50), np.array([1.0] * 50 + [0.4] * 50))
    chances = league.chances()[0]
    assert chances.sum() == pytest.approx(1)
    assert chances[1] > 4 * chances[0]


def test_a_nash_league_plays_what_nothing_beats():
    panel = {"random": 1.0, "threshold:21": 1.0, "threshold:27": 1.0}
    league = League(panel, [(DANISH, 2)], self_play=0.0, sampling="nash", seed=3)
    league.measure(lambda params, name: None)
    chances = league.chances()[0]
    assert chances[0] < 0.1 < chances[2]
    assert league.payoffs[0, 2] == -league.payoffs[2, 0] < 0


def test_a_bot_plays_where_it_can_and_none_nowhere():
    variants = [(DANISH, 2), (Rules.preset("swedish"), 2)]
    league = League({"chart:danish": 1.0, "threshold:27": 1.0}, variants, self_play=0.0)
    chances = league.chances()
    assert chances[0, 0] > 0
    assert chances[1, 0] == 0
    with pytest.raises(ValueError, match="danish"):
        League({"chart:danish": 1.0}, variants[1:], self_play=0.0)


def test_saved_and_restored_it_goes_on_bit_by_bit():
    config = replace(TINY, players=(2, 4), league="prioritised")
    one = learned(config, 3_000)
    state = copy.deepcopy(moving(one))
    two = ppo.build(config)
    restore_model(two, state["model"])
    for name, part in two.parts.items():
        part.restore(state[name])
    for model in (one, two):
        learned(config, 6_000, model)
    assert one.num_timesteps == two.num_timesteps
    ours, theirs = moving(one), moving(two)
    for name, value in ours["model"]["parameters"]["policy"].items():
        assert np.array_equal(value, theirs["model"]["parameters"]["policy"][name]), name
    for part in ("league", "tables", "learner"):
        for name, value in ours[part].items():
            if part != "learner" or name == "shuffles":
                assert np.array_equal(value, theirs[part][name], equal_nan=name == "payoffs"), name


def moving(model):
    """All that a checkpoint holds of a model and its parts."""
    state = {name: part.state() for name, part in model.parts.items()}
    for part in state.values():
        assert all(isinstance(v, np.ndarray | int | float | str | list) for v in part.values())
    return {"model": model_state(model), **state}


def test_the_same_training_gives_the_same_weights(tmp_path):
    one, two = (trained(TINY, tmp_path / name) for name in ("one", "two"))
    other = trained(replace(TINY, seed=2), tmp_path / "other")
    assert all(np.array_equal(a, b) for a, b in zip(one.weights, two.weights, strict=True))
    assert not np.array_equal(one.weights[0], other.weights[0])
    assert len(list((tmp_path / "one" / "league").iterdir())) <= TINY.snapshots


@pytest.mark.parametrize("league", ["uniform", "prioritised", "nash"])
def test_a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(tmp_path, league, monkeypatch):
    monkeypatch.setattr("agents.training.ppo.league.MATRIX_DEALS", 4)
    panel = PanelConfig(every=2_000, deals=10, opponents=("random",), workers=1)
    reward = "chances" if league == "prioritised" else "equity"
    config = replace(
        TINY, league=league, reward=reward, players=(2, 4), save_every=2_500,
        house_rules={"max_turns": 20},
        opponents={"random": 1.0, "lookahead:1": 1.0}, panel=panel,
    )  # fmt: skip
    whole = trained(config, tmp_path / "whole")
    for at in (700, 3_800):
        cut(config, tmp_path / "parts", at)
    parts = trained(config, tmp_path / "parts")
    for one, other in zip(whole.weights, parts.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("league", "last", "."):
        files = sorted((tmp_path / "whole" / name).rglob("*.safetensors"))
        files = [path for path in files if path.parent.name != "checkpoints"]
        assert files
        for path in files:
            again = tmp_path / "parts" / path.relative_to(tmp_path / "whole")
            assert again.read_bytes() == path.read_bytes(), path
    panels = [(tmp_path / name / "panel.csv").read_text() for name in ("whole", "parts")]
    assert panels[0] == panels[1]


def test_it_learns(tmp_path):
    config = PpoConfig(
        panel=PanelConfig(every=0), steps=200_000, rows=256, rollout=32, batch=1024, hidden=(32,),
        self_play=0.3, snapshot_play=0.0, opponents={"random": 1.0}, learning_rate=1e-2,
    )  # fmt: skip
    trained(config, tmp_path)
    policy = make(str(tmp_path))
    assert play([policy, "random"], rules=DANISH, deals=500, seed=9).win_rate(0).low > 0.9


def test_one_network_plays_at_tables_of_several_sizes_and_rules(tmp_path):
    config = replace(
        TINY,
        players=(2, 4),
        rules="danish,swedish,schwimmen_a7",
        house_rules={"max_turns": 20, "max_rounds": 5},  # it does not know yet when to knock
    )
    policy = trained(config, tmp_path)
    for rules in config.all_rules():
        for size in (2, 4):
            play([policy] * size, rules=rules, deals=4, seed=1)
    with pytest.raises(ValueError, match="tables of 2 and 4, not of 3"):
        policy.check(DANISH, 3)
    with pytest.raises(ValueError, match="lives is 3 for the policy, 5 at the table"):
        policy.check(Rules.preset("danish", lives=5, max_turns=20, max_rounds=5), 2)


def test_a_training_begins_with_a_policy(tmp_path):
    first = trained(TINY, tmp_path)
    again = ppo.build(replace(TINY, start_from=str(tmp_path)))
    for mine, given in zip(again.network.weights(), first.weights, strict=True):
        np.testing.assert_allclose(mine, given, rtol=1e-6)
    with pytest.raises(ValueError, match="start_from"):
        ppo.build(replace(TINY, start_from=str(tmp_path), hidden=(16,)))


def test_a_training_begins_with_a_policy_that_comes_with_the_checkout():
    name = "network:ppo_danish_heads_up"
    given = make(name)
    hidden = tuple(given.sizes.tolist()[1:-1])
    config = replace(TINY, players=(2,), hidden=hidden, start_from=name)
    begun = ppo.build(replace(config, afterstates=given.config.afterstates))
    for mine, theirs in zip(begun.network.weights(), given.weights, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    with pytest.raises(ValueError, match="set afterstates: "):
        ppo.build(replace(config, afterstates=not given.config.afterstates))
    with pytest.raises(ValueError, match="no network that decides about everything"):
        ppo.build(replace(TINY, start_from="threshold:27"))


def test_a_network_says_how_likely_its_actions_are():
    model = learned(TINY, 1_500)
    policy = ppo.extract(model, TINY)
    tables, rng = Tables(DANISH, 2, seed=fresh_seed(), matches=[0]), np.random.default_rng(1)
    while not tables.over[0]:
        chances = policy.action_probabilities(tables, 0)
        legal = np.flatnonzero(tables.action_mask()[0])
        assert sorted(chances) == legal.tolist()
        assert sum(chances.values()) == pytest.approx(1)
        assert max(chances, key=chances.__getitem__) == policy.act_batch(tables)[0]
        tables.act(rng.choice(legal, 1))


def test_saved_policies_sit_at_the_tables(tmp_path):
    trained(TINY, tmp_path)
    panel = {str(tmp_path): 1.0}
    league = League(panel, [(DANISH, 2)], self_play=0.0)
    tables, rng = small_tables(league), np.random.default_rng(0)
    for _ in range(60):
        tables.advance(any_actions(tables, rng))
    assert tables.matches > 20
    assert (tables.tables.states["phase"] != Phase.OVER).all()


def test_a_response_begins_with_its_target_and_learns_the_value_first(tmp_path):
    target = trained(TINY, tmp_path / "target")
    config = BestResponseConfig(
        target=str(tmp_path / "target"), warm_start=True, steps=1_500, value_first=1_536,
        rows=48, rollout=16, batch=256, panel=PanelConfig(every=0),
    )  # fmt: skip
    found = trained(config, tmp_path / "found")
    for mine, given in zip(found.weights, target.weights, strict=True):
        np.testing.assert_allclose(mine, given, rtol=1e-6)
    moved = trained(replace(config, value_first=0), tmp_path / "moved")
    assert not np.allclose(moved.weights[0], target.weights[0])
    model = ppo.build(response.resolved(config))
    assert (model.tables.owner == LEARNER).sum() == 48
    with pytest.raises(ValueError, match="warm_start: threshold:25 is no network"):
        trained(replace(config, target="threshold:25"), tmp_path / "refused")


def test_networks_exploit(tmp_path):
    suite = [NetworkExploiter(tmp_path, 40_000, warm) for warm in (False, True)]
    found = exploit("random", suite, rules=DANISH, num_players=2, deals=200, seed=3)
    assert [finding.exploiter for finding in found.findings] == ["network, from scratch"]
    assert found.bound.gain.mean > -1
    house = Rules.preset("danish", lives=5)
    assert suite[0].against(make("random"), house, 2).config.rules[0] == house.to_dict()


@pytest.mark.parametrize(
    "given", ["danish,swedish", ["danish", "swedish"], {"any_of": ["danish", "swedish"]}]
)
def test_several_rules_are_written_as_a_list_or_any_of(given, tmp_path):
    config = from_mapping({"algorithm": "ppo", "rules": given})
    assert [rules.preset_name for rules in config.all_rules()] == ["danish", "swedish"]
    (tmp_path / "config.yaml").write_text(to_yaml(config))
    assert load(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rules": {"all_of": ["danish"]}}, "any_of"),
        ({"rules": ["danish", "swedsh"]}, "did you mean 'swedish'"),
        ({"self_play": 0.8, "snapshot_play": 0.5}, "self_play and snapshot_play"),
        ({"hidden": [30]}, "multiples of 4"),
        ({"opponents": {"treshold:25": 1}}, "opponents"),
        ({"batch": 40_000}, "batch must be at most rows × rollout"),
        ({"algorithm": "best_response", "opponents": {"random": 1, "danish": 1}}, "target"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        from_mapping({"algorithm": "ppo", **changes})


def test_the_command_line_names_another_target():
    path = str(ROOT / "configs" / "best_response.yaml")
    config = cli.parse(path, ["--target", "danish", "--value-first", "7"])
    assert (config.target, config.opponents, config.value_first) == ("danish", {"danish": 1.0}, 7)
    assert config.benchmark.opponents == ("danish",)


@pytest.mark.parametrize(("word", "value"), [("true", True), ("False", False), ("TRUE", True)])
def test_the_command_line_takes_flags_as_yaml_does(word, value, capsys):
    path = str(ROOT / "configs" / "best_response.yaml")
    assert cli.parse(path, ["--warm-start", word, "--target", "danish"]).warm_start is value
    with pytest.raises(SystemExit):
        cli.parse(path, ["--warm-start", "perhaps"])
    assert "'perhaps' must be true or false" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_configurations_can_be_read(path):
    assert load(path).name


def test_an_open_critic_sees_the_hands_and_the_policy_does_not():
    model = collected(replace(TINY, critic="open", players=(3,)))
    kept, inputs = model.experience, model.observation_space.shape[0]
    first = TINY.rows * TINY.rollout  # what was seen last is kept after the roll-out
    for row in range(TINY.rows):
        state = model.tables.tables.states[row]
        places = slice(kept.starts[first + row], kept.starts[first + row + 1])
        spots = kept.spots[places][kept.amounts[places] > 0].astype(int)
        seat, found = int(state["seat"]), spots[spots >= inputs] - inputs
        hands = [int(state["hands"][(seat + after) % 3]).bit_count() for after in (1, 2)]
        assert [int((found // 56 == after).sum()) for after in (0, 1)] == hands
    rows = np.arange(200)
    with torch.no_grad():
        before = model.network.forward(kept, rows, model.network.first_weights())
        model.network.hands.weight += 1.0
        after = model.network.forward(kept, rows, model.network.first_weights())
    assert torch.equal(before.logits, after.logits)
    assert not torch.allclose(before.values, after.values)


def test_gradients_of_the_hands_are_those_of_differences():
    model = collected(replace(TINY, critic="open", max_gradient=1e9))
    kept, batch = model.experience, np.flatnonzero(model.experience.valid)[:100]
    returns = kept.advantages + kept.values
    model.policy.optimizer.step = lambda: None
    model._step(batch, returns, 0.2, 0.0)
    weights = model.network.hands.weight
    gradient = weights.grad.clone()
    unit, card = np.unravel_index(int(gradient.abs().argmax()), gradient.shape)

    def loss(shift):
        with torch.no_grad():
            weights[unit, card] += shift
            values = model.network.forward(kept, batch, model.network.first_weights()).values
            weights[unit, card] -= shift
        errors = values.numpy().astype(float) - returns.ravel()[batch]
        return 0.5 * (errors**2).mean()

    slope = (loss(1e-2) - loss(-1e-2)) / 2e-2
    assert slope == pytest.approx(float(gradient[unit, card]), rel=0.02)


@pytest.mark.parametrize("critic", ["shared", "own", "open"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_torch_and_the_kernels_compute_the_same_network(critic, activation):
    model = collected(replace(TINY, critic=critic, activation=activation, players=(3,)))
    graph = GraphNetwork(model.policy, critic == "shared")
    rows = np.random.default_rng(5).permutation(np.flatnonzero(model.experience.valid))[:300]
    slopes = torch.randn(len(rows), NUM_SLOT_ACTIONS, generator=torch.Generator().manual_seed(6))
    found = {}
    for network in (model.network, graph):
        first = network.first_weights()
        done = network.forward(model.experience, rows, first)
        gradients = network.backward(done, slopes, slopes[:, 0].contiguous())
        by_name = {id(parameter): gradient for parameter, gradient in gradients}
        found[network] = (done, by_name)
    (kernel, kernel_gradients), (torched, torch_gradients) = found.values()
    assert type(model.network) is KernelNetwork
    torch.testing.assert_close(kernel.logits, torched.logits, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(kernel.values, torched.values, atol=1e-5, rtol=1e-4)
    names = {id(value): name for name, value in model.policy.named_parameters()}
    assert kernel_gradients.keys() == torch_gradients.keys() == names.keys()
    for key, gradient in kernel_gradients.items():
        torch.testing.assert_close(
            gradient, torch_gradients[key], atol=1e-3, rtol=1e-3, msg=names[key]
        )


def test_a_training_in_torch_alone_learns_the_same(monkeypatch):
    config = replace(TINY, critic="open", teacher="threshold:25", teach_first=1_000)
    kernels = learned(config, 3_000).network.weights()
    monkeypatch.setattr("agents.training.ppo.model.network_of", GraphNetwork)
    model = learned(config, 3_000)
    assert type(model.network) is GraphNetwork
    for a, b in zip(kernels, model.network.weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no graphics card")
def test_a_graphics_card_learns_the_same(tmp_path):
    config = replace(TINY, critic="open", device="cuda")
    assert trained(config, tmp_path / "run").weights[0].dtype == np.float32
    model, kernels = learned(config, 3_000), learned(replace(config, device="cpu"), 3_000)
    for a, b in zip(kernels.network.weights(), model.network.weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3)
    assert type(model.network) is GraphNetwork
    assert all(parameter.is_cuda for parameter in model.policy.parameters())


def test_the_file_of_sb3_plays_the_same(tmp_path):
    config = replace(TINY, critic="open")
    model = learned(config, 1_500)
    model.save(tmp_path / "model.zip")
    theirs = load_policy(tmp_path / "model.zip", canonical_suits=True)
    ours, states = ppo.extract(model, config), model.tables.tables
    rows = np.arange(TINY.rows)
    assert (theirs.act_batch(states, rows) == ours.act_batch(states, rows)).all()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing_but_the_last_bits(threads):
    one = learned(TINY, 1_500).network.weights()
    many = learned(replace(TINY, threads=threads), 1_500).network.weights()
    again = learned(replace(TINY, threads=threads), 1_500).network.weights()
    for a, b, c in zip(one, many, again, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
        assert (b == c).all()


def test_the_command_trains_and_exports_what_plays_the_same(tmp_path, capsys):
    values = {
        "algorithm": "ppo", "name": "whole", "runs": str(tmp_path), "steps": 3_000, "rows": 48,
        "rollout": 16, "batch": 256, "hidden": [16, 8], "threads": 1,
        "panel": {"deals": 10, "opponents": ["random"]},
        "benchmark": {"players": [2], "opponents": ["random"], "deals": 20, "exploit_deals": 5},
    }  # fmt: skip
    (tmp_path / "whole.yaml").write_text(json.dumps(values), "utf-8")
    assert cli.main([str(tmp_path / "whole.yaml")]) == 0
    folder = tmp_path / "whole-1"
    assert "Exploitability" in (folder / "card.md").read_text("utf-8")
    assert cli.main(["--export", str(folder)]) == 0
    capsys.readouterr()
    rows = []
    for name in ("model.zip", "last"):
        words = ["benchmark", str(folder / name), "--players", "2", "--opponents", "danish"]
        assert evaluation.main(["--trust", *words, "--deals", "60", "--format", "json"]) == 0
        rows.append(json.loads(capsys.readouterr().out)["rows"][0])
        rows[-1].pop("policy")
    assert rows[0] == rows[1]
