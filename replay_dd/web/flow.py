"""User flows, as the Recorder of Chrome DevTools exports them: one JSON object with a title and a list of steps.

Rules of this module:

* What is read is written again: members that this module does not know stay in their step.
* A flow that was read is valid: every step has the members that its type needs, of the right kind.
* Steps and flows are values; taking steps away makes another flow.

Source: the schema published with @puppeteer/replay (`Schema.ts`); a time-out is at most 30 s there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay_dd.errors.user import FlowStepError, LogError, NotALogError
from replay_dd.files import write_whole
from replay_dd.json_codec import from_plain
from replay_dd.json_text import parse
from replay_dd.logfile import read_regular
from replay_dd.schema import shown
from replay_dd.trust.known_logs import digest_of, remember

# What the command line says of a search, here because the search itself needs Playwright to be there.
ALGORITHMS = ("bisection", "adaptive", "ddmin")
"""How the steps are searched; see :class:`~replay_dd.dd.PrefixBisection` and :class:`~replay_dd.dd.DDMin`."""

ASSERTIONS = frozenset({"waitForElement", "waitForExpression"})
LARGEST_TIMEOUT_MS = 30_000
LARGEST_FLOW_BYTES = 2**26
"""Flows are typed and clicked by people; a larger file is something else."""
LARGEST_VIEWPORT_PX = 16_384  # of width or height: a browser allocates a picture of that size
LARGEST_SCALE = 10
LARGEST_NUMBER = 2**31 - 1  # of pixels, bytes a second, elements
BUTTONS = ("primary", "auxiliary", "secondary", "back", "forward")

Selector = tuple[str, ...]
"""One way to an element: its last part selects the element, the parts before it select hosts around it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a flow.

    Attributes:
        data: the step as it stands in the file.
    """

    data: Mapping[str, Any]

    @property
    def type(self) -> str:
        """The step's type, as the schema calls it: ``click``, ``keyDown``, ..."""
        return str(self.data["type"])

    @property
    def is_assertion(self) -> bool:
        """Whether the step only waits for something to be true."""
        return self.type in ASSERTIONS

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The ways to the element, the best one first; empty for steps without an element."""
        found = self.data.get("selectors") or ()
        return tuple((one,) if isinstance(one, str) else tuple(one) for one in found)

    @property
    def timeout_ms(self) -> int | None:
        """The time that the step may take, where it has one of its own."""
        return self.data.get("timeout")

    @property
    def navigates(self) -> bool:
        """Whether the step was seen to load another page."""
        return any(event.get("type") == "navigation" for event in self.data.get("assertedEvents") or ())


@dataclass(frozen=True, slots=True)
class Flow:
    """A user flow.

    Attributes:
        steps: its steps, in order.
        data: the other members of the object in the file: its title, perhaps a time-out and more.
    """

    steps: tuple[Step, ...]
    data: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What the person who recorded it called it."""
        return str(self.data["title"])

    @property
    def timeout_ms(self) -> int | None:
        """The time that each step may take, where the flow says so."""
        return self.data.get("timeout")

    def only(self, numbers: Iterable[int]) -> Flow:
        """The flow of these steps, in the order given."""
        return Flow(tuple(self.steps[number] for number in numbers), self.data)


def looks_like_a_flow(path: Path) -> bool:
    """Whether a file is meant as a user flow: a JSON object with steps. Unreadable files are not."""
    try:
        if not read_regular(path, LARGEST_FLOW_BYTES, first=64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return False
        found = parse(read_regular(path, LARGEST_FLOW_BYTES).decode("utf-8-sig"))
    except (LogError, ValueError):
        return False
    return isinstance(found, dict) and "steps" in found


_EXPORT = "Give a file that the Recorder of Chrome DevTools exported as JSON."


def read_flow(path: Path) -> Flow:
    """Read a user flow.

    Raises:
        NotALogError: the file cannot be read, or is no user flow.
        FlowStepError: a step does not keep to the schema.
    """
    try:
        data = read_regular(path, LARGEST_FLOW_BYTES)
    except LogError as error:
        raise NotALogError(error.message, _EXPORT) from error
    return parse_flow(data, path)


def parse_flow(data: bytes, path: Path) -> Flow:
    """The flow that these bytes are.

    Args:
        data: all that is in the file.
        path: the file, for errors.

    Raises:
        NotALogError: they are no user flow.
        FlowStepError: a step does not keep to the schema.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotALogError(f"The flow {path} cannot be read: it is not UTF-8.", _EXPORT) from error
    try:
        found = from_plain(Any, parse(text))
    except ValueError as error:
        raise NotALogError(f"The file {path} is not a user flow: {error}.", _EXPORT) from error
    return flow_from(found)


def flow_from(data: object) -> Flow:
    """A flow from the value that its JSON text stands for.

    Raises:
        NotALogError: it is no user flow.
        FlowStepError: a step does not keep to the schema.
    """
    if not isinstance(data, dict) or not isinstance(data.get("steps"), list):
        raise NotALogError("This is not a user flow: it has no list of steps.", _EXPORT)
    if not isinstance(data.get("title"), str):
        raise NotALogError("This is not a user flow: it has no title.", _EXPORT)
    if "timeout" in data and not _is_timeout(data["timeout"]):
        raise NotALogError(f"The flow's time-out is not between 1 and {LARGEST_TIMEOUT_MS} milliseconds.", _EXPORT)
    steps = tuple(_step_from(number, step) for number, step in enumerate(data["steps"], 1))
    if not any(step.type == "navigate" for step in steps):
        raise NotALogError("The flow never navigates to a page.", "Record it again, from the first page on.")
    return Flow(steps, {name: value for name, value in data.items() if name != "steps"})


def write_flow(flow: Flow, path: Path) -> None:
    """Write a flow, whole or not at all.

    Raises:
        OutputError: the file cannot be written.
    """
    # What is no text in UTF-8 (half a surrogate pair) is written as an escape, which is the same in JSON and Python.
    whole = {**flow.data, "steps": [step.data for step in flow.steps]}
    data = (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    write_whole(path, data)
    remember(digest_of(data))


def _step_from(number: int, data: object) -> Step:
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise FlowStepError(f"Step {number} has no type.")
    members = _NEEDED.get(data["type"])
    if members is None:
        raise FlowStepError(
            f"Step {number} is of an unknown type: {shown(data['type'])}.", "Replay-dd may be too old for it."
        )
    for name, is_right in members.items():
        if name not in data or not is_right(data[name]):
            raise FlowStepError(f"Step {number} ({data['type']}) has no proper `{name}`.")
    for name, is_right in _ALLOWED.items():
        if name in data and not is_right(data[name]):
            raise FlowStepError(f"Step {number} ({data['type']}) has no proper `{name}`.")
    return Step(data)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_NUMBER


def _is_extent(value: object) -> bool:
    return _is_size(value) and value <= LARGEST_VIEWPORT_PX  # type: ignore[operator]


def _is_scale(value: object) -> bool:
    return _is_number(value) and 0 <= value <= LARGEST_SCALE  # type: ignore[operator]


def _is_duration(value: object) -> bool:
    return _is_number(value) and 0 <= value <= LARGEST_TIMEOUT_MS  # type: ignore[operator]


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_anything(value: object) -> bool:
    return True


def _is_timeout(value: object) -> bool:
    return _is_number(value) and 1 <= value <= LARGEST_TIMEOUT_MS  # type: ignore[operator]


def _is_list_of(is_right: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(is_right(one) for one in value)


def _is_selectors(value: object) -> bool:
    def is_selector(one: object) -> bool:
        return _is_text(one) or (bool(one) and _is_list_of(_is_text)(one))

    return bool(value) and _is_list_of(is_selector)(value)


def _is_event(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") == "navigation"


Check = Callable[[object], bool]
_ELEMENT: dict[str, Check] = {"selectors": _is_selectors}
_CLICK: dict[str, Check] = {**_ELEMENT, "offsetX": _is_number, "offsetY": _is_number}
_NEEDED: dict[str, dict[str, Check]] = {
    "change": {**_ELEMENT, "value": _is_text},
    "click": _CLICK,
    "close": {},
    "customStep": {"name": _is_text, "parameters": _is_anything},
    "doubleClick": _CLICK,
    "emulateNetworkConditions": {"download": _is_number, "upload": _is_number, "latency": _is_number},
    "hover": _ELEMENT,
    "keyDown": {"key": _is_text},
    "keyUp": {"key": _is_text},
    "navigate": {"url": _is_text},
    "scroll": {},
    "setViewport": {
        "width": _is_extent,
        "height": _is_extent,
        "deviceScaleFactor": _is_scale,
        "isMobile": _is_truth,
        "hasTouch": _is_truth,
        "isLandscape": _is_truth,
    },
    "waitForElement": _ELEMENT,
    "waitForExpression": {"expression": _is_text},
}
"""The members that a step of each type needs."""

_ALLOWED: dict[str, Check] = {
    "assertedEvents": _is_list_of(_is_event),
    "attributes": lambda value: isinstance(value, dict),
    "button": lambda value: value in BUTTONS,
    "count": _is_number,
    "duration": _is_duration,
    "frame": _is_list_of(lambda one: _is_size(one) or (one == 0 and not isinstance(one, bool))),
    "operator": lambda value: value in (">=", "==", "<="),
    "properties": lambda value: isinstance(value, dict),
    "selectors": _is_selectors,
    "target": _is_text,
    "timeout": _is_timeout,
    "visible": _is_truth,
    "x": _is_number,
    "y": _is_number,
}
"""What members are like that a step may leave out."""
