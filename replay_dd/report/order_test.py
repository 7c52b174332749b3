"""Writes an isolated order of threads as a pytest test.

Rules of this module:

* The test is code of the user's project: short, readable without knowing replay-dd, as ``ruff format`` leaves it, and
  clean under ``mypy --strict``.
* Whatever comes from the program or its log becomes a string literal or a line of a docstring; nothing else.
"""

from __future__ import annotations

import datetime
import os
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from replay_dd.report.source import source_line
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.pinned_order import Switch, failure_of, pinned, portable
from replay_dd.schedules.story.story import Story
from replay_dd.trust.printable import printable

_WIDTH = 88  # what ruff and Black allow by default
_INDENT = " " * 4
_MOST_STEPS = 12
_LONGEST_NAME = 60


def order_test(log: Log, story: Story | None, path: Path, origin: str, environment: Sequence[str] = ()) -> str:
    """The text of a test.

    Args:
        log: of a failing run; with the texts of its lines, and verified, so that visits are known.
        story: what the threads do to each other, if that is known.
        path: where the test will stand; its folder is what other paths are relative to.
        origin: the command that wrote it, in words.
        environment: the names of variables whose recorded values the program needs.
    """
    story_told = list(_story(story, log))
    failure = failure_of(log.ending)
    title = f"{_of_the_kind(story)}." if story is not None else f"An order of threads that fails: {failure}."
    lines = [
        *_docstring(title, story_told, origin, path.name),
        "",
        "from pathlib import Path",
        "",
        "from replay_dd.testing import Switch, check_order",
        "",
        "",
        f"def test_{_name(story, failure)}() -> None:",
        *(_INDENT + line for line in _call("check_order", list(_arguments(log, failure, path, environment)), 4)),
    ]
    return "\n".join(lines) + "\n"


def _of_the_kind(story: Story) -> str:
    things = " and ".join(thing.name for thing in story.things)
    return f"{story.kind[0].upper()}{story.kind[1:]} on {things}"


def _docstring(title: str, told: Sequence[str], origin: str, name: str) -> Iterator[str]:
    about = (
        "The threads of the program are switched as when it failed. This fails as long as the failure is possible in "
        f"that order. Written by `{origin}`; `replay-dd verify-test` checks that it can fail."
    )
    wrapped = textwrap.wrap(_safe(title), _WIDTH - 3)
    yield f'"""{wrapped[0]}'
    yield from wrapped[1:]
    yield ""
    yield from textwrap.wrap(about, _WIDTH, break_on_hyphens=False)
    if told:
        yield ""
        yield from map(_safe, told)
    yield '"""'


def _safe(text: str) -> str:
    """A text that may stand in a docstring."""
    return printable(text).replace("\\", "\\\\").replace('"""', "'''").rstrip('"').rstrip()


def _story(story: Story | None, log: Log) -> Iterator[str]:
    """What the threads do, without numbers of lines, which would soon be wrong."""
    if story is None:
        return
    left = _MOST_STEPS
    for turn in story.turns:
        for step in turn.steps[:left]:
            left -= 1
            place = step.access.place
            text = source_line(place, log.program) or step.words
            line = f"{_INDENT}thread {turn.thread:<4} {os.path.basename(place.file)}  {text}"
            yield line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."


def _name(story: Story | None, failure: str) -> str:
    words = f"{story.kind} on {story.things[0].name}" if story is not None and story.things else failure
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words)
    return re.sub(r"[^A-Za-z0-9]+", "_", split).strip("_").lower()[:_LONGEST_NAME].rstrip("_") or "order"


def _arguments(log: Log, failure: str, path: Path, environment: Sequence[str]) -> Iterator[list[str]]:
    """The arguments of the call, each as one or more lines."""
    program, settings = log.program, log.settings
    yield _string(shlex.join(portable(program)), 8)
    for switch in pinned(log):
        yield _call("Switch", list(_of_switch(switch)), 8)
    yield [f"folder={_folder(Path(program.directory), path.parent)}"]
    yield _named("failure", failure)
    yield _named("date", datetime.datetime.fromtimestamp(settings.start_ns / 1e9).date().isoformat())
    if settings.granularity != "access":
        yield _named("granularity", settings.granularity)
    for name, values in (("include", settings.include), ("exclude", settings.exclude), ("preload", settings.preload)):
        if values:
            yield [f"{name}=[{', '.join(map(literal, values))}]"]
    for name, given in (
        ("real_clock", settings.real_clock),
        ("real_entropy", settings.real_entropy),
        ("fresh_copy", program.fresh_copy),
    ):
        if given:
            yield [f"{name}=True"]
    if settings.max_delay_ns != 10**8:
        yield [f"max_delay_s={settings.max_delay_ns / 1e9!r}"]
    if program.standard_input:
        yield [f"stdin={_bytes(program.standard_input)}"]
    if program.process:
        yield _named("process", program.process)
    needed = {name: program.environment[name] for name in environment if name in program.environment}
    if needed:
        yield [f"environment={_mapping(needed)}"]


def _of_switch(switch: Switch) -> Iterator[list[str]]:
    yield [literal(switch.threads)]
    if switch.file:
        for text in (switch.file, switch.function):
            yield _string(text, 12)
        yield _string(switch.line, 12)
        yield _named("before", switch.before)
    for name, value, usual in (
        ("column", switch.column, 0),
        ("visit", switch.visit, 1),
        ("repeat", switch.repeat, 0),
        ("inside", switch.inside, False),
        ("waits", switch.waits, 0),
    ):
        if value != usual and (switch.file or name == "waits"):
            yield [f"{name}={value}"]


def _folder(directory: Path, test: Path) -> str:
    """A folder, seen from that of the test."""
    parts = Path(os.path.relpath(directory.resolve(), test.resolve())).parts
    up = sum(part == os.pardir for part in parts)
    base = f"Path(__file__).parents[{up}]" if up else "Path(__file__).parent"
    return " / ".join([base, *map(literal, parts[up:])])


# -- layout -----------------------------------------------------------------------------------------------------------


def _call(name: str, arguments: Sequence[Sequence[str]], indentation: int) -> list[str]:
    """A call on one line if it fits, otherwise with an argument a line."""
    if all(len(argument) == 1 for argument in arguments):
        short = f"{name}({', '.join(argument[0] for argument in arguments)})"
        if len(short) + indentation < _WIDTH:  # and a comma
            return [short]
    lines = [f"{name}("]
    for argument in arguments:
        *most, last = argument
        lines += [_INDENT + line for line in (*most, f"{last},")]
    return [*lines, ")"]


def _named(name: str, value: str) -> list[str]:
    return [f"{name}={literal(value)}"]


def _string(text: str, indentation: int) -> list[str]:
    """A literal; one that is too long for a line in several parts."""
    whole = literal(text)
    if len(whole) + indentation < _WIDTH:
        return [whole]
    pieces = textwrap.wrap(text, _WIDTH - indentation - 8, drop_whitespace=False, break_on_hyphens=False)
    return [literal(piece) for piece in pieces] if "".join(pieces) == text else [whole]


def _mapping(values: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{literal(name)}: {literal(value)}" for name, value in values.items()) + "}"


def literal(text: str) -> str:
    """A string literal with the quotes that formatters choose."""
    single = text.count('"') > text.count("'")
    quote = "'" if single else '"'
    return quote + _escaped(text).replace(quote, f"\\{quote}") + quote


def _escaped(text: str) -> str:
    return "".join(
        "\\\\" if character == "\\" else character if character in "'\"" else repr(character)[1:-1]
        for character in text
    )


def _bytes(data: bytes) -> str:
    told = repr(data)
    return f'b"{told[2:-1]}"' if told[1] == "'" and '"' not in told else told
