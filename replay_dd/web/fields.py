"""Gives a field of a page another value, as a person does.

The Recorder keeps the value that a field had at the end, and none of the keys. Pages may listen to the keys and not to
the field: a search as you type does. So text is typed. It goes on where the field already begins with it, and otherwise
takes the place of what is there in one go, as after Ctrl+A.

The Enter key may mean something else to the page than a new line, and a long text takes long to type. So only what
follows the last line break is typed, and of that no more than :data:`MOST_TYPED` characters; the rest is set at once.
"""

from __future__ import annotations

from pathlib import PureWindowsPath
from typing import Literal

from playwright.sync_api import FilePayload, Locator

MOST_TYPED = 100
_TYPED = frozenset({"", "email", "number", "password", "search", "tel", "text", "textarea", "url"})
"""The types of fields for text; that of an element whose contents can be edited is empty."""
_USABLE: tuple[Literal["visible", "enabled", "editable"], ...] = ("visible", "enabled", "editable")
_TYPE = "element => element.tagName === 'SELECT' ? 'select' : (element.type || '')"
_TEXT = "element => 'value' in element ? element.value : element.textContent"
_GO_TO_END = """element => {
  element.focus();
  if ('value' in element) {
    const text = element.value;
    element.value = '';
    element.value = text;
  } else {
    getSelection().selectAllChildren(element);
    getSelection().collapseToEnd();
  }
}"""


def set_value(element: Locator, value: str, limit_ms: float) -> None:
    """Give a field another value, and what a person does to that end.

    Args:
        element: the field.
        value: its new value, as the Recorder writes it.
        limit_ms: how long the field may take until it can be used.

    Raises:
        playwright.sync_api.Error: it cannot be used in time, or cannot have this value.
    """
    kind = element.evaluate(_TYPE)
    if kind == "select":
        element.select_option(value, timeout=limit_ms)
    elif kind in {"checkbox", "radio"}:
        element.set_checked(value in {"true", "on"}, timeout=limit_ms)
    elif kind == "file":
        element.set_input_files(_upload(value), timeout=limit_ms)
    elif kind in _TYPED and value:
        _type(element, value, limit_ms)
    else:
        element.fill(value, timeout=limit_ms)


def _type(element: Locator, value: str, limit_ms: float) -> None:
    handle = element.element_handle(timeout=limit_ms)
    for state in _USABLE:
        handle.wait_for_element_state(state, timeout=limit_ms)
    text = element.evaluate(_TEXT)
    goes_on = value.startswith(text)
    at_once = max(len(text) if goes_on else 0, max(map(value.rfind, "\r\n")) + 1, len(value) - MOST_TYPED)
    if value[:at_once] != text and at_once:
        element.fill(value[:at_once], timeout=limit_ms)
        goes_on = True
    if goes_on:
        element.evaluate(_GO_TO_END)
    else:
        element.select_text(timeout=limit_ms)
    element.press_sequentially(value[at_once:], timeout=limit_ms)


def _upload(value: str) -> list[FilePayload]:
    """An empty file of the recorded name: a browser tells no folder, and a flow must not send files from here."""
    name = PureWindowsPath(value).name
    return [{"name": name, "mimeType": "application/octet-stream", "buffer": b""}] if name else []
