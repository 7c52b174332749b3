"""``replay-dd trace``: results, and what goes wrong in words."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cli.schemas import checked
from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

PROGRAM = """\
import helper

values = []
for n in range(4):
    values.append(helper.half(n))
print("first", values[0])
print("last", values[-1])
if len(values) > 3:
    raise ValueError(f"{values[-1]} is too much")
"""
HELPER = """\
def half(n):
    unused = n * 2
    return n / 2
"""
RUN = ["--", "python", "prog.py"]
ANSWER = """\
prog.py: the output line `last 1.5` needs 8 of 24 executed statements:

  prog.py
>       1/1     1  import helper
                2
>       1/1     3  values = []
>       2/5     4  for n in range(4):
>       1/4     5      values.append(helper.half(n))
        0/1     6  print("first", values[0])
>       1/1     7  print("last", values[-1])
        0/1     8  if len(values) > 3:
        0/1     9      raise ValueError(f"{values[-1]} is too much")

  helper.py
>       1/1     1  def half(n):
        0/4     2      unused = n * 2
>       1/4     3      return n / 2
"""


@pytest.fixture
def two_files(shop: Workshop) -> Workshop:
    shop.write(PROGRAM)
    shop.write(HELPER, "helper.py")
    return shop


def test_the_answer_in_words_and_on_a_page(two_files: Workshop) -> None:
    done = two_files.run("trace", "--output-line", "last", "--html", "a.html", "-o", "a.txt", *RUN)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(ANSWER)
    assert "proof        fresh runs: 3 of 3 have this outcome" in done.stdout
    assert (two_files.folder / "a.txt").read_text() == done.stdout
    page = (two_files.folder / "a.html").read_text()
    assert "<!DOCTYPE html>" in page
    assert '<tr class="needed"><th scope="row" class="number">5</th><td class="counts">1 of 4</td>' in page
    assert '<tr class="idle"><th scope="row" class="number">6</th><td class="counts">0 of 1</td>' in page
    assert not (two_files.folder / "__pycache__").exists()


def test_the_answer_for_machines(two_files: Workshop) -> None:
    done = two_files.run("trace", "--json", *RUN)
    told = checked(done.stdout)
    answer = told["answer"]
    assert answer["outcome"] == {"kind": "exception", "words": "ValueError: 1.5 is too much"}
    assert (told["circumstance"], answer["executed"], answer["needed"]) == ("trace", 24, len(answer["slice"]))
    assert {"file": "helper.py", "line": 2, "ran": 4, "needed": 0} in answer["lines"]
    assert answer["slice"][-1] == {"file": "prog.py", "line": 9, "time": 1}


def test_a_variable_and_ddmin(two_files: Workshop) -> None:
    arguments = ("--variable", "n", "--algorithm", "ddmin", "--levels", "executions", "--no-color", "--jobs", "2")
    done = two_files.run("trace", *arguments, *RUN)
    assert "n = 3 needs 2 of 24 executed statements:" in done.stdout


@pytest.mark.parametrize(
    "text, arguments, status, slug, words",
    [
        ("x = (", [], 2, "not-traceable", "it does not parse in line 1"),
        ("\0", [], 2, "not-traceable", "cannot be traced"),
        ("import os\nos._exit(0)\n", [], 2, "not-traceable", "os._exit"),
        ("import os\nos.kill(os.getpid(), 9)\n", [], 2, "not-traceable", "faulthandler"),
        ("import threading\nthreading.Thread(target=print).start()\n", [], 2, "not-traceable", "a second thread"),
        ("import os\nos.fork()\n", [], 2, "not-traceable", "a process by `fork`"),
        ("while True:\n    pass\n", ["--time-limit", "0.5"], 3, "time-limit", "within 0.5 s"),
        ("x = 1\n", [], 3, "no-outcome", "prints nothing"),
        ("x = 1\n", ["--variable", "y"], 3, "no-outcome", "no variable `y`"),
        ("print(1)\n", ["--output-line", "2"], 3, "no-outcome", "has 1 line, no line 2"),
        ("print(1)\n", ["--output-line", "a"], 3, "no-outcome", "contains `a`"),
        ("def f():\n    f()\nf()\n", [], 3, "no-outcome", "RecursionError"),
        ("import time\nprint(1)\nprint(time.time_ns())\n", [], 4, "not-deterministic", "line 2 is `"),
        ("print('x' * (17 << 20))\n", [], 3, "no-outcome", "more than 16 MB"),
        ("print(1)\n", ["--variable", "x", "--output-line", "1"], 2, "usage", "not both"),
    ],
)
def test_what_cannot_be_traced(
    text: str, arguments: list[str], status: int, slug: str, words: str, shop: Workshop
) -> None:
    shop.write(text)
    assert words in shop.run("trace", *arguments, *RUN).refused(status, slug)


@pytest.mark.parametrize(
    "command, slug, hint",
    [
        (["python", "nowhere.py"], "program-not-found", "Check the spelling"),
        (["python", "-m", "no_such_module"], "not-traceable", "check the spelling, and where it is installed"),
        (["python", "-c", "print(1)"], "not-traceable", "Give a script or a module"),
        (["python"], "not-traceable", "Give a script or a module"),
        (["sh", "-c", "echo"], "not-traceable", "Give a script or a module"),
        (["./prog.py"], "not-traceable", "Write `python ./prog.py`"),
        (["/bin/ls"], "not-traceable", "Give a script or a module"),
        (["python", "-m", "pytest", "-q", "prog.py"], "not-traceable", "Call the test in a script"),
        (["/nowhere/python", "prog.py"], "program-not-found", ""),
    ],
)
def test_commands_that_are_no_python_program(command: list[str], slug: str, hint: str, shop: Workshop) -> None:
    shop.write("print(1)\n")
    assert hint in shop.run("trace", "--", *command).refused(2, slug)


def test_what_the_program_writes_stays_in_copies(shop: Workshop) -> None:
    shop.write("n = len(open('log').read())\nopen('log', 'a').write('x')\nprint(n)\n")
    shop.write("abc", "log")
    done = shop.run("trace", "--jobs", "3", *RUN)
    assert done.status == 0
    assert "needs 2 of 3 executed statements" in done.stdout
    assert (shop.folder / "log").read_text() == "abc"


def test_ctrl_c_prints_the_best_answer_so_far(shop: Workshop) -> None:
    runs = shop.folder / "runs"
    text = f"import time\nopen({str(runs)!r}, 'a').write('x')\nx = [n for n in range(9)]\ntime.sleep(0.2)\nprint(x)\n"
    shop.write(text)
    process = shop.start("trace", "--json", "--jobs", "1", *RUN)
    shop.wait_for(runs, process)
    # The fifth is a test of the search: two notes and two runs of the whole come before it.
    while len(runs.read_text()) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    done = shop.interrupt(process)
    assert done.status == 130
    told = json.loads(done.stdout)
    assert (told["complete"], told["stopped_by"]) == (False, "interrupt")


def test_a_budget_ends_the_search_with_the_best_answer_so_far(two_files: Workshop) -> None:
    done = two_files.run("trace", "--max-tests", "3", "--json", *RUN)
    told = checked(done.stdout)
    assert (done.status, told["complete"], told["stopped_by"]) == (0, False, "tests")
    assert 0 < told["answer"]["needed"] <= 24


def test_input_and_arguments_reach_the_program(shop: Workshop) -> None:
    shop.write("import sys\nprint(sys.argv[1], sys.stdin.read(), __name__, __file__)\n")
    shop.write("text", "input")
    done = shop.run("trace", "--json", "--stdin", "input", *RUN, "word")
    told = checked(done.stdout)
    assert (told["answer"]["needed"], told["proof"]["holds"]) == (2, True)


def test_several_statements_in_a_line_are_counted_together(shop: Workshop) -> None:
    shop.write("print(1); print(2)\nimport sys; sys.exit(3)\n")
    done = shop.run("trace", *RUN)
    assert "0/2     1  print(1); print(2)" in done.stdout
    assert ">       2/2     2  import sys; sys.exit(3)" in done.stdout
    assert "Whatever leads to this exit status counts" in done.stdout


@pytest.mark.parametrize(("message", "noted"), [("'wrong total'", True), ("f'the total is {total}'", False)])
def test_an_assertion_that_says_no_value_leads_to_the_options_that_ask_for_one(
    message: str, noted: bool, shop: Workshop
) -> None:
    shop.write(f"total = 1\ntotal += 1\nassert total == 3, {message}\n")
    assert ("Whatever value is wrong there counts" in shop.run("trace", *RUN).stdout) == noted


def test_an_exit_with_status_0_is_no_failure_whatever_its_class(shop: Workshop) -> None:
    shop.write("class Done(SystemExit): pass\nprint('done')\nraise Done(0)\n")
    assert checked(shop.run("trace", "--json", *RUN).stdout)["answer"]["outcome"]["kind"] == "output"


def test_an_exit_tells_what_it_says(shop: Workshop) -> None:
    shop.write("import sys\nsys.exit('no money left')\n")
    assert "exit status 1: no money left" in shop.run("trace", *RUN).stdout


def test_a_module_with_a_package(shop: Workshop) -> None:
    (shop.folder / "package").mkdir()
    shop.write("", "package/__init__.py")
    shop.write("from . import other\nprint(other.value)\n", "package/__main__.py")
    shop.write("unused = 1\nvalue = 2\n", "package/other.py")
    done = shop.run("trace", "--", "python", "-m", "package")
    assert "package: the whole output (1 line) needs 3 of 4 executed statements:" in done.stdout
    assert Path(shop.folder / "package" / "__pycache__").exists() is False
