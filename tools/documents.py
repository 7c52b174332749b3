"""The commands in the documents: what they are, what they print here, and whether the document still shows that.

In every document, the blocks marked `console` are one session: the lines that start with `$ ` run one after the other
in the same folder. A line that starts with `> ` continues the one before. The lines below a command are what it prints,
standard output and standard error together; a line `...` stands for any lines. A command without any such line is run,
and what it prints is not shown. Comments in the lines above a block change this:

* `<!-- not run: REASON -->`: the block is skipped.
* `<!-- exit: N -->`: the last command of the block ends with status N, not 0.
* `<!-- not compared: REASON -->`: what the commands print is not the same each time.
* `<!-- file: NAME -->`, above a block of any language: the block is written to that file, for the commands after it.

Compared is the text, not its numbers: those of versions, times, digests and yield points are other ones elsewhere. The
line numbers of source files must agree.

`python -m tools.documents` runs the documents and puts what they print into them; name some to do only these. Where a
line differs in its seconds alone, the shorter time stays: other work on the machine can only make it longer.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
KEYS = ("not run", "exit", "not compared", "file")

_BLOCK = re.compile(
    r"(?P<comments>(?:^<!-- [^\n]*? -->[ \t]*\n)*)^```(?P<language>\w*)[ \t]*\n(?P<body>.*?)^```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(rf"<!-- (?P<key>{'|'.join(KEYS)}): (?P<value>.+?) -->")
# What is another number elsewhere. The line in a source file is none of these.
_NUMBER = re.compile(r"(?<!\.py:)\b(?:[0-9a-f]{40}|[0-9a-f]{16}|[0-9a-f]{7}|\d[\d,]*(?:\.\d+)*)\b")
# What is another one each time, too.
_SECONDS = re.compile(r"\b(\d+(?:\.\d+)?) s\b")
_PASSING = re.compile(rf"{_SECONDS.pattern}|\b[0-9a-f]{{40}}\b")
# What is printed every ten seconds, so only on a busy machine.
_PROGRESS = re.compile(
    r"replay-dd: (?:(?:test|run|session|input) [\d,]+\b.*|[^:]*(?:, |: )run \d+.*|(?:reading|running|proving) .*)"
)
_PADDING = re.compile(r"(?<=\S)\s{2,}")


@dataclass(frozen=True)
class Step:
    """A command to run, with its status and what the document shows of it; or a file to write."""

    text: str
    status: int = 0
    file: str | None = None
    shown: tuple[str, ...] = ()
    compared: bool = True
    place: tuple[int, int] = (0, 0)
    """Where the shown lines stand in the document, in characters."""


@dataclass(frozen=True)
class Done:
    """How a command ended, and the lines that it printed."""

    status: int
    lines: tuple[str, ...]


def documents() -> list[Path]:
    """The documents whose commands are run."""
    found = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md"]
    for folder in ("docs", "demos"):
        found += (CHECKOUT / folder).rglob("*.md")
    return sorted(path for path in found if path.is_file())


def steps_of(text: str) -> list[Step]:
    """What a document says is to be done, in order."""
    steps: list[Step] = []
    for block in _BLOCK.finditer(text):
        comments = {match["key"]: match["value"] for match in _COMMENT.finditer(block["comments"])}
        if "file" in comments:
            steps.append(Step(block["body"], file=comments["file"]))
        elif block["language"] == "console" and "not run" not in comments:
            steps += _commands(block, comments)
    return steps


def _commands(block: re.Match[str], comments: dict[str, str]) -> list[Step]:
    found: list[tuple[str, list[str], int, int]] = []
    place = block.start("body")
    for line in block["body"].splitlines(keepends=True):
        end = place + len(line)
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), [], end, end))
        elif found:
            command, shown, start, _ = found[-1]
            if line.startswith("> ") and not shown:
                found[-1] = (f"{command}\n{line[2:].rstrip()}", shown, end, end)
            else:
                found[-1] = (command, [*shown, line.rstrip("\n")], start, end)
        place = end
    last = int(comments.get("exit", "0"))
    return [
        Step(
            command,
            status=last if number == len(found) else 0,
            shown=tuple(shown),
            compared="not compared" not in comments,
            place=(start, end),
        )
        for number, (command, shown, start, end) in enumerate(found, 1)
    ]


def do(step: Step, folder: Path) -> Done | None:
    """Do a step in this folder; answer how it ended, if it is a command."""
    if step.file is not None:
        path = folder / step.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text, encoding="utf-8")
        return None
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**os.environ, "PATH": programs, "REPLAY_DD_PROGRESS": "0"}
    done = subprocess.run(
        ["bash", "-c", step.text],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )
    # Readers are in a folder of their own, too, and it has another name.
    text = done.stdout.replace(f"{folder}/", "")
    lines = (line.rstrip() for line in text.splitlines())
    return Done(done.returncode, tuple(line for line in lines if not _PROGRESS.fullmatch(line)))


def agrees(shown: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    """Whether a document shows what a command printed, but for numbers."""
    return printed_for(shown, printed) is not None


def printed_for(shown: tuple[str, ...], printed: tuple[str, ...]) -> list[str] | None:
    """What a command printed for each line that a document shows; None if they differ in more than numbers."""
    pattern = ""
    for line in shown:
        pattern += r"(?:.*\n)*" if line == "..." else f"({re.escape(_without_numbers(line))}\n)"
    text = "".join(f"{_without_numbers(line)}\n" for line in printed)
    found = re.fullmatch(pattern, text)
    if found is None:
        return None
    groups = iter(range(1, len(found.groups()) + 1))
    return [line if line == "..." else printed[text.count("\n", 0, found.start(next(groups)))] for line in shown]


def _without_numbers(line: str) -> str:
    # Columns are as wide as their numbers.
    return _PADDING.sub(" ", _NUMBER.sub("0", line.rstrip()).lstrip())


def refreshed(text: str) -> str:
    """The document with what its commands print now; of two lines that differ only in their time, the faster stays."""
    changes: list[tuple[tuple[int, int], str]] = []
    with tempfile.TemporaryDirectory(prefix="replay-dd-documents-") as folder:
        for step in steps_of(text):
            done = do(step, Path(folder))
            if done is not None and done.status != step.status:
                said = "\n".join(done.lines)
                sys.exit(f"ended with {done.status}, not {step.status}: $ {step.text}\n{said}")
            if done is None or not step.shown or not step.compared:
                continue
            printed = (printed_for(step.shown, done.lines) if "..." in step.shown else None) or done.lines
            old = {_PASSING.sub("0", line): line for line in step.shown}
            lines = (_faster(old.get(_PASSING.sub("0", line), line), line) for line in printed)
            changes.append((step.place, "".join(f"{line}\n" for line in lines)))
    for (start, end), new in reversed(changes):
        text = text[:start] + new + text[end:]
    return text


def _faster(old: str, new: str) -> str:
    return min(old, new, key=lambda line: sum(float(seconds) for seconds in _SECONDS.findall(line)))


def main(names: list[str]) -> int:
    """Refresh the named documents, or all."""
    for path in [Path(name).resolve() for name in names] or documents():
        text = path.read_text(encoding="utf-8")
        new = refreshed(text)
        if new != text:
            path.write_text(new, encoding="utf-8")
            print(f"changed: {path.relative_to(CHECKOUT)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
