"""``replay-dd call``: results, and what goes wrong in words."""

from __future__ import annotations

import json
import os
import venv
from pathlib import Path

import pytest

from replay_dd.cli.call import _full_name
from replay_dd.errors.user import UsageError
from tests.cli.schemas import checked
from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

FUNCTIONS = """\
import os, random, signal, sys, time


def check(text, *more, strict=False):
    print("noise", flush=True)
    if "(" in text and strict and "k" in more[0]:
        raise ValueError(f"brackets in {text}")


def loops(numbers):
    while 3 in numbers:
        pass


def dies(numbers):
    if 3 in numbers:
        os.kill(os.getpid(), signal.SIGSEGV)
    if 4 in numbers:
        os._exit(5)


def sometimes(numbers):
    if 3 in numbers and random.random() < 0.5:
        raise KeyError(3)


def fails_late(numbers):
    with open("calls", "a") as calls:
        calls.write("x")
    if os.path.getsize("calls") > 8:
        raise KeyError(3)


def waits(numbers):
    open("began", "w").close()
    time.sleep(0.05)
    if {3, 90} <= set(numbers):
        raise KeyError


number = 5
"""


@pytest.fixture
def functions(shop: Workshop) -> Workshop:
    shop.write(FUNCTIONS, "functions.py")
    return shop


def test_the_answer_in_words_and_as_files(functions: Workshop) -> None:
    functions.write("check('a(b', {'j': 1, 'k': [2]}, {1}, strict=True)\n", "args.txt")
    done = functions.run(
        "call", "functions:check", "--args-file", "args.txt", "--write-test", "test_it.py", "--html", "p.html"
    )
    page = (functions.folder / "p.html").read_text()
    assert "functions:check: 3 of 9 parts" in page
    assert (
        "check(&#x27;(&#x27;, {&#x27;k&#x27;: []}, strict=True)" in page or "check('(', {'k': []}, strict=True)" in page
    )
    assert (done.status, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "functions:check fails with 3 of the 9 parts of its arguments:"
    assert lines[1] == "  check('(', {'k': []}, strict=True)"
    assert any(line.startswith("failure      ValueError: brackets in ( (functions.py:7 in check)") for line in lines)
    assert "proof        fresh runs: 3 of 3 fail" in lines
    assert "noise" not in done.stdout
    minimal = (functions.folder / "args-minimal.txt").read_text()
    assert minimal == "check('(', {'k': []}, strict=True)\n"
    again = functions.run_pytest("test_it.py")
    assert again.returncode == 1, again.stdout
    assert "ValueError: brackets in (" in again.stdout


def test_the_answer_for_machines(functions: Workshop) -> None:
    functions.write('{"text": "ab(c", "strict": true, "more": 1}', "args.json")
    functions.run_here("call", "functions:check", "--args-file", "args.json").refused(2, "usage")
    functions.write('["ab(c", ["j", "k"]]', "args.json")
    told = functions.run("call", "functions.check", "--args-file", "args.json").refused(3, "does-not-fail")
    assert "check('ab(c', ['j', 'k']) does not fail: it returns" in told
    functions.write("def strict(text, more): functions.check(text, more, strict=True)\nimport functions\n", "mine.py")
    done = functions.run("call", "mine.strict", "--args-file", "args.json", "--json", "-o", "out/x.json", "--jobs", "2")
    answer = checked(done.stdout)
    assert (answer["circumstance"], answer["answer"]["function"]) == ("call", "mine:strict")
    assert answer["answer"]["call"] == "strict('(', ['k'])"
    assert answer["answer"]["positional"] == ["(", ["k"]]
    assert (answer["answer"]["parts_before"], answer["answer"]["parts"]) == (8, 3)
    assert answer["files"] == {"minimal": "out/x.json"}
    assert json.loads((functions.folder / "out" / "x.json").read_text()) == ["(", ["k"]]


def test_calls_that_hang_or_end_their_process(functions: Workshop) -> None:
    functions.write("[[1, 2, 3]]", "three.json")
    functions.write("[[1, 4, 2]]", "four.json")
    for function, file, ending in (
        ("loops", "three.json", "still running after 0.2 s"),
        ("dies", "three.json", "killed by SIGSEGV"),
        ("dies", "four.json", "ended its process with status 5"),
    ):
        done = functions.run("call", f"functions:{function}", "--args-file", file, "--time-limit", "0.2")
        assert f"failure      {ending}" in done.stdout
        assert done.stdout.splitlines()[1] in ("  loops([3])", "  dies([3])", "  dies([4])")
        assert done.status == 0


def test_a_failure_that_shows_sometimes_is_measured(functions: Workshop) -> None:
    functions.write("[[1, 2, 3, 4]]", "args.json")
    done = functions.run("call", "functions:sometimes", "--args-file", "args.json")
    assert done.status == 0
    assert "  sometimes([3])" in done.stdout
    assert "confidence" in done.stdout


def test_a_failure_that_the_first_calls_do_not_show_is_waited_for(functions: Workshop) -> None:
    """However many calls it takes to know whether calls disturb each other."""
    functions.write("[[3]]", "args.json")
    done = functions.run("call", "functions:fails_late", "--args-file", "args.json")
    assert done.status == 0, done.stderr
    assert "failure      KeyError: 3" in done.stdout


def test_limits_and_interrupts_leave_the_best_so_far(functions: Workshop) -> None:
    functions.write(json.dumps([list(range(100))]), "args.json")
    options = ("call", "functions:waits", "--args-file", "args.json", "--jobs", "1")
    done = functions.run(*options, "--max-tests", "5", "--json")
    answer = json.loads(done.stdout)
    assert (done.status, answer["stopped_by"]) == (0, "tests")
    assert 2 < answer["answer"]["parts"] < 101
    (functions.folder / "began").unlink()
    process = functions.start(*options)
    functions.wait_for(functions.folder / "began", process)
    done = functions.interrupt(process)
    assert done.status == 130
    assert "Traceback" not in done.stderr


def test_the_user_says_what_the_failure_is(functions: Workshop) -> None:
    functions.write("[[1, 3]]", "args.json")
    options = ("call", "functions:waits", "--args-file", "args.json")
    functions.write("[[3, 5, 90]]", "args.json")
    assert "waits([3, 90])" in functions.run(*options, "--grep", "^KeyError").stdout
    assert "which is not Value" in functions.run(*options, "--grep", "Value").refused(3, "does-not-fail")
    functions.run_here(*options, "--grep", "(").refused(2, "usage")


@pytest.mark.parametrize(
    ("function", "arguments", "status", "slug", "told"),
    [
        ("functions:", "[1]", 2, "usage", "does not name a function"),
        ("functions.py:loops", "[1]", 2, "usage", "`functions:loops`"),
        ("functions:number", "[1]", 2, "function-not-found", "number of functions is int, which cannot be called"),
        ("nowhere:f", "[1]", 2, "function-not-found", "No module named 'nowhere'"),
        ("broken:f", "[1]", 2, "function-not-found", "Importing broken fails: ZeroDivisionError"),
        ("broken:f", "[1]", 2, "function-not-found", "another interpreter"),
        ("dead:f", "[1]", 2, "function-not-found", "Importing dead:f ended python"),
        ("functions:loops", "[1, 2]", 2, "usage", "too many positional arguments"),
        ("functions:loops", "[0]", 5, "input-unusable", "nothing to leave out"),
        ("functions:loops", "f(open('x'))", 5, "input-unusable", "more than a literal"),
    ],
)
def test_misuse_in_words(function: str, arguments: str, status: int, slug: str, told: str, functions: Workshop) -> None:
    functions.write("1 / 0\n", "broken.py")
    functions.write("import os\nos._exit(1)\n", "dead.py")
    functions.write(arguments, "args")
    done = functions.run("call", function, "--args-file", "args")
    assert told in done.refused(status, slug)
    assert not (functions.folder / "args-minimal").exists()


@pytest.mark.parametrize(
    ("given", "name"),
    [("a.b.f", "a.b:f"), ("a.b:C.f", "a.b:C.f"), ("a.C.f", "a:C.f"), ("C.f", ""), ("f", ""), ("a:", ""), ("a-b:f", "")],
)
def test_names_of_functions(given: str, name: str) -> None:
    if name:
        assert _full_name(given) == name
    else:
        with pytest.raises(UsageError, match="does not name a function"):
            _full_name(given)


def test_methods_of_classes(functions: Workshop) -> None:
    code = "class Kind:\n    @classmethod\n    def make(cls, text):\n        assert 'b' not in text\n"
    functions.write(code, "functions.py")
    functions.write('["abc"]', "args.json")
    done = functions.run("call", "functions.Kind.make", "--args-file", "args.json", "--write-test", "test_it.py")
    assert done.stdout.splitlines()[:2] == [
        "functions:Kind.make fails with 1 of the 3 parts of its arguments:",
        "  Kind.make('b')",
    ]
    assert "    functions.Kind.make(\n" in (functions.folder / "test_it.py").read_text()


def test_files_in_words(functions: Workshop) -> None:
    functions.run_here("call", "functions:loops", "--args-file", "none").refused(5, "input-unusable")
    functions.write("[[3]]", "args")
    told = functions.run_here("call", "functions:loops", "--args-file", "args", "-o", "args").refused(2, "usage")
    assert "would overwrite" in told
    told = functions.run("call", "functions:loops", "--args-file", "args", "--python", "no-such").refused(
        2, "program-not-found"
    )
    assert "no-such" in told


def test_another_environment(functions: Workshop, tmp_path: Path) -> None:
    # Without pip, and without replay-dd.
    venv.create(tmp_path / "other", symlinks=True)
    (package,) = (tmp_path / "other").glob("lib/python*/site-packages")
    (package / "only_there.py").write_text("def f(text):\n    assert 'b' not in text\n")
    functions.write('["abc"]', "args.json")
    python = str(tmp_path / "other" / "bin" / "python")
    options = ("call", "only_there:f", "--args-file", "args.json")
    assert "  f('b')" in functions.run(*options, "--python", python).stdout
    told = functions.run(*options).refused(2, "function-not-found")
    assert "--python" in told
    functions.variables["PATH"] = os.pathsep.join([str(tmp_path / "other" / "bin"), os.environ["PATH"]])
    assert "  f('b')" in functions.run(*options).stdout
