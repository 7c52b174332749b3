"""Terminal shots: what commands of a document print, as a picture (SVG) that any browser shows.

`draw(lines)` makes the picture of a terminal that shows these lines. No font is needed for it: each line says how long
it is, so that columns stand below each other whatever font the reader has.

`python -m tools.draw_terminal` makes the pictures of `SHOTS` from what their documents show. The documents themselves
are held to what the commands print by their tests.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tools.documents import CHECKOUT, Step, steps_of

_FONT_PX, _LINE_PX, _COLUMN_PX = 14, 20, 8.4
_MARGIN_PX, _BAR_PX = 16, 30
_COLUMNS = 100
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
_PLAIN = "#c9d1d9"
# What a line is about, by its beginning or what stands in it, and its colour: the first that matches.
_COLOURS = (
    (re.compile(r"^\$ "), "#f5f5f5"),
    (re.compile("●"), "#ffb74d"),
    (re.compile("│"), _PLAIN),
    (re.compile(r"\bFAILS\b|^failure|^fails|^ending"), "#ff8a80"),
    (re.compile(r"\bPASSES\b|^passes"), "#a5d6a7"),
    (re.compile(r"^ *\d+  (?! *\d)|^ +\^"), "#ffe082"),
)


@dataclass(frozen=True)
class Shot:
    """A picture of some commands of a document: those that contain one of these words."""

    picture: str
    document: str
    commands: tuple[str, ...]


SHOTS = (
    Shot("docs/pictures/first-race.svg", "README.md", ("replay-dd hunt -- python count.py", "replay-dd schedules")),
    Shot("docs/pictures/lanes.svg", "docs/tutorial/first-race.md", ("replay-dd show fail.log",)),
)


def draw(lines: list[str], title: str = "") -> str:
    """The picture of a terminal that shows these lines."""
    rows = [part for line in lines for part in _wrapped(line)]
    columns = max(60, *(len(row) for row in rows))
    width = round(columns * _COLUMN_PX + 2 * _MARGIN_PX)
    height = _BAR_PX + len(rows) * _LINE_PX + _MARGIN_PX
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" font-family="{_FONTS}" font-size="{_FONT_PX}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>',
        *(f'<circle cx="{18 + 18 * number}" cy="16" r="5" fill="#484f58"/>' for number in range(3)),
    ]
    for number, row in enumerate(rows):
        if row.strip():
            indent = len(row) - len(row.lstrip())
            x = _MARGIN_PX + indent * _COLUMN_PX
            y = _BAR_PX + number * _LINE_PX + _FONT_PX
            length = (len(row) - indent) * _COLUMN_PX
            parts.append(
                f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" xml:space="preserve" '
                f'fill="{_colour(row)}">{escape(row.strip())}</text>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _wrapped(line: str) -> list[str]:
    return [line[start : start + _COLUMNS] for start in range(0, len(line), _COLUMNS)] or [""]


def _colour(row: str) -> str:
    return next((colour for pattern, colour in _COLOURS if pattern.search(row)), _PLAIN)


def picture_of(shot: Shot) -> str:
    """The picture of a shot, from what its document shows now."""
    steps = steps_of((CHECKOUT / shot.document).read_text(encoding="utf-8"))
    lines: list[str] = []
    for wanted in shot.commands:
        step = next(step for step in steps if step.file is None and step.text.startswith(wanted))
        lines += [*([""] if lines else []), *_shown(step)]
    return draw(lines, " and ".join(shot.commands))


def _shown(step: Step) -> list[str]:
    return [f"$ {step.text}", *step.shown]


def main() -> int:
    """Draw all shots."""
    for shot in SHOTS:
        path: Path = CHECKOUT / shot.picture
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(picture_of(shot), encoding="utf-8")
        print(f"{shot.picture}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
