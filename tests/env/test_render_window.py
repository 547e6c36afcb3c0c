"""The window of render mode "human", and videos: they open, show, and leave nothing behind."""

from __future__ import annotations

import copy
import logging
import os
import sys
import time
from multiprocessing.reduction import ForkingPickler
from typing import Any

import gymnasium
import numpy as np
import pygame
import pytest

import thirtyone_env
from tests.engine.processes import run
from tests.env.helpers import at_random, by_bots, generator, play, turns
from thirtyone_env import game
from thirtyone_env.render import RENDER_FPS, Display, render_pixels
from thirtyone_env.render.scene import HEIGHT, WIDTH, describe
from thirtyone_env.render.window import Window


@pytest.fixture(autouse=True)
def nothing_left_open():
    assert not pygame.display.get_init()
    yield
    left = pygame.display.get_init()
    pygame.display.quit()
    assert not left
    assert pygame.mixer.get_init() is None


def on_screen() -> np.ndarray:
    """What the window shows."""
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


def human(**options: Any) -> Any:
    return thirtyone_env.env(num_players=3, render_mode="human", **options)


def test_the_window_shows_every_step_and_closes():
    env = human()
    assert not pygame.display.get_init()
    env.reset(seed=1)
    assert pygame.display.get_surface().get_size() == (WIDTH, HEIGHT)
    rng = generator("window")
    for step, _ in enumerate(turns(env, at_random(rng))):
        viewer = env._seat_of[env.agent_selection]
        expected = render_pixels(env._states, viewer, last_round=env._last_round)
        assert (on_screen() == expected).all()
        assert env.render() is None
        if step > 30:
            break
    assert on_screen().mean() > 40
    env.close()
    assert not pygame.display.get_init()
    env.close()


def test_a_closed_window_stays_closed():
    env = human()
    env.reset(seed=1)
    env.close()
    env.reset(seed=2)
    play(env, by_bots(["danish"] * 3))
    assert env.render() is None
    assert not pygame.display.get_init()


def test_the_user_may_close_the_window():
    env = human()
    env.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    play(env, by_bots(["danish"] * 3))
    assert not pygame.display.get_init()
    env.close()


def test_events_are_pumped():
    env = human()
    env.reset(seed=1)
    for _ in range(100):
        pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=(1, 1), rel=(0, 0)))
    env.render()
    assert pygame.event.get() == []
    env.close()


def test_copies_have_no_window():
    env = human()
    env.reset(seed=1)
    copies = [copy.deepcopy(env), ForkingPickler.loads(bytes(ForkingPickler.dumps(env)))]
    shown = on_screen()
    for each in copies:
        assert each._display._window is None
        assert each.render_mode == "human"
        each.close()
        assert (on_screen() == shown).all()
    env.close()


def test_the_latest_of_two_environments_has_the_window():
    one, two = human(), human(rules="widow")
    one.reset(seed=1)
    two.reset(seed=1)
    assert (on_screen() == render_pixels(two._states, int(two._states["seat"][0]))).all()
    one.render()
    assert (on_screen() == render_pixels(one._states, int(one._states["seat"][0]))).all()
    two.close()
    one.render()
    assert (on_screen() == render_pixels(one._states, int(one._states["seat"][0]))).all()
    one.close()


def test_the_end_of_a_round_is_shown_before_the_next_deal(monkeypatch):
    shown = []
    monkeypatch.setattr(Window, "show", lambda self, shapes, seconds: shown.append(shapes))
    env = human(render_perspective="all")
    env.reset(seed=4)
    expected, before = [describe(env._states)], None
    for agent in env.agent_iter():
        finished = env.terminations[agent] or env.truncations[agent]
        env.step(None if finished else thirtyone_env.make_bot("danish").act(env))
        if finished and not env.agents:
            break
        if env._last_round is not before:
            before = env._last_round
            expected.append(describe(before))
        expected.append(describe(env._states, last_round=before))
    assert shown == expected
    assert len([s for s in shown if any("loses" in getattr(t, "text", "") for t in s)]) > 3


def test_every_picture_has_its_time_on_a_screen(monkeypatch):
    window = Window()
    pictures = [describe(game.new_match("danish", 2, seed=seed)) for seed in range(3)]
    window.show(pictures[0], 0.1)
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "x11")
    spent = []
    for shapes in (pictures[1], pictures[1], pictures[2]):
        begun = time.monotonic()
        window.show(shapes, 0.3)
        spent.append(time.monotonic() - begun)
    window.close()
    assert spent[0] < 0.2  # nothing to wait for
    assert spent[1] < 0.1  # the same picture
    assert 0.15 < spent[2] < 5  # the one before had its time


def test_where_no_screen_opens_there_is_an_unseen_one(monkeypatch, caplog):
    opened = []
    original = pygame.display.init

    def init() -> None:
        opened.append(True)
        if len(opened) == 1:
            raise pygame.error("No available video device")
        original()

    monkeypatch.setattr(pygame.display, "init", init)
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    env = human()
    with caplog.at_level(logging.WARNING):
        env.reset(seed=1)
    assert "there is no screen (No available video device)" in caplog.text
    assert pygame.display.get_driver() == "dummy"
    assert on_screen().mean() > 40
    assert "SDL_VIDEODRIVER" not in os.environ
    env.close()


HEADLESS = """
import sys
import thirtyone_env
env = thirtyone_env.env(num_players=2, render_mode="human")
env.reset(seed=1)
import pygame
picture = pygame.surfarray.array3d(pygame.display.get_surface())
sys.stdout.write(f"{picture.mean() > 40} {pygame.mixer.get_init()} {pygame.get_init()}")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a screen")
def test_without_a_screen_nothing_fails_and_nothing_is_printed():
    changes = dict.fromkeys(("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"))
    out, _ = run("-c", HEADLESS, **changes)
    assert out == "True None False"


@pytest.mark.parametrize("mode", ["rgb", "", 3])
def test_a_display_refuses_unknown_modes(mode):
    with pytest.raises(ValueError, match=r"render_mode = .* is not allowed; allowed: 'human'"):
        Display(mode)


def test_a_display_by_mode():
    states = game.new_match("danish", 2, seed=1)
    assert Display("ansi").show(states, 0).startswith("round 1")
    assert Display("rgb_array").show(states, 0).shape == (HEIGHT, WIDTH, 3)
    assert Display(None).show(states, 0) is None
    display = Display("human")
    assert display.show(states, 0) is None
    display.close()


# --- videos --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_record_video_makes_a_clip_to_watch(tmp_path):
    moviepy = pytest.importorskip("moviepy")
    env = gymnasium.make("ThirtyOne-v0", render_mode="rgb_array", illegal="raise")
    bot = thirtyone_env.make_bot("danish")
    recorded = gymnasium.wrappers.RecordVideo(
        env, str(tmp_path / "videos"), episode_trigger=lambda _: True
    )
    recorded.reset(seed=3)
    frames, over = 1, False
    while not over and frames < 40:
        _, _, terminated, truncated, _ = recorded.step(bot.act(env))
        frames, over = frames + 1, terminated or truncated
    recorded.close()
    [path] = tmp_path.glob("videos/*.mp4")
    with moviepy.VideoFileClip(str(path)) as clip:
        assert clip.size == [WIDTH, HEIGHT]
        assert clip.fps == RENDER_FPS
        assert abs(clip.duration - frames / RENDER_FPS) <= 1 / RENDER_FPS
        pictures = list(clip.iter_frames())
    assert all(picture.mean() > 40 for picture in pictures)
    assert len({picture.tobytes() for picture in pictures}) > 2


def test_gymnasiums_window_shows_every_decision_and_closes():
    """Between two steps of the learner the others act and rounds end; all of it is shown."""
    env = gymnasium.make("ThirtyOne-v0", render_mode="human", illegal="raise", num_players=3)
    display, shown = env.unwrapped._display, []
    show = display.show
    display.show = lambda states, *rest: shown.append((int(states["seat"][0]), *rest))
    bot = thirtyone_env.make_bot("danish")
    env.reset(seed=3)
    steps, over = 0, False
    while not over:
        _, _, terminated, truncated, _ = env.step(bot.act(env))
        steps, over = steps + 1, terminated or truncated
    assert len(shown) > 2 * steps
    assert {seat for seat, *_ in shown} == {0, 1, 2}
    assert any(last_round is not None for _, _, last_round in shown)
    display.show = show
    assert env.render() is None
    assert display._window is not None
    env.close()
    env.close()
