"""Elements with an id that is another one with each load of a page, because it is drawn or counted.

Rules of this module:

* It is asked only when none of a step's selectors has found anything in time, and that time counts as lost. From then
  on the ids in those selectors are known to differ, in later playbacks too, where nothing is waited for.
* Two ids are alike if they differ only in words with digits, the fewer the better. The first element with an id most
  like it, in the order of the page, stands for a recorded id, for the rest of the playback, and for no other one.
* No more than :data:`_MOST_TRIED` ids are tried for a recorded one, and no longer than the step may take.
* The wrong element may be taken where there are several. That makes another run, which then has to fail by itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Frame, Page

from replay_dd.web import elements
from replay_dd.web.flow import Step
from replay_dd.web.steps import ElementMissingError, do

_MOST_TRIED = 20
_ID = re.compile(r"#((?:[\w-]|[^\x00-\x7f]|\\[0-9a-fA-F]{1,6}\s?|\\.)+)")
_ESCAPED = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))")
# A word, or a UUID, of which some parts may be without digits.
_DIFFERS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^\W_]*\d[^\W_]*", re.IGNORECASE)
_IDS = """() => {
  const found = [];
  const look = root => {
    for (const element of root.querySelectorAll('*')) {
      if (element.id) found.push(element.id);
      if (element.shadowRoot) look(element.shadowRoot);
    }
  };
  look(document);
  return found;
}"""


class Ids:
    """The ids of one playback.

    Args:
        differing: the recorded ids that are known to differ; more are added.
    """

    def __init__(self, differing: set[str]) -> None:
        self._differing = differing
        self._now: dict[str, str] = {}

    def do(self, step: Step, page: Page, frame: Frame, limit_ms: float) -> float:
        """Do a step as :func:`replay_dd.web.steps.do` does; returns how many seconds were waited in vain.

        Raises:
            StepFailedError: its element does not appear in time, or its condition does not come true.
            playwright.sync_api.Error: the page or the browser went away.
        """
        recorded = _ids_of(step)
        if not recorded:
            do(step, page, frame, limit_ms)
            return 0.0
        if recorded <= self._differing:
            self._take(recorded, step, frame, limit_ms)
        started = time.monotonic()
        try:
            do(self._on_page(step), page, frame, limit_ms)
        except ElementMissingError:
            if not self._take(recorded, step, frame, limit_ms):
                raise
            in_vain_s = time.monotonic() - started
            self._differing |= recorded
            do(self._on_page(step), page, frame, limit_ms)
            return in_vain_s
        return 0.0

    def _take(self, recorded: set[str], step: Step, frame: Frame, limit_ms: float) -> bool:
        """Let ids of the page stand for recorded ones that stand for none yet; returns whether the step finds one."""
        if self._finds(step, frame):
            return False
        try:
            there = dict.fromkeys(frame.evaluate(_IDS))
        except PlaywrightError as error:
            return _without_crash(error)  # the frame is being replaced
        ends_at = time.monotonic() + limit_ms / 1000
        for one in sorted(recorded - self._now.keys() - there.keys()):
            free = there.keys() - self._now.values()
            alike = [other for other in there if other in free and _likeness(one, other)]
            for other in islice(sorted(alike, key=partial(_likeness, one), reverse=True), _MOST_TRIED):
                if time.monotonic() > ends_at:
                    return False
                self._now[one] = other
                if self._finds(step, frame):
                    return True
                del self._now[one]
        return False

    def _finds(self, step: Step, frame: Frame) -> bool:
        try:
            return elements.find(self._on_page(step), frame) is not None
        except PlaywrightError as error:
            # The frame is being replaced, or what looks like an id is in the middle of something else.
            return _without_crash(error)

    def _on_page(self, step: Step) -> Step:
        """The step with the ids of this playback."""

        def now(found: re.Match[str]) -> str:
            other = self._now.get(_plain(found[1]))
            return found[0] if other is None else f"[id={_quoted(other)}]"

        return _with_ids(step, now) if self._now else step


def _without_crash(error: PlaywrightError) -> bool:
    """Take an error for an element that is not there; a page that crashed is more than that, so raise it."""
    if "crashed" in error.message:
        raise error
    return False


def _ids_of(step: Step) -> set[str]:
    """The ids in a step's selectors that may differ."""
    found: set[str] = set()

    def note(one: re.Match[str]) -> str:
        found.add(_plain(one[1]))
        return one[0]

    _with_ids(step, note)
    return {one for one in found if _DIFFERS.search(one)}


def _with_ids(step: Step, change: Callable[[re.Match[str]], str]) -> Step:
    """The step with other ids in its CSS selectors."""
    selectors = [
        [part if part.startswith(("aria/", "text/", "xpath/")) else _ID.sub(change, part) for part in selector]
        for selector in step.selectors
    ]
    return Step({**step.data, "selectors": selectors})


def _plain(escaped: str) -> str:
    """An id as it is, from how CSS writes it."""
    return _ESCAPED.sub(lambda found: found[2] or chr(int(found[1], 16) % 0x110000), escaped)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\a ")
    return f'"{escaped}"'


def _likeness(one: str, other: str) -> int:
    """How much two ids are alike: 0 if they are not, else more the more of what may differ is the same."""
    if _DIFFERS.sub("…", one) != _DIFFERS.sub("…", other):
        return 0
    words: Iterable[tuple[str, str]] = zip(_DIFFERS.findall(one), _DIFFERS.findall(other), strict=True)
    return 1 + sum(word == other_word for word, other_word in words)
