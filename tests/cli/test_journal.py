"""A search that was killed goes on from its journal."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

# Fails if three parts of its input are there; notes each run, and kills its command at the 20th.
PROGRAM = """
    import os, pathlib, signal, sys
    content = pathlib.Path(sys.argv[1]).read_text()
    notes = pathlib.Path(os.environ["NOTES"])
    with notes.open("a") as file:
        file.write(repr(content) + "\\n")
    if len(notes.read_text().splitlines()) == int(os.environ["KILLED_AT"]):
        os.kill(int(pathlib.Path(os.environ["COMMAND"]).read_text()), signal.SIGKILL)
        signal.pause()
    if all(part in content for part in ("one", "two", "three")):
        raise ValueError("all there")
"""


@pytest.fixture
def counting(shop: Workshop) -> Workshop:
    outside = shop.folder.parent
    shop.variables = {"NOTES": str(outside / "notes"), "COMMAND": str(outside / "command"), "KILLED_AT": "20"}
    shop.write(PROGRAM)
    words = [f"word{number}" for number in range(300)]
    words[40], words[101], words[299] = "one", "two", "three"
    shop.write("\n".join(words) + "\n", "in.txt")
    return shop


def reduce(shop: Workshop, *options: str) -> tuple[str, list[str]]:
    """Run the search; what is left of the input, and the inputs that were run."""
    notes = Path(shop.variables["NOTES"])
    notes.unlink(missing_ok=True)
    # A file in the working directory that changes would have runs made one at a time.
    process = shop.start("input", "in.txt", "-o", "out.txt", "--no-fork", *options, *shop.program("{}"))
    Path(shop.variables["COMMAND"]).write_text(str(process.pid))
    process.communicate(timeout=120)
    result = shop.folder / "out.txt"
    return (result.read_text() if process.returncode == 0 else ""), notes.read_text().splitlines()


def test_a_killed_search_goes_on_and_repeats_no_run(counting: Workshop) -> None:
    killed, before = reduce(counting, "--jobs", "1", "--journal", "kept")
    assert killed == ""
    assert len(before) == 20
    counting.variables["KILLED_AT"] = "0"
    result, after = reduce(counting, "--jobs", "1", "--journal", "kept")
    alone, whole = reduce(counting, "--jobs", "1")
    assert result == alone
    # Evidence is made anew: the whole input and none before the search, and what is left after it.
    ends = {before[0], repr(""), repr(result)}
    repeated = Counter(content for content in after if content not in ends) & Counter(before[:-1])
    assert not repeated
    assert len(after) < len(whole)


def test_limits_and_jobs_may_change(counting: Workshop) -> None:
    counting.variables["KILLED_AT"] = "0"
    alone, _ = reduce(counting, "--jobs", "1")
    best, first = reduce(counting, "--journal", "kept", "--jobs", "1", "--max-tests", "25")
    result, rest = reduce(counting, "--journal", "kept", "--jobs", "2")
    assert result == alone
    assert set(first) & set(rest) <= {first[0], repr(""), repr(best), repr(result)}


SEARCHES = {
    "call": ("call", "calls:find", "--args-file", "arguments.py"),
    "changes": ("changes", "old", "new", "--", "python", "version.py"),
    "code": ("code", "source.py", "--", "python", "-m", "py_compile", "{}"),
    "files": ("code", "pkg", "--output-folder=small", "--", "python", "-m", "py_compile", "{}/source.py"),
    "fuzz": ("fuzz", "-o", "found.txt", "--length=300", "--", "sh", "-c", "! grep -aq Q {}"),
    "options": ("input", "arguments.py", "--options=-b -bb -v", "--", "python", "{options}", "warns.py"),
    "trace": ("trace", "--", "python", "sums.py"),
}


@pytest.mark.parametrize("search", list(SEARCHES))
def test_a_search_that_has_ended_is_known(search: str, shop: Workshop) -> None:
    shop.write("def find(numbers, words):\n    assert not (7 in numbers and 'box' in words)\n", "calls.py")
    # Each process has an order of its own for a set of texts.
    shop.write("[[1, 2, 7, 8, 9], {'bag', 'bin', 'bowl', 'box', 'can', 'case', 'cup', 'jar'}]", "arguments.py")
    shop.write("import os\n\n\ndef f():\n    return 1\n\n\nreturn f()\n", "source.py")
    (shop.folder / "pkg").mkdir()
    shop.write("import os\n\n\nreturn 1\n", "pkg/source.py")
    shop.write("str(b'')\n", "warns.py")
    shop.write("total = 0\nfor n in range(9):\n    last = n\n    total += n\nprint(total)\n", "sums.py")
    for name, number in (("old", 1), ("new", 0)):
        (shop.folder / name).mkdir()
        shop.write(f"a = {number + 5}\nb = {number}\nprint(a / b)\n", f"{name}/version.py")
    check_known(shop, *SEARCHES[search])


@pytest.mark.parametrize("search", ["schedules", "minimize"])
def test_a_search_for_a_switch_that_has_ended_is_known(search: str, race: Workshop, tmp_path: Path) -> None:
    options = ["--journal", str(tmp_path / "kept"), "-o", str(tmp_path / "result")]
    logs = ["found/pass.log", "found/fail.log"] if search == "schedules" else ["found/fail.log"]
    check_known(race, search, *options, *logs)


def check_known(shop: Workshop, command: str, *arguments: str) -> None:
    """A search that is made again with its journal has the same answer, and runs nothing but evidence."""
    options = () if "--journal" in arguments else ("--journal", "kept")
    runs = []
    for _ in range(2):
        runs.append(shop.run(command, "--jobs=1", *options, *arguments))
        shutil.rmtree(shop.folder / "small", ignore_errors=True)  # an output that must not be there yet
    first, second = runs
    assert first.status == second.status == 0, first.stderr
    counts = [re.search(r"([\d,]+) runs? (?:was|were) known, ([\d,]+) added", done.stderr) for done in (first, second)]
    assert counts[0], first.stderr
    assert counts[1], second.stderr
    assert counts[0][1] == counts[1][2] == "0"
    assert counts[0][2] == counts[1][1] != "0"
    assert without_times(first.stdout) == without_times(second.stdout)


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d+ s", "", text)


def test_a_journal_of_another_program_is_refused(shop: Workshop) -> None:
    shop.write("import os\n\nreturn 1\n", "source.py")
    command = ["code", "source.py", "--journal", "kept", "--max-tests", "3", "--"]
    assert shop.run(*command, "python", "-m", "py_compile", "{}").status == 0
    shop.run_here(*command, "python", "{}").refused(5, "journal-unusable")


def test_a_journal_of_another_search_is_refused(counting: Workshop) -> None:
    counting.variables["KILLED_AT"] = "0"
    command = ["input", "in.txt", "--no-fork", "--journal", "kept", "--max-tests", "3"]
    assert counting.run(*command, *counting.program("{}")).status == 0
    said = counting.run_here(*command, "--grep", "all", *counting.program("{}")).refused(5, "journal-unusable")
    assert "`--grep` was not given, and is all" in said
    (counting.folder / "prog.py").write_text("pass")
    said = counting.run_here(*command, *counting.program("{}")).refused(5, "journal-unusable")
    assert "prog.py has changed" in said


def test_files_are_named_within_words_and_as_modules(shop: Workshop) -> None:
    shop.write("def find(text):\n    if 'x' in text:\n        raise ValueError\n", "calls.py")
    shop.write("['a box']", "arguments.py")
    shop.write("import sys\nsys.exit('x' in open(sys.argv[1]).read())\n")
    shop.write("axe\n", "in.txt")
    call = ["call", "calls:find", "--args-file", "arguments.py", "--journal", "call.journal"]
    shell = ["input", "in.txt", "--journal", "input.journal", "--", "sh", "-c", "python prog.py {} >out"]
    for command in (call, shell):
        assert shop.run(*command).status == 0
    # What a run has written is no edit.
    assert shop.run(*shell).status == 0
    for name, command in (("calls.py", call), ("prog.py", shell)):
        with (shop.folder / name).open("a") as file:
            file.write("# edited")
        assert f"{name} has changed" in shop.run_here(*command).refused(5, "journal-unusable")


def test_a_journal_in_a_folder_that_is_read_is_no_part_of_it(shop: Workshop) -> None:
    for name, number in (("old", 1), ("new", 0)):
        (shop.folder / name).mkdir()
        shop.write(f"a = {number + 5}\nb = {number}\nprint(a / b)\n", f"{name}/version.py")
    check_known(shop, "changes", "--journal", "new/kept", "old", "new", "--", "python", "version.py")
    shop.write("b", "old/bad")
    grep = ["--", "sh", "-c", "! grep b bad"]
    check_known(shop, "input", "--tree", "old", "--journal", "old/kept", "-o", "small", *grep)
    tool = ["--", "python", "-m", "py_compile", "{}/source.py"]
    (shop.folder / "pkg").mkdir()
    shop.write("import os\nreturn 1\n", "pkg/source.py")
    check_known(shop, "code", "--journal", "pkg/kept", "pkg", "--output-folder=small", *tool)


def test_a_command_without_a_search_has_no_journal(race: Workshop) -> None:
    race.run_here("replay", "--journal", "kept", "found/pass.log").refused(130, "usage")
