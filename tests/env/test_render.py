"""The table as text, SVG and pixels: what is on it, what is not, and the same bytes every time."""

from __future__ import annotations

import copy
import importlib.util
import re
import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

import thirtyone_env
from tests.engine.processes import finished, start
from tests.env.helpers import (
    DRAW,
    EVERY_TABLE,
    KNOCK,
    PASS,
    by_bots,
    deal,
    generator,
    scaled,
    turns,
    unhurried,
)
from tests.env.test_hidden import situations
from thirtyone_env import PRESETS, TableView, game, parse_action
from thirtyone_env.cards import names_of
from thirtyone_env.render import outlines, render_pixels, render_svg, render_text, scene
from thirtyone_env.render.pixels import text_size
from thirtyone_env.render.scene import HEIGHT, WIDTH, Rect, Text, describe
from thirtyone_env.render.scene import Path as Outlined
from thirtyone_env.state import End, Phase

ROOT = Path(__file__).resolve().parents[2]


def table(rules: Any, hands: list[str], then: str = "", **options: Any) -> Any:
    """An environment in which seat 0 has dealt these hands."""
    env = thirtyone_env.env(rules=rules, num_players=len(hands), render_mode="ansi")
    env.reset(seed=5, options={"dealer": 0, "deck": deal(hands, 0, then)} | options)
    return env


def texts(states: np.ndarray, viewer: int | None = None, **options: Any) -> list[str]:
    """Everything that is written in the picture."""
    return [s.text for s in describe(states, viewer, **options) if isinstance(s, Text)]


# --- all tables ----------------------------------------------------------------------------------


def text_box(text: Text) -> tuple[int, int, int, int]:
    width, above, _ = text_size(text.text, text.size)
    left = text.x - {"start": 0, "middle": width // 2, "end": width}[text.anchor]
    return left, text.y - round(0.8 * above), left + width, text.y


def apart(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two boxes (left, upper, right, lower) have no pixel in common."""
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def check_scene(states: np.ndarray, viewer: int | None, last_round: np.ndarray | None) -> None:
    """Everything is inside the picture and no writing covers another."""
    shapes = describe(states, viewer, last_round=last_round)
    boxes = [text_box(shape) for shape in shapes if isinstance(shape, Text)]
    for left, upper, right, lower in boxes:
        assert left >= 0
        assert upper >= 0
        assert right <= WIDTH
        assert lower <= HEIGHT
    for one, other in combinations(boxes, 2):
        assert apart(one, other), (one, other)
    in_banner = [box for box in boxes if scene.BANNER.y < box[1] < scene.BANNER.y + 54]
    middle = [box for box in in_banner if box[0] < WIDTH / 2 < box[2]]
    assert middle
    assert max(right - left for left, _, right, _ in middle) <= scene.BANNER.width - 12
    for shape in shapes:
        if isinstance(shape, Rect):
            assert shape.x >= 0
            assert shape.x + shape.width <= WIDTH
            assert shape.y >= 42
            assert shape.y + shape.height <= HEIGHT


def check_pictures(states: np.ndarray, viewer: int | None, last_round: Any) -> None:
    """Text, SVG and pixels of a table are sound."""
    check_scene(states, viewer, last_round)
    seats = int(states["num_players"][0])
    text = render_text(states, viewer)
    assert text.count("seat ") >= seats
    root = ElementTree.fromstring(render_svg(states, viewer, last_round=last_round))
    assert root.attrib["viewBox"] == f"0 0 {WIDTH} {HEIGHT}"
    pixels = render_pixels(states, viewer, last_round=last_round)
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    assert pixels.dtype == np.uint8
    assert pixels.flags.writeable
    assert 40 < pixels.mean() < 150
    assert pixels[::3, ::3].std() > 30


def whole_match_renders(rules: str, num_players: int, gap: float) -> None:
    """Render through a match, the moments further and further apart by a factor."""
    rng = generator("render", rules, num_players)
    states = game.new_match(rules, num_players, seed=int(rng.integers(1 << 60)))
    last_round, number, due = None, 0, 0.0
    while not game.is_over(states):
        if number >= due:
            viewer = int(rng.integers(-2, num_players))
            check_pictures(states, None if viewer < -1 else viewer, last_round)
            due = max(number + 1, number * gap)
        action, former = int(rng.choice(game.legal_actions(states))), game.clone(states)
        game.step(states, action)
        if former["round_number"][0] != states["round_number"][0]:
            last_round = game.settled_round(former, action)
            if number < 40 or gap == 1.0:
                check_pictures(last_round, 0, None)
        number += 1
    for viewer in (None, 0):
        check_pictures(states, viewer, last_round)


@pytest.mark.parametrize(("rules", "num_players"), EVERY_TABLE)
def test_every_table_renders_through_a_match(rules, num_players):
    whole_match_renders(rules, num_players, 1.6)


@pytest.mark.slow
@pytest.mark.parametrize("rules", PRESETS)
def test_every_moment_of_matches_renders(rules):
    for num_players in range(2, PRESETS[rules].max_players + 1):
        whole_match_renders(rules, num_players, 1.0)


@pytest.mark.parametrize("hand_size", [3, 4])
@pytest.mark.parametrize("seats", range(2, 10))
def test_seats_and_the_middle_do_not_overlap(seats, hand_size):
    boxes = []
    for seat in range(seats):
        at = scene.block(seat, seats, hand_size)
        boxes.append((at.x - 2, at.y - 8, at.x + at.width + 2, at.y + at.height + 2))
    banner = scene.BANNER
    boxes.append((banner.x, banner.y, banner.x + banner.width, banner.y + banner.height))
    half, left = (203 if hand_size == 3 else 104), WIDTH // 2
    boxes.append((left - half, scene.CENTRE_Y - 8, left + half, scene.CENTRE_Y + 122))
    for one, other in combinations(boxes, 2):
        assert apart(one, other), (one, other)


# --- what is on it -------------------------------------------------------------------------------


def test_the_picture_says_what_is_public():
    env = table("danish", ["2c 5d 8h", "As Kd 3s", "9s 9h 3c"], then="2h Jc", lives=[3, 2, 1])
    for action in (DRAW, parse_action("discard Jc"), KNOCK):
        env.step(action)
    states = env._states
    written = texts(states, 0)
    stock = int(states["deck_end"][0]) - int(states["top"][0])
    assert f"stock {stock}" in written
    assert "discards 2" in written
    assert written.count("knocked") == 1
    assert written.count("D") == 1
    assert "Seat 0 has a last turn" in written
    assert "Seat 2 knocked" in written
    assert "drew a card" in written
    assert "danish · round 1 · turn 3" in written
    assert "seat 0's view" in written
    hearts = [s for s in describe(states, 0) if isinstance(s, Outlined) and s.size == 13]
    assert len(hearts) == 9
    assert sum(heart.fill != "#ffffff" and heart.opacity == 1.0 for heart in hearts) == 6
    gold = [s for s in describe(states, 0) if isinstance(s, Rect) and s.fill == scene.GOLD]
    at = scene.block(0, 3, 3)
    assert all(at.x - 8 <= s.x and s.y >= at.y - 12 for s in gold)
    assert len(gold) == 2


def test_the_own_hand_is_open_and_worth_something():
    states = table("danish", ["2c 5d 8h", "As Kd Qs"], then="2h")._states
    assert "21" in texts(states, 1)
    assert "21" not in texts(states, 0)
    assert {"8", "21"} < set(texts(states, None))
    assert "As Kd" not in render_text(states, 0)


def test_a_taken_upcard_stays_open():
    env = table("danish", ["2c 5d 8h", "As Kd Qs"], then="2h")
    env.step(parse_action("take_upcard"))
    env.step(parse_action("discard Kd"))
    assert "2h ▒▒ ▒▒" in render_text(env._states, 0)
    assert texts(env._states, 0).count("2") == 2  # seat 1's, and 2c in the own hand
    assert "Seat 1 took the upcard, discarded Kd" in texts(env._states, 0)


def test_the_exchange_table_is_open():
    env = table("widow", ["7c 8d 9h", "2s 4s Ah"], then="Jc Qd 5h")
    env.step(parse_action("Ah"))
    assert "Seat 1 to take a table card" in texts(env._states, 0)
    assert {"J", "Q", "5"} <= set(texts(env._states, 0))
    assert "A" not in texts(env._states, 0)
    assert "A" in texts(env._states, 1)


def test_only_the_seat_itself_sees_which_card_it_gives():
    env = table("widow", ["7c 8d 9h", "2s 4s Ah"], then="Jc Qd 5h")
    for action in ("swap_all", "pass", "give Jc"):
        env.step(parse_action(action))
    at = scene.block(1, 2, 3)
    for viewer, heights in ((0, {at.y}), (1, {at.y, at.y - 8}), (None, {at.y, at.y - 8})):
        shapes = describe(env._states, viewer)
        papers = [s.y for s in shapes if isinstance(s, Rect) and s.width == at.card and s.y < 200]
        assert set(papers) == heights | {y + 2 for y in heights}  # with their shadows


@pytest.mark.parametrize(
    ("lives", "rules", "words"),
    [
        ([0, 1, 3], "finnish", {"FREE RIDE": 1, "OUT": 0}),
        ([6, 9, 5], "danish", {"6": 1, "9": 1, "5": 1}),
        ([1, 1, 1], "danish", {"FREE RIDE": 0}),
    ],
)
def test_lives_and_free_rides_are_shown(lives, rules, words):
    states = table(rules, ["2c 5d 8h", "Ks Kd Js", "Qs 9h 3c"], then="2h", lives=lives)._states
    written = texts(states, 0)
    own = {"2", "5", "8"}
    for word, times in words.items():
        assert written.count(word) - (word in own) == times


def test_a_decider_is_marked():
    hands = ["As Ks Qs", "Ah Kh Qh"]
    states = table("danish", hands, lives=[1, 1])._states
    states["decider"], states["lives"], states["phase"] = 1, 0, Phase.TURN
    assert texts(states).count("DECIDER") == 2


def over(rules: Any, hands: list[str], plays: str, then: str = "", lives: Any = None) -> Any:
    """A match that some actions have ended."""
    lives = lives or [1, 1, 3][: len(hands)]
    env = table(rules, hands, then, lives=lives)
    for action in plays.split("; "):
        env.step(parse_action(action))
    return env._states


def test_a_showdown_shows_all_hands_and_the_winner():
    states = over("danish", ["2c 5d 8h", "As Kd 3s"], "knock; pass", then="2h", lives=[1, 1])
    assert states["end"][0] == End.KNOCK
    for viewer in (0, 1, None):
        assert "▒▒" not in render_text(states, viewer)
        written = texts(states, viewer)
        assert "Seat 1 wins the match" in written
        assert "Seat 1 knocked; seat 0 loses a life" in written
        assert "winner" in written
        assert "lost 1" in written
        assert "OUT" in written


def test_a_blitz_shows_its_holder_only():
    hands = ["2c 5d 8h", "As Ks 3s", "7c 7h 4d"]
    plays = "draw_stock; discard 3s"
    states = over("danish", hands, plays, then="2h Qs", lives=[1, 3, 1])
    assert states["end"][0] == End.BLITZ
    lines = render_text(states, 0).splitlines()
    assert "Qs Ks As" in lines[4]
    assert "▒▒ ▒▒ ▒▒" in lines[5]
    assert "Blitz by seat 1; seats 0, 2 lose a life" in texts(states, 0)
    assert "▒▒" not in render_text(states, None)


def test_where_the_lowest_loses_a_blitz_shows_all():
    hands = ["7c 9d 8h", "As Ks 8s"]
    rules = {"preset": "schwimmen_a7", "dealer_choice": False, "free_ride": False}
    states = over(rules, hands, "give 8s; take Qs", then="Qs 7d 8d", lives=[1, 1])
    assert states["end"][0] == End.BLITZ
    assert "▒▒" not in render_text(states, 0) + render_text(states, 1)


def test_a_void_round_shows_nothing():
    states = game.new_match({"preset": "danish", "max_turns": 1}, 2, seed=1, one_round=True)
    first = int(states["seat"][0])
    game.step(states, PASS)
    assert states["end"][0] == End.MAX_TURNS
    assert render_text(states, first).count("▒▒") == 3
    assert "Turn limit, no result; nobody loses a life" in texts(states, first)


def test_the_last_round_is_told_as_the_record_tells_it():
    rng = generator("last round")
    for rules in ("danish", "dutch_buy_in", "schwimmen_a7"):
        env = thirtyone_env.env(rules=rules, num_players=3, render_mode="ansi")
        env.reset(seed=int(rng.integers(1 << 60)))
        told = {}
        for _ in turns(env, by_bots(["random", "danish", "danish"])):
            if env._last_round is not None:
                settled = env._last_round
                told[int(settled["round_number"][0])] = settled
        rounds = env.record()["rounds"]
        assert told
        for number, settled in told.items():
            assert End(int(settled["end"][0])).name.lower() == rounds[number]["end"]
            assert settled["losses"][0, :3].tolist() == rounds[number]["losses"]
            assert settled["phase"][0] == Phase.ROUND_OVER


def test_two_or_four_colours():
    states = table("danish", ["2c 5d 8h", "As Kd Qs"], then="2h")._states
    for colours, inks in ((2, 2), (4, 4)):
        suits = [
            shape
            for shape in describe(states, None, colours=colours)
            if isinstance(shape, Outlined) and shape.outline in outlines.SUITS.values()
        ]
        cards = [shape for shape in suits if shape.size not in (13, 14)]
        assert len({shape.fill for shape in cards}) == inks
    assert render_svg(states, colours=2) != render_svg(states, colours=4)


# --- what is not on it ---------------------------------------------------------------------------


def nothing_hidden_is_drawn(rules: str, number: int) -> None:
    rng = generator("hidden render", rules)
    looked, different = 0, 0
    for env in islice(situations(rules, None, rng), number):
        states = env._states
        if states["phase"][0] >= Phase.JUDGE:
            continue
        seat = int(rng.integers(env.num_players))
        guess = game.clone(states)
        game.resample_hidden(guess, seat, rng)
        options = {"last_round": env._last_round}
        assert describe(guess, seat, **options) == describe(states, seat, **options)
        assert render_text(guess, seat) == render_text(states, seat)
        different += describe(guess, None) != describe(states, None)
        if looked % 10 == 0:
            assert render_svg(guess, seat, **options) == render_svg(states, seat, **options)
            one, other = (render_pixels(each, seat, **options) for each in (guess, states))
            assert one.tobytes() == other.tobytes()
        looked += 1
    # A few situations may all be of one match in which hardly anything is hidden.
    assert different > 0.1 * looked or number < 1000


@pytest.mark.parametrize("rules", PRESETS)
def test_hidden_cards_have_no_influence_on_any_picture(rules):
    nothing_hidden_is_drawn(rules, 20)


@pytest.mark.slow
@pytest.mark.parametrize("rules", PRESETS)
def test_hidden_cards_have_no_influence_on_many_pictures(rules):
    nothing_hidden_is_drawn(rules, scaled(1000))


def test_no_rank_of_a_hidden_card_is_written():
    env = table("danish", ["2c 5d 8h", "As Kd Qs"], then="2h 3c")
    env.step(DRAW)
    hidden = names_of(env._states["hands"][0, 1])
    assert not {name[0] for name in hidden} & set(texts(env._states, 0)) - {"3"}


# --- bytes ---------------------------------------------------------------------------------------

DIGESTS = """
import hashlib, sys
import thirtyone_env
from thirtyone_env import make_bot
for rules, seats in (("danish_joker", 9), ("schwimmen_a7", 6)):
    env = thirtyone_env.env(rules=rules, num_players=seats, render_mode="rgb_array")
    env.reset(seed=4)
    digest = hashlib.sha256()
    for _ in range(40):
        env.step(make_bot("danish").act(env))
        digest.update(env.render().tobytes() + env.view().svg().encode())
        digest.update(str(env.view("player_1")).encode())
    sys.stdout.write(f"{rules} {digest.hexdigest()}\\n")
    env.close()
import pygame
loaded = [pygame.display.get_init(), pygame.mixer.get_init(), pygame.get_init()]
sys.stdout.write(f"{loaded}\\n")
"""


def test_pictures_repeat_to_the_byte_and_open_neither_display_nor_sound(tmp_path):
    changes = [
        {"PYTHONHASHSEED": "1", "SDL_VIDEODRIVER": None},
        {"PYTHONHASHSEED": "2", "SDL_VIDEODRIVER": "dummy", "LC_ALL": "C", "TZ": "Asia/Tokyo"},
    ]
    outputs = [finished(process) for process in [start("-c", DIGESTS, **c) for c in changes]]
    assert outputs[0][0] == outputs[1][0]
    assert outputs[0][0].splitlines()[-1] == "[False, None, False]"
    assert len(outputs[0][0].splitlines()) == 3


def test_a_picture_is_not_the_next_one_of_the_same_sprites():
    """Sprites are shared between pictures; drawing one must not change another."""
    states = game.new_match("danish", 4, seed=1)
    other = game.new_match("schwimmen_a7", 3, seed=2)
    first = render_pixels(states)
    kept = first.copy()
    second = render_pixels(other)
    second[:] = 0
    assert (first == kept).all()
    assert (render_pixels(states) == kept).all()


def test_rendering_leaves_the_state_alone():
    states = game.new_match("danish", 4, seed=1)
    before = states.tobytes()
    render_pixels(states, 1)
    render_svg(states, None)
    render_text(states, 2)
    assert states.tobytes() == before


@pytest.mark.parametrize("rules", PRESETS)
def test_svg_is_closed_in_itself(rules):
    states = game.new_match(rules, PRESETS[rules].max_players, seed=9)
    svg = render_svg(states)
    root = ElementTree.fromstring(svg)
    tags = {element.tag.split("}")[1] for element in root.iter()}
    assert tags == {"svg", "title", "rect", "circle", "path", "text"}
    assert set(re.findall(r"https?://[^\"]*", svg)) == {"http://www.w3.org/2000/svg"}
    assert "href" not in svg
    assert svg.isascii() or "·" in svg
    numbers = [value for e in root.iter() for value in e.attrib.values()]
    assert not any("nan" in value or "inf" in value for value in numbers)


def test_the_pictures_of_the_documentation_are_those_of_the_code(tmp_path):
    spec = importlib.util.spec_from_file_location("screenshots", ROOT / "docs/screenshots.py")
    screenshots = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(screenshots)
    screenshots.write_svg(tmp_path)
    fresh = (tmp_path / "render_table.svg").read_text(encoding="utf-8")
    assert (ROOT / "docs/assets/render_table.svg").read_text(encoding="utf-8") == fresh
    page = (ROOT / "docs/rendering.md").read_text(encoding="utf-8")
    assert str(screenshots.draw_table().view("player_0")) in page
    for name in re.findall(r"assets/(\S+?)\)", page):
        assert (ROOT / "docs" / "assets" / name).exists()


@pytest.mark.slow
def test_sixty_pictures_a_second():
    import time

    env = thirtyone_env.env(rules="danish_four_cards", num_players=9, render_mode="rgb_array")
    env.reset(seed=1)
    choose, rng = by_bots(["danish"] * 9), generator("speed")
    env.render()
    spent, pictures = 0.0, 0
    for _ in islice(turns(env, choose), 400):
        begun = time.process_time()
        render_pixels(env._states, int(rng.integers(9)))
        spent, pictures = spent + time.process_time() - begun, pictures + 1
    assert pictures / spent > 60


# --- views ---------------------------------------------------------------------------------------


def test_a_view_shows_itself_in_notebooks():
    env = table("danish", ["2c 5d 8h", "As Kd Qs"], then="2h")
    view = env.view("player_1")
    assert view._repr_svg_() == render_svg(env._states, 1)
    assert render_svg(env._states, 1) in view._repr_html_()
    assert str(view) == render_text(env._states, 1)
    assert (view.pixels() == render_pixels(env._states, 1)).all()
    assert repr(view) == "<TableView, viewer 1: Seat 1 to play>"
    assert str(env.view()) == render_text(env._states)
    before = view.svg()
    env.step(DRAW)
    assert view.svg() == before != env.view("player_1").svg()


def test_a_view_is_written_as_svg_or_png(tmp_path):
    view = TableView(game.new_match("danish", 4, seed=1), 2, colours=2)
    view.save(tmp_path / "table.svg")
    view.save(str(tmp_path / "table.png"))
    assert (tmp_path / "table.svg").read_text(encoding="utf-8") == view.svg()
    assert (tmp_path / "table.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(ValueError, match=r"table\.gif.*ends in \.svg or \.png"):
        view.save(tmp_path / "table.gif")


@pytest.mark.parametrize("draw", [render_svg, render_pixels, TableView, render_text])
@pytest.mark.parametrize("viewer", [4, -2, "player_0", True, 1.0])
def test_a_wrong_viewer_is_refused(draw, viewer):
    states = game.new_match("danish", 4, seed=1)
    with pytest.raises(ValueError, match=r"viewer = .* is not allowed; allowed: None, -1 … 3"):
        draw(states, viewer)


@pytest.mark.parametrize("draw", [render_svg, render_pixels, TableView])
def test_wrong_colours_are_refused(draw):
    with pytest.raises(ValueError, match="colours = 3 is not allowed; allowed: 2, 4"):
        draw(game.new_match("danish", 4, seed=1), 0, colours=3)


def test_wrong_views_are_refused():
    states = np.repeat(game.new_match("danish", 2, seed=1), 2)
    with pytest.raises(ValueError, match="one state is needed"):
        TableView(states)
    env = table("danish", ["2c 5d 8h", "As Kd Qs"], then="2h")
    with pytest.raises(ValueError, match="unknown agent 'player_2'"):
        env.view("player_2")
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        thirtyone_env.env().view()


# --- without pygame ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["human", "rgb_array"])
def test_without_pygame_the_extra_is_named(mode, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match=r"pip install 'thirtyone-env\[render\]'"):
        thirtyone_env.env(render_mode=mode)


def test_without_pygame_there_is_text_and_svg(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    env = table("danish", ["2c 5d 8h", "As Kd Qs"], then="2h")
    assert env.render().startswith("round 1")
    assert env.view().svg().startswith("<svg")
    assert copy.deepcopy(env).render() == env.render()
    with pytest.raises(DependencyNotInstalled):
        env.view().pixels()


def test_the_arrays_are_of_the_perspective():
    pair = [
        thirtyone_env.env(num_players=3, render_mode="rgb_array", render_perspective=perspective)
        for perspective in ("own", "all")
    ]
    for env in pair:
        env.reset(seed=3)
    seat = int(pair[0]._states["seat"][0])
    assert (pair[0].render() == render_pixels(pair[0]._states, seat)).all()
    assert (pair[1].render() == render_pixels(pair[1]._states, None)).all()


def test_long_rounds_with_a_reshuffle_render():
    rng = generator("reshuffle")
    env = thirtyone_env.env(rules="danish_reshuffle", num_players=9, render_mode="ansi")
    env.reset(seed=int(rng.integers(1 << 60)))
    for step, _ in enumerate(turns(env, unhurried(rng))):
        if step % 20 == 0:
            check_scene(env._states, None, env._last_round)
        if step > 400:
            break
