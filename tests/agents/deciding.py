"""What holds of every bot that decides by tables: outside as inside the kernel, and blindly."""

import numpy as np

from thirtyone_env import game
from thirtyone_env.arena import Tables, play_matches
from thirtyone_env.policy import make_bot


def play_outside(tables, bot):
    """Play all rows to their ends, every decision that waits outside by the bot."""
    tables.play()
    while not tables.over.all():
        rows = np.flatnonzero(~tables.over)
        tables.act(bot.act_batch(tables, rows), rows)


def assert_alike(name, rules):
    """Outside and inside the kernel a bot decides alike."""
    inside = play_matches(rules, [name, "threshold:27"], seed=4, matches=np.arange(30))
    tables = Tables(rules, 2, seed=4, matches=np.arange(30))
    tables.set_controllers(None, 1, "threshold:27")
    play_outside(tables, make_bot(name))
    np.testing.assert_array_equal(tables.payoffs()[:, :2], inside)


def assert_blind(bot, rules, rng, steps):
    """A bot chooses the same after the hidden cards are dealt anew.

    Returns:
        How often it was asked, and how often the hidden hands were others.
    """
    asked = different = 0
    for match in range(12):
        states = game.new_match(rules, 3, seed=int(rng.integers(1 << 30)), match=match)
        for _ in range(steps):
            if game.is_over(states):
                break
            guess = game.clone(states)
            game.resample_hidden(guess, int(states["seat"][0]), rng)
            rows = np.arange(1)
            choice = int(bot.choose(states.copy(), rows)[0])
            assert int(bot.choose(guess.copy(), rows)[0]) == choice
            different += guess["hands"].tobytes() != states["hands"].tobytes()
            asked += 1
            legal = game.legal_actions(states)
            game.step(states, choice if rng.random() < 0.7 else int(rng.choice(legal)))
    return asked, different
