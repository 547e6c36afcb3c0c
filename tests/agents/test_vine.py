"""Decisions that are played out: what each action is said to be worth, and what is learned."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from agents.evaluation.match import play
from agents.evaluation.options import ConfigError
from agents.policies import make
from agents.training import ppo
from agents.training.config import PanelConfig, PpoConfig, from_mapping
from agents.training.ppo.kernels import shuffle_stocks, vine_slopes
from agents.training.ppo.network import GraphNetwork
from agents.training.ppo.tables import LEARNER, VIEW
from tests.agents.test_ppo import DANISH, TINY, cut, learned, trained
from tests.engine.situations import fresh_seed
from thirtyone_env import Rules, make_bot
from thirtyone_env.actions import NUM_SLOT_ACTIONS
from thirtyone_env.arena import Tables
from thirtyone_env.record.recorder import settle_row

VINE = replace(TINY, vine_last=6_000, vine_least=0.01)


def played_out(model, decision, action, members, future=0):
    """What a decision's seat is paid at the end of the round, everybody asked one by one."""
    env, vine = model.tables, model.vine
    rules, size = env.league.variants[env.variant[decision % env.num_envs]]
    tables = Tables(rules, size, seed=0, matches=[0], deal=False)
    tables.states[0] = vine._states[decision]
    if future:
        shuffle_stocks(tables.states, future)
    tables.states["controllers"] = tables.states["controllers"][:, :1]  # of whoever is asked
    tables.set_controllers(None, np.arange(size)[None], ["external"])
    seat, number = int(tables.states["seat"][0]), int(tables.rounds[0])
    tables.act([action], **VIEW)
    while tables.rounds[0] == number and not tables.over[0]:
        member = vine._owner[decision, tables.states["seat"][0]]
        tables.act(members[member].act_batch(tables, np.zeros(1, np.int64)))
    variant = env.variant[[decision % env.num_envs]]
    places = env.places_at(tables.states, variant, vine._owner[[decision]])
    return env.reward_scale * env.payoffs(tables, np.arange(1), places)[0, seat]


@pytest.mark.parametrize(
    ("rules", "players", "reward", "futures"),
    [
        ("danish", (2,), "equity", 1),
        ("swedish", (3,), "lives", 2),
        ("schwimmen_a7", (2, 4), "equity", 1),
        ("danish,dutch", (2, 3), "equity", 3),
        ("danish", (3,), "chances", 2),
    ],
)
def test_actions_are_worth_what_comes_of_them(rules, players, reward, futures, tmp_path):
    saved = tmp_path / "saved"
    made_for = replace(TINY, rules=rules, players=players, name="saved")
    trained(made_for, saved)
    config = replace(
        VINE, rules=rules, players=players, reward=reward, self_play=0.3, snapshot_play=0.3,
        opponents={"threshold:25": 1.0, "lookahead:1": 1.0, str(saved): 1.0}, copies=0.3,
        seed=fresh_seed(), vine_futures=futures,
    )  # fmt: skip
    model = learned(config, 4_000)
    members = dict(enumerate(map(make_bot, ["threshold:25", "lookahead:1"])))
    members[2] = make(str(saved))
    flat = ppo.policy_maker(config)
    known, pool = len(model.tables.league.names), model.tables.league.pool
    members |= {known + i: flat(some, "snapshot") for i, some in enumerate(pool)}
    members[LEARNER] = ppo.extract(model, config)
    _, callback = model._setup_learn(0, None, False)
    model.collect_rollouts(model.env, callback, None, config.rollout)
    vine, rng = model.vine, np.random.default_rng(config.seed)
    several = np.flatnonzero((vine.chances >= 0.01).sum(axis=1) > 1)
    sitting = vine._owner[several]
    mixed = [several[(sitting == member).any(axis=1)] for member in members]
    chosen = [rng.choice(found, min(8, len(found)), replace=False) for found in mixed]
    met = set()
    for decision in np.concatenate([rng.choice(several, 40, replace=False), *chosen]):
        tried = np.flatnonzero(vine.chances[decision] >= 0.01)
        worth = np.mean(
            [[played_out(model, decision, a, members, k) for a in tried] for k in range(futures)],
            axis=0,
        )
        shares = vine.chances[decision, tried]
        wanted = shares * (worth - (shares * worth).sum() / shares.sum())
        np.testing.assert_allclose(vine.gains[decision, tried], wanted, atol=1e-5)
        assert not np.delete(vine.gains[decision], tried).any()
        met |= set(vine._owner[decision].tolist())
    assert {LEARNER, 0, 1, 2} <= met
    assert max(met) >= known, "no snapshot was met"
    single = (vine.chances >= 0.01).sum(axis=1) < 2
    assert not vine.gains[single].any()
    assert set(vine.telling) == set(np.flatnonzero(vine.gains.any(axis=1)))
    assert 0 < len(vine.telling) < len(several)


@pytest.mark.parametrize("rules", ["danish", "schwimmen_a7"])
def test_another_future_is_another_order_of_the_stock_alone(rules):
    size = 2_000
    tables = Tables(Rules.preset(rules), 3, seed=fresh_seed(), matches=np.arange(size))
    before, drawn = tables.states.copy(), []
    tops, ends = before["top"].astype(int), before["deck_end"].astype(int)
    for future in (1, 2):
        tables.states[:] = before
        shuffle_stocks(tables.states, future)
        for name in set(before.dtype.names) - {"shuffled", "stream"}:
            assert (tables.states[name] == before[name]).all(), name
        deck = np.zeros(56, np.int8)
        for row in range(size):
            settle_row(tables.states, row, deck)
            left = before["deck"][row, tops[row] : ends[row]]
            assert sorted(left) == sorted(deck[tops[row] : ends[row]])
            drawn.append(deck[tops[row]])
    same = np.mean(np.array(drawn[:size]) == drawn[size:])
    assert same == pytest.approx(np.mean(1 / (ends - tops)), abs=4 * np.sqrt(0.04 / size))


def test_the_advantage_spreads_as_one_draws_the_actions():
    model = learned(VINE, 2_000)
    vine = model.vine
    some = vine.telling[:200]
    chances, gains = vine.chances[some].astype(float), vine.gains[some].astype(float)
    advantages = np.divide(gains, chances, out=np.zeros_like(gains), where=gains != 0)
    drawn = np.random.default_rng(3)
    squares = [
        advantages[i, drawn.choice(NUM_SLOT_ACTIONS, 400, p=chances[i] / chances[i].sum())] ** 2
        for i in range(len(some))
    ]
    assert vine.spread(some) == pytest.approx(np.sqrt(np.mean(squares)), rel=0.05)


def test_playing_out_leaves_the_matches_alone():
    model = learned(VINE, 2_000)
    before = {name: np.copy(value) for name, value in model.tables.state().items()}
    vine, gains = model.vine, model.vine.gains.copy()
    weights = np.concatenate([part.ravel() for part in model.network.weights()])
    vine.judge(weights, map)
    again = vine.gains.copy()
    vine.judge(weights, lambda work, parts: model._threads.map(work, list(parts)[::-1]))
    assert (again == vine.gains).all(), "the order of the work changes what comes of it"
    assert gains.shape == again.shape
    for name, value in model.tables.state().items():
        assert np.array_equal(before[name], value), name


@pytest.mark.parametrize("rows", [300, 1])
def test_the_slopes_are_those_of_the_loss_over_all_actions(rows):
    rng = np.random.default_rng(fresh_seed())
    logits = rng.normal(size=(rows, NUM_SLOT_ACTIONS)).astype(np.float32)
    masks = (rng.random(logits.shape) < 0.4).astype(np.int8)
    masks[np.arange(rows), rng.integers(0, NUM_SLOT_ACTIONS, rows)] = 1
    old = np.where(masks == 1, logits + 0.3 * rng.normal(size=logits.shape), -np.inf)
    chances = np.exp(old) / np.exp(old).sum(axis=1, keepdims=True)
    gains = chances * rng.normal(size=logits.shape) * (rng.random(logits.shape) < 0.7)
    clip, weight, spread = 0.2, 0.03, 0.7
    numbers = np.array([0.0, spread, clip, weight, 0.5, rows, 0])
    slopes, sums = np.empty_like(logits), np.zeros(5)
    found = logits, masks, chances.astype(np.float32), gains.astype(np.float32)
    vine_slopes(*found, np.arange(rows), numbers, slopes, sums)

    z = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    legal = torch.tensor(masks == 1)
    log_chances = torch.log_softmax(z.masked_fill(~legal, -torch.inf), 1).masked_fill(~legal, 0)
    ratio = log_chances.exp() / torch.tensor(np.maximum(chances, 1e-30))
    g = torch.tensor(gains) / spread
    gained = torch.minimum(g * ratio, g * ratio.clamp(1 - clip, 1 + clip)).sum()
    entropy = -(log_chances * log_chances.exp() * legal).sum()
    ((-gained - weight * entropy) / rows).backward()
    gained, entropy, log_chances = gained.detach(), entropy.detach(), log_chances.detach()
    ratio = ratio.detach()
    np.testing.assert_allclose(slopes, z.grad.numpy(), atol=2e-6)
    assert sums[0] == pytest.approx(-float(gained), rel=1e-4)
    assert sums[2] == pytest.approx(-float(entropy), rel=1e-4)
    then = torch.tensor(chances)
    apart = (then * (then.clamp(min=1e-30).log() - log_chances)).sum()
    assert sums[3] == pytest.approx(float(apart), rel=1e-3, abs=1e-5)
    clipped = (((ratio - 1).abs() > clip) & (g != 0)).any(dim=1).sum()
    assert sums[4] == int(clipped)


def test_it_learns_more_than_by_returns(tmp_path):
    config = PpoConfig(
        panel=PanelConfig(every=0), steps=150_000, rows=256, rollout=32, batch=1024, hidden=(32,),
        self_play=0.0, snapshot_play=0.0, opponents={"threshold:25": 1.0}, learning_rate=1e-2,
        threads=1,
    )  # fmt: skip
    rates = {}
    for last in (0, 150_000):
        folder = tmp_path / str(last)
        trained(replace(config, vine_last=last), folder)
        matches = play([make(str(folder)), "threshold:25"], rules=DANISH, deals=1_000, seed=9)
        rates[last] = matches.win_rate(0).mean
    assert rates[150_000] > rates[0] + 0.05


def test_it_begins_where_it_is_said_and_the_value_stays(tmp_path):
    config = replace(VINE, vine_last=3_000, teacher="threshold:25", teach_first=1_000)
    model = learned(config, 3_800)
    assert not model.vining
    values = [part.detach().clone() for part in model.policy.mlp_extractor.value_net.parameters()]
    policy = model.network.weights()
    learned(config, 6_000, model)
    assert model.vining
    for before, after in zip(
        values, model.policy.mlp_extractor.value_net.parameters(), strict=True
    ):
        assert torch.equal(before, after)
    assert not np.array_equal(policy[0], model.network.weights()[0])
    late = replace(VINE, teacher="threshold:25", teach_first=4_500, vine_last=1_500)
    taught = learned(late, 4_000)
    assert taught.teaching
    assert not taught.vining


def test_a_resumed_run_ends_with_the_same_bits(tmp_path):
    config = replace(
        VINE, players=(2, 4), save_every=2_500, opponents={"random": 1.0, "lookahead:1": 1.0},
        vine_last=4_000, reward="chances",
    )  # fmt: skip
    whole = trained(config, tmp_path / "whole")
    for at in (700, 3_800):
        cut(config, tmp_path / "parts", at)
    parts = trained(config, tmp_path / "parts")
    for one, other in zip(whole.weights, parts.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    files = [tmp_path / name / "training.csv" for name in ("whole", "parts")]
    curves = [np.genfromtxt(path, delimiter=",", names=True) for path in files]
    for name in curves[0].dtype.names:
        if not name.startswith("seconds"):
            np.testing.assert_array_equal(curves[0][name], curves[1][name], name)
    begun = curves[0]["steps"] - TINY.rows * TINY.rollout
    vining = begun >= ppo.planned_steps(config) - config.vine_last
    assert 0 < vining.sum() < len(vining)
    for name in ("value_loss", "explained_variance"):
        assert (np.isnan(curves[0][name]) == vining).all()
    assert (np.isnan(curves[0]["telling"]) == ~vining).all()
    told = curves[0]["telling"][vining]
    assert told.min() > 0.01
    assert told.max() < 1


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing_but_the_last_bits(threads):
    """Of one update: after it another action may be the likeliest in some round played out."""
    update = TINY.rows * TINY.rollout
    one = learned(VINE, update).network.weights()
    many, again = (learned(replace(VINE, threads=threads), update) for _ in range(2))
    for a, b, c in zip(one, many.network.weights(), again.network.weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
        assert (b == c).all()


@pytest.mark.parametrize("critic", ["shared", "own", "open"])
def test_torch_alone_learns_the_same_from_a_rollout(critic, monkeypatch):
    config, update = replace(VINE, critic=critic), TINY.rows * TINY.rollout
    kernels = learned(config, update).network.weights()
    monkeypatch.setattr("agents.training.ppo.model.network_of", GraphNetwork)
    model = learned(config, update)
    assert type(model.network) is GraphNetwork
    for a, b in zip(kernels, model.network.weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_a_decision_without_a_choice_teaches_nothing():
    model = learned(replace(VINE, vine_least=1.0), 1_500)
    before = model.network.weights()
    learned(replace(VINE, vine_least=1.0), 3_000, model)
    assert not model.vine.telling.size
    assert all((a == b).all() for a, b in zip(before, model.network.weights(), strict=True))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vine_last": 10, "episode": "match"}, "vine_last.*episode must be 'round', not 'match'"),
        ({"vine_last": -1}, "vine_last must be at least 0"),
        ({"steps": 10, "vine_last": 20}, r"^vine_last \(20\) must not be more than steps \(10\)"),
        (
            {"steps": 9_000_000, "vine_last": 6_000_000, "teacher": "danish"},
            r"teach_first \(4,000,000\) and vine_last \(6,000,000\) must not be .*9,000,000",
        ),
        ({"vine_least": 1.5}, "vine_least must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        from_mapping({"algorithm": "ppo", **changes})
