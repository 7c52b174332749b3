"""How a flow can fail, and when two failures are the same one.

The kinds are those that a browser reports, those that the user specifies (a text on the page, an assertion), and what
the server reports, if it was started for the playback. Two page errors are the
same if they have the same type and were raised at the same place; the message, which often quotes data, counts only if
no place is known. Numbers and quoted parts of messages are ignored for the same reason.

A script in the middle of a page is elsewhere whenever the server writes more or less before it: a list of one item more
moves it. There, the path, the names of the functions and the message stand for the place.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urldefrag, urlsplit

CRASH = "crash"
HANG = "hang"
PAGE_ERROR = "page error"
CONSOLE_ASSERTION = "console assertion"
ASSERTION = "assertion"
TEXT = "text"
SERVER_ERROR = "server error"

KINDS = (CRASH, HANG, TEXT, PAGE_ERROR, CONSOLE_ASSERTION, ASSERTION, SERVER_ERROR)
"""All kinds, by precedence: if a flow fails in several ways, the first kind counts.

Servers also report what they live with, such as a browser that went away, so theirs come last.
"""

# The top of a JavaScript stack in V8's form: "    at name (http://host/path.js:12:34)" or "    at http://...:12:34".
_FRAME = re.compile(
    r"^\s+at (?:(?P<function>.*?) \()?(?P<url>[a-z][\w+.-]*:.*?):(?P<line>\d+):(?P<column>\d+)\)?$", re.M
)
# But not what V8 quotes from the script itself: "(reading 'length')".
_CHANGING = re.compile(r"""\d+|(?<!\(reading )(?<!\(setting )'[^']*'|"[^"]*"|`[^`]*`""")


@dataclass(frozen=True, slots=True)
class Failure:
    """An observed failure.

    Attributes:
        kind: one of :data:`KINDS`.
        text: its message, in one line: name and message of an error, the assertion in words, the text found.
        place: where in the page's scripts it was raised (path, line, column), or an empty string; for an error of the
            server, what tells it from others.
        details: more, such as a stack trace.
        step: the number of the step after which it was seen, in the flow that was played.
        inside: if it was raised by a script in the middle of a page: the page's path, and the functions that were
            called, the innermost first, each once.
    """

    kind: str
    text: str
    place: str
    details: str
    step: int
    inside: str = ""

    @property
    def summary(self) -> str:
        """The failure in one line."""
        told = self.place and self.kind != SERVER_ERROR  # its text tells the place
        return f"{self.kind}: {self.text}" + (f" ({self.place})" if told else "")

    def same(self, other: Failure | None) -> bool:
        """Whether two runs showed the same failure."""
        return other is not None and self.signature == other.signature

    @property
    def signature(self) -> tuple[str, str]:
        """What makes two failures the same."""
        if self.kind == HANG:
            return self.kind, self.text  # a loop is somewhere else at every look
        if self.kind == SERVER_ERROR:
            return self.kind, self.place or self.text  # how it ended: its status or its signal counts
        if self.inside:
            return self.kind, f"{_CHANGING.sub('…', self.text)} in {self.inside}"
        if self.kind == PAGE_ERROR and self.place:
            return self.kind, f"{self.text.partition(':')[0]} at {self.place}"
        return self.kind, f"{_CHANGING.sub('…', self.text)} at {self.place}"


def page_error(name: str, message: str, stack: str, step: int, pages: Collection[str] = ()) -> Failure:
    """An uncaught exception or rejected promise of the page.

    Args:
        name: its type.
        message: its message.
        stack: its stack trace.
        step: the number of the step after which it was seen.
        pages: the addresses of pages; a script at such an address is in the middle of the page.
    """
    first_line = (message.splitlines() or [""])[0]
    text = f"{name or 'Error'}: {first_line}"
    details = stack if message in stack else f"{name or 'Error'}: {message}\n{stack}"
    return Failure(PAGE_ERROR, text, place_in(stack), details.strip(), step, inside_page(stack, pages))


def inside_page(stack: str, pages: Collection[str]) -> str:
    """The path of the page whose own script made the innermost call, and the functions called; empty if none did.

    Each function counts once: how deep one calls itself depends on the page's data.
    """
    calls = list(_FRAME.finditer(stack))
    if not calls or urldefrag(calls[0]["url"]).url not in pages:
        return ""
    functions = dict.fromkeys(call["function"] or "-" for call in calls)
    return " ".join([path_of(calls[0]["url"]), *functions])


def place_in(stack: str) -> str:
    """The place of the innermost call in a stack trace: path, line and column; empty if there is none."""
    found = _FRAME.search(stack)
    if found is None:
        return ""
    return f"{path_of(found['url'])}:{found['line']}:{found['column']}"


def path_of(url: str) -> str:
    """The part of an address that does not depend on host and port."""
    parts = urlsplit(url)
    return parts.path or url
