"""Finds the element of a step: tries the selectors of the flow in order, until one matches.

The kinds of selector are those of the Recorder: CSS, and with a prefix `aria/`, `xpath/`, `text/` and `pierce/`.
Playwright pierces open shadow roots itself, so `pierce/` is CSS, and a chain of parts is a chain of locators.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from playwright.sync_api import Frame, Locator

from replay_dd.web.flow import Selector, Step

Role = Literal[
    "button", "link", "textbox", "checkbox", "radio", "combobox", "menuitem", "tab", "option", "searchbox",
    "spinbutton", "slider", "switch", "treeitem", "gridcell", "cell", "listitem", "heading", "img",
]  # fmt: skip

# The roles in which an accessible name without a role is searched, interactive ones first.
_ROLES: tuple[Role, ...] = (
    "button", "link", "textbox", "checkbox", "radio", "combobox", "menuitem", "tab", "option", "searchbox",
    "spinbutton", "slider", "switch", "treeitem", "gridcell", "cell", "listitem", "heading", "img",
)  # fmt: skip
_ARIA = re.compile(r"(?P<name>.*?)(?:\[(?P<attribute>role|name)=[\"'](?P<value>[^\"']*)[\"']\])?", re.DOTALL)


def locators_for(step: Step, frame: Frame) -> list[Callable[[], Locator]]:
    """The locators for the element of a step, in the order in which to try them.

    Accessible names come last: searching for them is slow, and two elements that CSS tells apart may share a name.
    """
    ordered = sorted(step.selectors, key=lambda selector: selector[-1].startswith(("aria/", "text/")))
    return [lambda selector=selector: _locator(selector, frame) for selector in ordered]  # type: ignore[misc]


def find(step: Step, frame: Frame) -> Locator | None:
    """The element of a step, by the first locator that matches; the first of several elements."""
    for way in locators_for(step, frame):
        found = way()
        if found.count():
            return found.first
    return None


def count(step: Step, frame: Frame) -> tuple[int, Locator | None]:
    """The elements that the first matching locator finds, and their number."""
    for way in locators_for(step, frame):
        found = way()
        if amount := found.count():
            return amount, found
    return 0, None


def _locator(selector: Selector, frame: Frame) -> Locator:
    found = _part(selector[0], frame)
    for part in selector[1:]:
        found = _part(part, found)
    return found


def _part(part: str, where: Frame | Locator) -> Locator:
    if part.startswith("aria/"):
        return _named(part.removeprefix("aria/"), where)
    if part.startswith("xpath/"):
        return where.locator("xpath=" + part.removeprefix("xpath/"))
    if part.startswith("text/"):
        return where.get_by_text(re.compile(re.escape(part.removeprefix("text/"))))
    return where.locator("css=" + part.removeprefix("pierce/"))


def _named(name: str, where: Frame | Locator) -> Locator:
    found = _ARIA.fullmatch(name)
    assert found is not None, "the expression matches every text"
    plain, attribute, value = found["name"], found["attribute"], found["value"]
    if attribute == "role":
        # By selector: the role comes from a file, and may be one that the typed method does not list.
        quoted = plain.replace("\\", "\\\\").replace('"', '\\"')
        return where.locator(f'role={value}[name="{quoted}"s]' if plain else f"role={value}")
    accessible = value if attribute == "name" else plain
    first, *others = (where.get_by_role(role, name=accessible, exact=True) for role in _ROLES)
    for other in others:
        first = first.or_(other)
    return first
