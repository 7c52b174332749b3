"""Programs reduced for tools that look for something in their syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from replay_dd.code.circumstance import CodeEdits
from replay_dd.code.course import course
from replay_dd.code.reduce import CodeReduction, reduce_code
from replay_dd.code.source import Program, read_python
from replay_dd.code.target import CodeTarget
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.errors.user import InputError
from replay_dd.experiment.process import Command, Finished
from replay_dd.outcome import Outcome

pytestmark = pytest.mark.once

PROGRAM = '''\
"""A shop."""
import os
import sys as system
from typing import List


class Shop(object):
    """Sells things."""

    limit: int = 3

    @property
    def name(self) -> str:
        return self._name

    def sell(self, things: "List[str]", *, times=2):
        for thing in things:
            if thing:
                try:
                    print([number + times for number in range(self.limit) if number])
                except (KeyError, ValueError) as error:
                    raise SystemExit(1) from error
        return None


def main(argument, verbose=False):
    shop = Shop()
    shop.sell([argument, "b"], times=3)
    return shop


if __name__ == "__main__":
    main(system.argv[1], verbose=True)
'''


def fails_if(condition: str) -> CodeTarget:
    """A tool that fails on programs of which this is true; ``nodes`` are all nodes of the tree."""

    def judge(text: bytes) -> bool:
        nodes = list(ast.walk(ast.parse(text)))
        return bool(eval(condition, {"nodes": nodes, "ast": ast, "text": text}))

    return Tool(("tool", "{}"), "program.py", judge=judge)


@dataclass
class Tool(CodeTarget):
    """A tool in this process."""

    judge: Callable[[bytes], bool] = lambda text: False

    def run(self, content: bytes, **options: object) -> Finished:
        """Judge the only file."""
        return Finished(int(self.judge(content)), None, False, 0.0)


def text_of(found: CodeReduction) -> str:
    return found.failing.files[0].content.decode()


IN_A_LOOP = "any(isinstance(n, ast.ListComp) for f in nodes if isinstance(f, ast.For) for n in ast.walk(f))"


def test_a_program_of_a_page_becomes_two_lines() -> None:
    found = reduce_code(PROGRAM.encode(), fails_if(IN_A_LOOP))
    assert text_of(found) == "for a in 0:\n    [0 for b in 0]\n"
    assert found.isolation.verified
    assert found.isolation.complete
    assert found.isolation.tests < 100


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("any(isinstance(n, ast.Call) and n.args and n.keywords for n in nodes)", "0(0, a=0)"),
        ("any(isinstance(n, ast.ExceptHandler) and n.name for n in nodes)", "try:\n    pass\nexcept 0 as a:\n    pass"),
        ("any(isinstance(n, ast.keyword) and n.arg == 'times' for n in nodes)", "0(times=0)"),
        ("any(isinstance(n, ast.AnnAssign) for n in nodes)", "a: 0"),
        ("any(isinstance(n, ast.FunctionDef) and n.decorator_list for n in nodes)", "@0\ndef a():\n    pass"),
        ("any(isinstance(n, ast.Constant) and n.value == 'b' for n in nodes)", '"b"'),
        ("any(isinstance(n, ast.alias) and n.asname for n in nodes)", "import a as b"),
    ],
)
def test_what_is_left_is_what_the_tool_needs(condition: str, left: str) -> None:
    found = reduce_code(PROGRAM.encode(), fails_if(condition))
    assert text_of(found).strip() == left


def test_no_single_edit_of_the_answer_fails() -> None:
    """Each edit of each space of the whole course, tried by hand on the answer."""
    target = fails_if(IN_A_LOOP)
    found = reduce_code(PROGRAM.encode(), target)
    final = found.isolation.circumstance
    assert isinstance(final, CodeEdits)
    spaces = course(found.failing)
    space = next(spaces)
    seen, tried = set(), 0
    while True:
        seen.add(space.unit)
        for number in range(len(space.edits)):
            program = space.build(space.all - IntervalSet.of([number]))
            if program.parses:
                tried += 1
                assert judged(final, program.files[0].content) is not Outcome.FAIL
        try:
            space = spaces.send(space.program)
        except StopIteration:
            break
    assert tried > 10
    assert {"statement", "block", "expression", "constant"} <= seen


def judged(final: CodeEdits, content: bytes) -> Outcome:
    tree = ast.parse(content)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    fails = any(isinstance(node, ast.ListComp) for loop in loops for node in ast.walk(loop))
    return Outcome.FAIL if fails else Outcome.PASS


def test_the_answer_does_not_depend_on_the_number_of_jobs() -> None:
    one, three = (reduce_code(PROGRAM.encode(), fails_if(IN_A_LOOP), jobs=jobs) for jobs in (1, 3))
    assert text_of(one) == text_of(three)
    assert one.isolation.steps == three.isolation.steps


def test_untouched_lines_keep_their_format() -> None:
    source = b"x  =  1\r\nif x :\r\n\tkeep( 'this' ,\r\n\t  2 )\r\n\ty\r\n"
    tool = fails_if("""b"keep( 'this' ,\\r\\n" in text""")
    assert text_of(reduce_code(source, tool)) == "keep( 'this' ,\r\n  2 )\r\n".replace("2 )", "0 )")


def test_encodings_and_marks_stay() -> None:
    source = "# coding: latin-1\nname = 'Zoë'\nother = 2\n".encode("latin-1")
    tool = fails_if("b'\\xeb' in text")
    found = reduce_code(source, tool)
    assert found.failing.files[0].written == "#coding:latin\n'ë'\n".encode("latin-1")
    marked = reduce_code(b"\xef\xbb\xbfa = 1\nb = 2\n", fails_if("text[:1] == b'\\xef' and nodes[1:]"))
    assert marked.failing.files[0].written.startswith(b"\xef\xbb\xbf")


def test_what_cannot_be_reduced() -> None:
    with pytest.raises(InputError, match=r"program\.py, line 2"):
        reduce_code(b"a = 1\nif a\n", ["false", "{}"])
    with pytest.raises(InputError, match="empty"):
        reduce_code(b"", ["false", "{}"])
    with pytest.raises(InputError, match=r"utf-8"):
        reduce_code(b"a = '\xff'\n", ["false", "{}"])
    with pytest.raises(DoesNotPassError, match="empty program"):
        reduce_code(b"a = 1\n", ["false", "{}"])
    with pytest.raises(DoesNotFailError, match="exit status 0"):
        reduce_code(b"a = 1\n", ["cat", "{}"])


def test_a_limit_keeps_the_best_so_far() -> None:
    found = reduce_code(PROGRAM.encode(), fails_if(IN_A_LOOP), max_tests=12)
    assert found.isolation.stopped_by == "tests"
    assert 0 < found.failing.size < len(PROGRAM)
    ast.parse(text_of(found))


def test_a_hang_on_several_files_is_not_reduced_to_what_just_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on one file, runs of the search have half as long again."""

    def run(command: Command, *_: object, time_limit_s: float, **options: object) -> Finished:
        took = sum(Path(path).read_text().count("\n") for path in command.arguments[1:]) / 4
        timed_out = took >= time_limit_s
        return Finished(None if timed_out else 0, None, timed_out, min(took, time_limit_s), b"")

    monkeypatch.setattr("replay_dd.code.target.run", run)
    names = ("a.py", "b.py")
    program = Program(tuple(read_python(name, b"f()\n" * 5) for name in names))
    target = CodeTarget(("tool", "{}"), "a.py", time_limit_s=1.0, arguments=names)
    found = reduce_code(program, target)
    assert sum(len(file.content.splitlines()) for file in found.failing.files) == 6
