"""Reducers of inputs side by side in one run, on inputs that real programs fail on: size of the result, runs, seconds.

Each tool gets the same script as its test, which counts its calls; one run at a time. Calls for a baseline and a proof
count like others. C-Vise is no package of the index: it is compared where it is installed.
"""

from __future__ import annotations

import contextlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tests.benchmarks import environments, input_cases
from tests.benchmarks.harness import Bench, Section, Table, WorkerError

_PYTHON = "3.11"
_REQUIREMENTS = ("picire==21.8", "lithium-reducer==4.0.0", "shrinkray==0.0.2", *input_cases.REQUIREMENTS)
_LIMIT_S = 120
_OURS = Path(sys.executable).with_name("replay-dd")

_ABOUT = """\
Bytes left / runs of the program / seconds, one run at a time. *page.html* has 896 lines, among them
`<SELECT NAME="priority" MULTIPLE SIZE=7>` of ISSTA 2000, where `grep` stands for the browser: the paper needed 57 tests
for the lines, and its slides 48 more for the characters. All others break real programs: old releases of PyYAML,
html2text, hjson, toml, sqlglot and cssutils, g++, and troff, which gets 100,000 random characters, as in the paper.
*noise.txt* is 10,000 characters, two of which matter and stand far apart. Each tool with its defaults, except where it
must be told to go on to characters: picire with `--atom both`; lithium by lines, then by characters; C-Vise with
`--not-c` for what is not C. The runs of replay-dd include some that the others do not make: three of the whole, one of
nothing, three that prove the answer, and one more for each unit of it that only one test has seen to be needed."""


def run(bench: Bench) -> Iterable[Section]:
    try:
        python: Path = environments.peers(bench, "reducers", _PYTHON, _REQUIREMENTS)
    except WorkerError as error:
        return [Section("Reducing inputs", [_ABOUT, str(error)])]
    tools = _tools(python.parent)
    rows = []
    for case in input_cases.cases(python):
        row: list[object] = [f"{case.name}, {len(case.content):,} bytes"]
        for name, reduce in tools.items():
            bench.tell(f"inputs: {case.name}, {name}")
            row.append(_measured(case, reduce))
        rows.append(row)
    return [Section("Reducing inputs", [_ABOUT, Table(["input", *tools], rows)])]


def _measured(case: input_cases.Case, reduce: Callable[[Path, Path], Path]) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, count, test = folder / case.name, folder / "count", folder / "test.sh"
        file.write_bytes(case.content)
        # shrinkray gives the input on standard input.
        test.write_text(
            f"#!/bin/sh\nprintf x >> {count}\n"
            f'[ $# -gt 0 ] || {{ set -- {folder}/$$.stdin; cat > "$1"; }}\n{case.command}\n'
        )
        test.chmod(test.stat().st_mode | stat.S_IXUSR)
        started = time.monotonic()
        try:
            result = reduce(test, file)
        except subprocess.TimeoutExpired:
            return f"more than {_LIMIT_S} s"
        except (OSError, subprocess.CalledProcessError) as error:
            return type(error).__name__
        seconds = time.monotonic() - started
        return f"{result.stat().st_size:,} / {count.stat().st_size:,} / {seconds:.1f} s"


def _tools(folder: Path) -> Mapping[str, Callable[[Path, Path], Path]]:
    """Functions that reduce a file with a test, and answer where the result is."""

    def call(file: Path, *command: str | Path) -> None:
        subprocess.run(
            [str(word) for word in command],
            check=True,
            timeout=_LIMIT_S,
            cwd=file.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def ours(test: Path, file: Path) -> Path:
        result = file.with_name("ours")
        judged = ("sh", "-c", f"! {test} {{}}")
        call(file, _OURS, "input", file, "--jobs", "1", "-o", result, "--script", "--", *judged)
        return result

    def picire(test: Path, file: Path) -> Path:
        call(file, folder / "picire", "--atom", "both", "--test", test, "-o", file.with_name("picire"), "-i", file)
        return file.with_name("picire") / file.name

    def lithium(test: Path, file: Path) -> Path:
        # Its test is a Python module, which it calls with the arguments and a prefix.
        module = file.with_name("interesting.py")
        module.write_text(
            "import subprocess\n"
            f"def interesting(args, prefix):\n    return subprocess.call([{str(test)!r}, args[-1]]) == 0\n"
        )
        for units in ("--lines", "--char"):
            # It fails where it finds nothing to leave out, as with one line.
            with contextlib.suppress(subprocess.CalledProcessError):
                call(file, folder / "lithium", units, module, file)
        return file

    def shrinkray(test: Path, file: Path) -> Path:
        result = file.with_name("shrunk")
        call(file, folder / "shrinkray", "--parallelism", "1", "--target", result, test, file)
        return result

    tools = {"replay-dd": ours, "picire 21.8": picire, "lithium 4.0.0": lithium, "shrinkray 0.0.2": shrinkray}
    if shutil.which("cvise"):

        def cvise(test: Path, file: Path) -> Path:
            # It calls the test in a folder with its own copy of the file, without arguments.
            wrapper = file.with_name("cvise.sh")
            wrapper.write_text(f"#!/bin/sh\n{test} {file.name}\n")
            wrapper.chmod(0o755)
            call(file, "cvise", "--n", "1", *([] if file.suffix == ".c" else ["--not-c"]), wrapper, file.name)
            return file

        tools["C-Vise"] = cvise
    return tools
