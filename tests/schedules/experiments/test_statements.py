"""Regions are runs of whole statements of one block."""

from __future__ import annotations

import ast
import textwrap

import pytest

from replay_dd.schedules.experiments.statements import Statements

pytestmark = pytest.mark.once

TEXT = textwrap.dedent(
    """\
    import threading
    def outer(self):
        first = 1
        if self.ready:
            second = (
                2
            )
            third = 3
        else:
            fourth = 4
        for item in self.items:
            fifth = item
            sixth = item
        with self.lock, other.guard: seventh = 7
        @decorated
        def inner():
            return 8
        try:
            ninth = 9
        except KeyError:
            tenth = 10
        finally:
            eleventh = 11
        match first:
            case 1:
                twelfth = 12
        self.lock.acquire()
        return inner
    top = 1
    """
)
LINES = {line.split("=")[0].strip(): number for number, line in enumerate(TEXT.splitlines(), 1)}
STATEMENTS = Statements(TEXT)
FUNCTION = (3, 28)


def runs(one: str, other: str) -> list[tuple[int, int]]:
    return list(STATEMENTS.runs_around(LINES[one], LINES[other]))


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("first", "first", [(3, 3), FUNCTION]),
        ("second", "third", [(5, 8), (4, 10), FUNCTION]),
        ("third", "second", [(5, 8), (4, 10), FUNCTION]),
        ("third", "fourth", [(4, 10), FUNCTION]),  # of both branches, the whole statement
        ("first", "third", [(3, 10), FUNCTION]),
        ("fifth", "fifth", [(12, 12), (11, 13), FUNCTION]),
        ("sixth", "fifth", [(12, 13), (11, 13), FUNCTION]),
        ("tenth", "tenth", [(21, 21), (18, 23), FUNCTION]),
        ("eleventh", "eleventh", [(23, 23), (18, 23), FUNCTION]),
        ("twelfth", "twelfth", [(26, 26), (24, 26), FUNCTION]),
        ("return inner", "eleventh", [(18, 28), FUNCTION]),
        ("return 8", "return 8", [(17, 17)]),  # what is around the inner function is another one
        ("top", "top", [(29, 29)]),
    ],
)
def test_runs_around_two_lines(one: str, other: str, wanted: list[tuple[int, int]]) -> None:
    assert runs(one, other) == wanted


def test_a_header_comes_with_its_body() -> None:
    assert next(STATEMENTS.runs_around(11, 11)) == (11, 13)
    assert next(STATEMENTS.runs_around(6, 6)) == (5, 7)  # a line inside of a statement
    assert next(STATEMENTS.runs_around(15, 15)) == (15, 17)  # a decorator


def test_a_line_without_a_statement_has_no_region() -> None:
    assert list(STATEMENTS.runs_around(99, 99)) == []
    assert list(STATEMENTS.runs_around(9, 9)) == [(4, 10), FUNCTION]  # `else:` belongs to its statement


def test_the_parts_of_a_run_are_its_statements() -> None:
    assert STATEMENTS.parts((5, 8)) == [(5, 7), (8, 8)]
    assert STATEMENTS.parts((3, 10)) == [(3, 3), (4, 10)]
    assert STATEMENTS.parts((98, 99)) == [(98, 99)]


def test_locks_are_named_as_they_are_taken() -> None:
    assert STATEMENTS.locks_at(14) == ["self.lock", "other.guard"]
    assert STATEMENTS.locks_at(27) == ["self.lock"]
    assert STATEMENTS.locks_at(3) == []
    assert Statements("with locks[0], make(): pass").locks_at(1) == []
    header = Statements("with (\n    one,\n    other,\n):\n    pass\n")
    assert [header.locks_at(line) for line in (1, 3, 5)] == [["one", "other"], ["one", "other"], []]


GENERATORS = textwrap.dedent(
    """\
    def lent(shelf):
        book = shelf.pop()
        try:
            yield book
        finally:
            shelf.append(book)
    def whole(shelf):
        first = shelf[0]
        def each():
            yield first
        keep = lambda: (yield)
        return each
    """
)


def test_no_region_goes_around_a_yield() -> None:
    """A lock there would be kept while the caller goes on, and takes it, too."""
    statements = Statements(GENERATORS)
    assert list(statements.runs_around(2, 6)) == []
    assert list(statements.runs_around(6, 6)) == [(6, 6)]
    assert list(statements.runs_around(8, 11)) == [(8, 11), (8, 12)]


def test_the_step_of_a_loop_in_whose_body_another_line_is() -> None:
    text = textwrap.dedent(
        """\
        def work(self):
            for number in self.rounds:
                for index in self.part:
                    first = index
                    second = index
                self.swap()
            self.end()
        """
    )
    statements = Statements(text)
    assert statements.step_of_loop(4, 6) == (3, 5)
    assert statements.step_of_loop(6, 4) == (6, 6)
    assert statements.step_of_loop(4, 5) == (4, 4)
    assert statements.step_of_loop(4, 4) is None
    assert statements.step_of_loop(2, 6) is None  # whose turn it is, is asked outside of the body
    assert statements.step_of_loop(7, 6) is None


def test_a_lock_that_its_function_does_not_release_is_kept() -> None:
    text = "def begin():\n    lock.acquire()\ndef whole():\n    lock.acquire()\n    lock.release()\nlock.acquire()\n"
    statements = Statements(text)
    assert [statements.keeps_lock(line) for line in (2, 4, 5, 6)] == [True, False, False, False]


def test_a_run_reaches_over_the_with_statements_beside_it_that_take_its_lock() -> None:
    text = textwrap.dedent(
        """\
        def renew(self):
            with self.lock:
                self.closed = True
            sleep(1)

            with self.pool.lock:
                self.closed = False
            with self.other:
                pass
        """
    )
    statements = Statements(text)
    assert statements.with_neighbours((4, 4), "pool.lock") == (2, 7)
    assert statements.with_neighbours((4, 4), "self.other") == (4, 4)
    assert statements.with_neighbours((6, 7), "self.other") == (6, 9)
    assert statements.with_neighbours((3, 3), "self.lock") == (3, 3)
    assert statements.with_neighbours((98, 99), "self.lock") == (98, 99)
    assert statements.is_with((2, 3), "self.lock")
    assert not statements.is_with((2, 4), "self.lock")
    assert not statements.is_with((2, 3), "self.other")
    assert not statements.is_with((98, 99), "self.other")


def test_two_locks_that_one_function_takes_by_two_names_are_two() -> None:
    text = textwrap.dedent(
        """\
        def move(one, other):
            with one.lock:
                amount = one.amount
            with other.lock:
                other.amount += amount
            with one.lock:
                one.amount = 0

        def put(self):
            with self.lock:
                self.amount += 1
        """
    )
    statements = Statements(text)
    assert statements.with_neighbours((6, 7), "one.lock") == (6, 7)
    assert statements.with_neighbours((6, 7), "other.lock") == (4, 7)
    assert not statements.is_with((2, 3), "other.lock")
    assert statements.is_with((10, 11), "other.lock")  # here it may have another name
    assert not statements.is_with((10, 11), "other.guard")


def test_a_file_is_searched_once_however_many_lines_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[ast.AST] = []
    walk = ast.walk
    monkeypatch.setattr(ast, "walk", lambda node: searched.append(node) or walk(node))  # type: ignore[func-returns-value]
    statements = Statements(TEXT)
    whole: list[int] = []
    for _ in range(2):  # a run acquires a lock thousands of times
        statements.locks_at(LINES["self.lock.acquire()"])
        statements.keeps_lock(LINES["self.lock.acquire()"])
        whole.append(sum(isinstance(node, ast.Module) for node in searched))
    assert whole[0] == whole[1]


def test_what_a_line_assigns_to_is_named() -> None:
    text = (
        "guard = Lock()\nclass A:\n    lock: object = Lock()\n    def f(self):\n        self.a = b = Lock(\n        )\n"
    )
    statements = Statements(text + "locks[0] = Lock()\nLock()\n")
    assert [statements.assigned_at(line) for line in (1, 3, 5, 7, 8)] == [
        *(["guard"], ["lock"], ["self.a", "b"], [], []),
    ]
