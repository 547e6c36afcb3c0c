"""Live turns: the same match as with dead steps, every agent named to the end."""

import numpy as np
import pytest

import thirtyone_env
from tests.env.helpers import at_random, generator, play
from thirtyone_env.adapters.live_turns import LiveTurns


@pytest.mark.parametrize("num_players", [2, 3, 4, 9])
def test_the_match_is_the_same_without_dead_steps(num_players):
    rng = generator("live turns", num_players)
    for _ in range(5):
        seed, choices = int(rng.integers(1 << 60)), int(rng.integers(1 << 60))
        plain = thirtyone_env.env(num_players=num_players)
        plain.reset(seed=seed)
        expected = play(plain, at_random(np.random.default_rng(choices)))
        live = LiveTurns(thirtyone_env.env(num_players=num_players))
        live.reset(seed=seed)
        chooser, totals = at_random(np.random.default_rng(choices)), dict.fromkeys(expected, 0.0)
        while not live.over:
            agent = live.agent_selection
            assert not live.terminations[agent]
            assert not live.truncations[agent]
            seen, *_ = live.last()
            assert seen["action_mask"].any()
            live.step(chooser(live, seen))
            for kept in (live.rewards, live.terminations, live.truncations, live.infos):
                assert list(kept) == live.possible_agents
            for agent, reward in live.rewards.items():
                totals[agent] += reward
        assert totals == pytest.approx(expected)
        seen, reward, ended, cut, _ = live.last()
        assert ended or cut
        assert reward == pytest.approx(expected[live.agent_selection])
        assert not seen["action_mask"].any()
        assert live.unwrapped.record() == plain.record()


def test_an_eliminated_agent_is_named_as_such_and_paid_once():
    rng, live = generator("eliminated"), LiveTurns(thirtyone_env.env(num_players=4))
    live.reset(seed=int(rng.integers(1 << 60)))
    chooser, paid = at_random(rng), dict.fromkeys(live.possible_agents, 0)
    while not live.over:
        before = dict(live.terminations)
        live.step(chooser(live, live.last()[0]))
        for agent, reward in live.rewards.items():
            paid[agent] += reward != 0
            assert live.terminations[agent] >= before[agent]
            assert not (before[agent] and reward)
    assert set(paid.values()) == {1}
    assert all(live.terminations.values())


def test_the_end_of_a_cut_match_truncates():
    live = LiveTurns(thirtyone_env.env(rules={"preset": "danish", "max_rounds": 1}, num_players=3))
    rng = generator("cut")
    live.reset(seed=int(rng.integers(1 << 60)))
    chooser = at_random(rng)
    while not live.over:
        live.step(chooser(live, live.last()[0]))
    assert all(live.truncations.values())
    assert not any(live.terminations.values())


def test_a_reset_forgets_the_match_before():
    live = LiveTurns(thirtyone_env.env(num_players=3))
    rng = generator("reset")
    chooser = at_random(rng)
    for _ in range(2):
        live.reset(seed=1)
        assert not any(live.terminations.values())
        assert not any(live.rewards.values())
        while not live.over:
            live.step(chooser(live, live.last()[0]))
