"""Write the golden playthroughs, or compare them with what would be written."""

import argparse
import sys

from tests.playthroughs import BRANCHES, made, path_of, written
from thirtyone_env.rules import PRESETS


def main() -> int:
    """0 where all is written, or as it should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.playthroughs", description=__doc__)
    parser.add_argument("presets", nargs="*", help="presets (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--search", action="store_true", help="look for other matches than these")
    options = parser.parse_args()
    if undeclared := set(PRESETS) - set(BRANCHES):
        parser.error(f"BRANCHES says nothing about {', '.join(sorted(undeclared))}")
    changed = []
    for preset in options.presets or PRESETS:
        before, text = written(preset), made(preset, anew=options.search)
        if text != before:
            changed.append(preset)
            if not options.check:
                path_of(preset).write_text(text, encoding="utf-8")
    for preset in changed:
        sys.stderr.write(f"{preset}: {'differs' if options.check else 'written'}\n")
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
