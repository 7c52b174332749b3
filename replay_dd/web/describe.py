"""Descriptions of steps, for people."""

from __future__ import annotations

from replay_dd.web.flow import Flow, Selector, Step

LONGEST_TEXT = 60


def steps_in_words(flow: Flow) -> list[str]:
    """The description of each step, in which elements of the same name are told apart: two buttons "Like", in rows."""
    named: dict[str, set[tuple[Selector, ...]]] = {}
    words = [describe(step) for step in flow.steps]
    for step in flow.steps:
        if step.selectors:
            named.setdefault(_element(step), set()).add(step.selectors)
    return [
        f"{told} ({_exactly(step)})" if step.selectors and len(named[_element(step)]) > 1 else told
        for told, step in zip(words, flow.steps, strict=True)
    ]


def _exactly(step: Step) -> str:
    """The first selector of an element that is more than a name."""
    exact = (one for one in step.selectors if not one[-1].startswith(("aria/", "text/")))
    return _plain(next(exact, step.selectors[0]))


def describe(step: Step) -> str:
    """A short description of a step: ``click "Save"``, ``press Shift``, ``set "Name" to "Ada"``."""
    data = step.data
    match step.type:
        case "navigate":
            return f"go to {data['url']}"
        case "setViewport":
            return f"make the page {data['width']} × {data['height']} px"
        case "click":
            button = data.get("button", "primary")
            return f"click {_element(step)}" if button == "primary" else f"click {_element(step)} ({button} button)"
        case "doubleClick":
            return f"double click {_element(step)}"
        case "hover":
            return f"point at {_element(step)}"
        case "change":
            return f"set {_element(step)} to {quoted(str(data['value']))}"
        case "keyDown":
            return f"press {data['key']}"
        case "keyUp":
            return f"release {data['key']}"
        case "scroll":
            what = _element(step) if step.selectors else "the page"
            return f"scroll {what} to {data.get('x', 0):g}, {data.get('y', 0):g} px"
        case "close":
            return "close the page"
        case "emulateNetworkConditions":
            return (
                f"set the network to {data['download']:g} B/s down, {data['upload']:g} B/s up, {data['latency']:g} ms"
            )
        case "waitForElement":
            return _waiting(step)
        case "waitForExpression":
            return f"wait until {quoted(str(data['expression']))}"
        case _:
            return f"custom step {data.get('name', step.type)}"


def quoted(text: str) -> str:
    """A text in quotation marks, on one line and truncated."""
    one_line = " ".join(text.split())
    return f'"{one_line if len(one_line) <= LONGEST_TEXT else one_line[: LONGEST_TEXT - 1] + "…"}"'


def _waiting(step: Step) -> str:
    operator, count = step.data.get("operator", ">="), step.data.get("count", 1)
    amount = "" if (operator, count) == (">=", 1) else f" {operator} {count:g} times"
    return f"wait until {_element(step)} is {'there' if step.data.get('visible', True) else 'gone'}{amount}"


def _element(step: Step) -> str:
    """The element, and where it is if not in the first page itself: frames in it count from 1."""
    frame, target = step.data.get("frame") or (), step.data.get("target", "main")
    places = [f"frame {'.'.join(str(number + 1) for number in frame)}"] if frame else []
    places += [] if target == "main" else [target]
    return " in ".join([_named(step), *places])


def _named(step: Step) -> str:
    """The element by its accessible name or text if the flow has one, otherwise by its selector."""
    for prefix in ("aria/", "text/"):
        for selector in step.selectors:
            # A part of something that has a name is named after that: the text in a button.
            for part in reversed(selector):
                name = part.removeprefix(prefix)
                if name != part and name and not name.startswith("["):
                    return quoted(name.partition("[role=")[0])
    return _plain(step.selectors[0])


def _plain(selector: Selector) -> str:
    return " ".join(part.removeprefix("xpath/").removeprefix("pierce/") for part in selector)
