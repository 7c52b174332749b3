"""The page of any other isolation: the answer, the search, and what to do with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import Any

from replay_dd.call.reduce import CallIsolation
from replay_dd.experiment.result import Isolation
from replay_dd.input.folder import Packing
from replay_dd.input.reduce import InputIsolation
from replay_dd.report.call import call_as_text
from replay_dd.report.content import dump_as_text, is_binary
from replay_dd.report.input import contents_of, input_as_text
from replay_dd.report.isolation import headline, proof_in_words
from replay_dd.report.page.course import course
from replay_dd.report.page.frame import Page
from replay_dd.report.page.markup import Child, cut, tag
from replay_dd.report.page.parts import commands, facts, folded, section, text

_MOST_DELTAS = 200
_MOST_ROWS = 200
_LONGEST = 500
_LONGEST_CALL = 20_000


def input_page(found: InputIsolation, name: str, files: Mapping[str, Path], packing: Packing | None = None) -> Page:
    """The page of a reduced input; arguments as for :func:`~replay_dd.report.input.input_as_text`."""
    shown = _content(found.failing, found.whole)
    before, left = len(found.whole), len(found.failing)
    if packing is not None:
        before, left = packing.size(found.whole), packing.size(found.failing)
        whole = contents_of(packing, found.whole)
        bodies = contents_of(packing, found.failing).items()
        shown = "\n".join(f"{path}:\n{_content(body, whole.get(path, body))}" for path, body in bodies)
    return answer_page(
        found.isolation,
        f"{name}: {left:,} of {before:,} bytes",
        input_as_text(found, name, files, packing),
        content=("What is left of it", shown),
        files=files,
        unit="bytes",
        before=before,
    )


def _content(left: bytes, whole: bytes) -> str:
    return "\n".join(dump_as_text(left, _MOST_ROWS)) if is_binary(left, whole) else left.decode(errors="replace")


def call_page(found: CallIsolation, files: Mapping[str, Path]) -> Page:
    """The page of a reduced call; arguments as for :func:`~replay_dd.report.call.call_as_text`."""
    return answer_page(
        found.isolation,
        f"{found.function}: {found.left:,} of {found.before:,} parts of its arguments",
        call_as_text(found, files),
        content=("The call", found.call[:_LONGEST_CALL]),
        files=files,
        unit="parts",
        before=found.before,
    )


def answer_page(
    isolation: Isolation[Any],
    subject: str,
    report: Iterable[str],
    *,
    told: Sequence[str] = (),
    content: tuple[str, str] | None = None,
    files: Mapping[str, Path] | None = None,
    to_run: Sequence[tuple[str, str]] = (),
    unit: str = "",
    before: int = 0,
) -> Page:
    """The page of an isolation.

    Args:
        isolation: the result.
        subject: what was examined.
        report: the result as text, line by line.
        told: the answer in lines, where users do not count deltas: a headline, and what is left, which is indented.
        content: a title and a text to show, such as the reduced input.
        files: what was written, by what it contains.
        to_run: commands to copy, each after what it does.
        unit: what the sizes of configurations are counted in, if that is not deltas.
        before: the size of the failing one before the search, in the same unit.
    """
    known: list[tuple[str, str]] = [
        ("tests", f"{isolation.tests:,} in {isolation.seconds:.1f} s"),
        ("proof", proof_in_words(isolation)),
        *((what, str(path)) for what, path in (files or {}).items() if what != "page"),
    ]
    summary = " ".join(takewhile(_is_headline, told)) or headline(isolation)
    left = _what_is_left(isolation, [*dropwhile(_is_headline, told)], content)
    return Page(
        kicker=f"Isolated: {isolation.circumstance.name}" if isolation.complete else "Not isolated yet",
        title=subject,
        summary=summary.rstrip(":"),
        verdict=isolation.failure.words,
        sections=(
            section("answer", "The answer", [facts(known), *left]),
            course(isolation, unit=unit, before=before),
            commands(to_run) if to_run else None,
            section("report", "The whole report", folded("As text, for an issue or a mail", text(report))),
        ),
    )


def _is_headline(line: str) -> bool:
    return not line.startswith(" ")


def _what_is_left(isolation: Isolation[Any], told: Sequence[str], content: tuple[str, str] | None) -> Iterator[Child]:
    if told:
        yield tag("figure", tag("figcaption", "What is left"), text(told))
        return
    if content is not None:
        title, shown = content
        yield tag("figure", tag("figcaption", title), text(shown.splitlines()))
    deltas = [isolation.circumstance.words(delta) for delta in islice(isolation.shown, _MOST_DELTAS)]
    left = tag("ol", [tag("li", cut(words, _LONGEST)) for words in deltas], class_="deltas")
    yield left if content is None else folded("What is left, one by one", left)
    if isolation.deltas_left > len(deltas):
        yield tag("p", f"and {isolation.deltas_left - len(deltas):,} more")
