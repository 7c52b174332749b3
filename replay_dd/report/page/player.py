"""The player: one run, or two side by side, as sequence diagrams that are stepped through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay_dd.report.page.diagram import diagram, shows_accesses, sources_as_data, steps_as_data
from replay_dd.report.page.markup import Markup, cut, tag
from replay_dd.report.page.parts import section
from replay_dd.report.page.rows import Rows

FAILS, PASSES, RUN = "fails", "passes", "run"
_SIGNS = {FAILS: "✗ ", PASSES: "✓ ", RUN: ""}
_LONGEST_ENDING = 400
_COLORS = 6


@dataclass(frozen=True)
class Panel:
    """One run of a player.

    Attributes:
        kind: fails, passes, or just a run.
        title: what stands above it.
        ending: how the run ends.
        rows: what happens.
    """

    kind: str
    title: str
    ending: str
    rows: Rows


def player(panels: Sequence[Panel], *, common: int = 0, title: str, remark: str = "") -> tuple[Markup, dict[str, Any]]:
    """The section with the player, and its data.

    Args:
        panels: the runs.
        common: how many rows they begin with in common.
        title: of the section.
        remark: what the reader should know.
    """
    steps = max(len(panel.rows.rows) for panel in panels)
    lit = [number for panel in panels for number, row in enumerate(panel.rows.rows) if row.lit]
    lit_words = panels[0].rows.lit_words
    switcher = None
    if len(panels) > 1:
        switcher = tag(
            "div",
            [
                tag("button", _SIGNS[panel.kind], panel.title, type="button", class_=panel.kind, data_show=panel.kind)
                for panel in panels
            ],
            class_="switcher scripted",
            role="group",
            aria_label="Which run is shown",
        )
    body = section(
        "player",
        title,
        tag("p", remark, class_="remark") if remark else None,
        _controls(steps, lit_words if lit else ""),
        switcher,
        tag("div", [_panel(panel, common) for panel in panels], class_=f"panels of-{len(panels)}"),
    )
    data = {
        "runs": [
            {
                "kind": panel.kind,
                "lanes": list(panel.rows.lanes),
                "things": list(panel.rows.things),
                "steps": steps_as_data(panel.rows),
            }
            for panel in panels
        ],
        "sources": sources_as_data(*(panel.rows for panel in panels)),
        "lit": min(lit, default=0),
    }
    return body, data


def _controls(steps: int, lit: str) -> Markup:
    buttons = (
        *(("first", "«", "First step"), ("back", "‹", "Step before")),
        *(("next", "›", "Next step"), ("last", "»", "Last step")),
    )
    return tag(
        "div",
        [tag("button", sign, type="button", id=name, aria_label=words, title=words) for name, sign, words in buttons],
        tag("input", type="range", id="slider", min=1, max=steps, value=1, aria_label="Step"),
        tag("output", f"1 of {steps}", id="count"),
        tag("button", "Play", type="button", id="play"),
        tag("button", f"To {lit}", type="button", id="difference") if lit else None,
        tag("p", "", id="says", role="status", aria_live="polite"),
        class_="controls scripted",
        role="group",
        aria_label="Steps",
    )


def _panel(panel: Panel, common: int) -> Markup:
    rows = panel.rows
    others = None
    if rows.other_threads:
        others = tag("p", f"{rows.other_threads:,} more threads are not shown here.", class_="remark")
    return tag(
        "article",
        tag(
            "h3",
            tag("span", f"{_SIGNS[panel.kind]}{panel.title}", class_="outcome"),
            tag("span", cut(panel.ending, _LONGEST_ENDING), class_="how", title=cut(panel.ending, _LONGEST_ENDING)),
        ),
        tag(
            "div",
            diagram(rows, common),
            class_="scroll",
            tabindex=0,
            role="region",
            aria_label=f"{panel.title}: what the threads do, step by step",
        ),
        others,
        _legend(rows.locks),
        _values(rows) if shows_accesses(rows) else None,
        tag("div", class_="panes scripted"),
        class_=f"panel {panel.kind}",
        data_run=panel.kind,
    )


def _legend(locks: Mapping[int, str]) -> Markup | None:
    if not locks:
        return None
    names = list(locks.values())[:12]
    more = len(locks) - len(names)
    return tag(
        "p",
        "Locks held: ",
        [
            tag("span", tag("i", class_=f"key k{number % _COLORS}"), cut(name, 80), class_="lock")
            for number, name in enumerate(names)
        ],
        f" and {more:,} more" if more else None,
        class_="legend",
    )


def _values(rows: Rows) -> Markup:
    """The table of values, which the script fills for each step; without it, those at the end."""
    threads = [lane for lane in rows.lanes if any(lane in seen for _, seen in rows.rows[-1].values.values())]
    last = rows.rows[-1].values
    body = []
    for label in rows.things:
        now, seen = last.get(label, ("–", {}))
        cells = [tag("td", cut(seen.get(lane, ""), 80), data_thread=lane) for lane in threads]
        body.append(
            tag(
                "tr",
                tag("th", tag("code", cut(label, 120)), scope="row"),
                tag("td", cut(now, 80), class_="now"),
                cells,
                data_thing=label,
            )
        )
    heads = [tag("th", f"{lane} last saw", scope="col") for lane in threads]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", "Values at this step"),
            tag("thead", tag("tr", tag("th", "thing", scope="col"), tag("th", "value", scope="col"), heads)),
            tag("tbody", body),
            class_="values",
        ),
        class_="scroll",
    )
