"""Draw the pictures of docs/rendering.md into docs/assets/: every render mode, from fixed matches.

python docs/screenshots.py [FOLDER]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import thirtyone_env
from thirtyone_env import TableView, make_bot
from thirtyone_env.state import Phase

ASSETS = Path(__file__).resolve().parent / "assets"


def moment(rules: Any, num_players: int, steps: int, seed: int, **options: Any) -> Any:
    """An environment in which bots have taken some steps, fewer where the match ends before."""
    env = thirtyone_env.env(rules=rules, num_players=num_players, **options)
    env.reset(seed=seed)
    bot = make_bot("danish")
    while steps and env._table["phase"][0] != Phase.OVER:
        agent = env.agent_selection
        finished = env.terminations[agent] or env.truncations[agent]
        env.step(None if finished else bot.act(env))
        steps -= not finished
    return env


def draw_table() -> Any:
    """The table that stands in the documentation as text and SVG, too."""
    return moment("danish", 4, 94, seed=2, render_mode="ansi")


def write_pixels(folder: Path, name: str, view: TableView) -> None:
    """One picture as PNG."""
    view.save(folder / f"{name}.png")


def write_window(folder: Path) -> None:
    """What stands in the window of mode "human" at the end of a round; the window is unseen."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    import pygame

    env: Any = moment("swedish", 5, 5000, seed=2, render_mode="human", episode="round")
    screen = pygame.display.get_surface()
    assert screen is not None
    pygame.image.save(screen, str(folder / "render_window.png"))
    env.close()


def write_svg(folder: Path) -> None:
    """The same table as SVG."""
    draw_table().view("player_0").save(folder / "render_table.svg")


def write_all(folder: Path) -> None:
    """All pictures."""
    write_svg(folder)
    write_pixels(folder, "render_draw", draw_table().view("player_0"))
    nine = moment("danish_four_cards", 9, 40, seed=3)
    write_pixels(folder, "render_nine", nine.view())
    exchange = moment("schwimmen_a7", 4, 51, seed=1, render_mode="ansi")
    write_pixels(folder, "render_exchange", exchange.view("player_1", colours=2))
    over = moment("danish", 4, 5000, seed=3)
    write_pixels(folder, "render_over", over.view("player_0"))
    write_window(folder)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ASSETS
    target.mkdir(parents=True, exist_ok=True)
    write_all(target)
