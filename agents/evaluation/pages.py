"""How pages are made from their templates."""

from __future__ import annotations

from pathlib import Path

import jinja2

TEMPLATES = Path(__file__).with_name("templates")


def environment() -> jinja2.Environment:
    """How pages are made."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
