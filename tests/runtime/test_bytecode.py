"""Which instructions are yield points, and which the GIL could switch at."""

from __future__ import annotations

import dis
import sys
import textwrap
from pathlib import Path
from types import CodeType

import pytest

from replay_dd.schedules.model import Settings, Trigger
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.points.bytecode import alike, describe, instructions, points, reachable_under_gil
from tests.runtime.programs import GRANULARITIES, output_of, run_program


def code_of(text: str) -> CodeType:
    """The code of function ``f`` in a text."""
    module = compile(textwrap.dedent(text), "prog.py", "exec")
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType) and constant.co_name == "f")


def names_at(code: CodeType, offsets: list[int]) -> list[str]:
    return [describe(code, offset)[2] for offset in offsets]


def offsets_of(code: CodeType, name: str, argument: object = None) -> list[int]:
    """Where a (not specialised) instruction with this argument stands."""
    return [
        instruction.offset
        for instruction in dis.get_instructions(code)
        if instruction.opname == name and argument in (None, instruction.argval)
    ]


def test_locals_never_count() -> None:
    code = code_of("""
        def f(a, b):
            c = a
            d, e = b, c
            del a
            if d is e or not c:
                c = [d, e]
            return c
        """)
    assert points(code, "access") == []


@pytest.mark.parametrize(
    "statement, expected",
    [
        ("a.x", "LOAD_ATTR"),
        ("a.x = 1", "STORE_ATTR"),
        ("del a.x", "DELETE_ATTR"),
        ("a[b]", "BINARY_SUBSCR"),
        ("a[b] = 1", "STORE_SUBSCR"),
        ("del a[b]", "DELETE_SUBSCR"),
        ("g", "LOAD_GLOBAL"),
        ("a in b", "CONTAINS_OP"),
        ("a()", "CALL"),
        ("a(*b)", "CALL_FUNCTION_EX"),
        ("a(*b, **b)", "CALL_FUNCTION_EX"),
        ("global G; G = 1", "STORE_GLOBAL"),
        ("global G; del G", "DELETE_GLOBAL"),
        ("c", "LOAD_DEREF"),
        ("nonlocal c; c = 1", "STORE_DEREF"),
        ("nonlocal c; del c", "DELETE_DEREF"),
    ],
)
def test_what_counts_as_an_access(statement: str, expected: str) -> None:
    outer = compile(f"def outer(c=1):\n    def f(a, b):\n        {statement}\n    c = 2", "prog.py", "exec")
    middle = next(constant for constant in outer.co_consts if isinstance(constant, CodeType))
    code = next(constant for constant in middle.co_consts if isinstance(constant, CodeType))
    assert names_at(code, points(code, "access")) == [expected]


def test_keyword_calls_slices_loops_and_with_count() -> None:
    assert len(points(code_of("def f(a, b): a(x=b)"), "access")) == 1
    assert len(points(code_of("def f(a, b): a[b:b]"), "access")) == 1
    assert len(points(code_of("def f(a, b): a[b:b] = b"), "access")) == 1
    loop = points(code_of("def f(a):\n    for b in a: pass"), "access")
    assert names_at(code_of("def f(a):\n    for b in a: pass"), loop) == ["FOR_ITER"]
    code = code_of("def f(a):\n    with a: pass")
    assert "BEFORE_WITH" in names_at(code, points(code, "access"))


def test_a_comprehension_counts_as_the_loop_that_it_is() -> None:
    text = "def f(a): return [b.x for b in a]"
    code = code_of(text)
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    names = [name for one in [code, *inner] for name in names_at(one, points(one, "access"))]
    assert sorted(name for name in names if name != "CALL") == ["FOR_ITER", "LOAD_ATTR"]


@pytest.mark.parametrize(
    "body, expected",
    [
        ("while True:\n  a += 1\n  yield a", ["YIELD_VALUE"]),
        ("yield a", ["YIELD_VALUE"]),
        ("a.x\n while a:\n  yield a", ["LOAD_ATTR", "YIELD_VALUE"]),
        ("a.x\n yield a\n a.x", ["LOAD_ATTR", "LOAD_ATTR"]),
        ("for b in a:\n  yield b", ["FOR_ITER"]),
        ("yield a\n a.x\n yield a", ["YIELD_VALUE", "LOAD_ATTR"]),
    ],
)
def test_a_generator_counts_where_it_yields_having_touched_nothing(body: str, expected: list[str]) -> None:
    """Another thread may ask it for an item while it runs, which raises ValueError."""
    code = code_of(f"def f(a):\n {body}")
    assert names_at(code, points(code, "access")) == expected


def test_generator_expressions_and_coroutines_count_as_before() -> None:
    assert points(code_of("async def f(a): await a"), "access") == []
    expression = next(one for one in code_of("def f(a): return (b for b in a)").co_consts if isinstance(one, CodeType))
    assert names_at(expression, points(expression, "access")) == ["FOR_ITER"]


def test_a_thread_is_switched_inside_a_generator_of_locals(tmp_path: Path) -> None:
    run = run_program(
        tmp_path,
        """
        import threading

        def numbers():
            number = 0
            while True:
                number += 1
                yield number

        shared = numbers()

        def work():
            try:
                next(shared)
            except ValueError as error:
                print(error)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """,
        Plan("replay", triggers=(Trigger("0.1", 4, "0.2"),)),
    )
    assert output_of(run) == "generator already executing\n"


def test_names_beyond_the_first_256_need_a_prefix_and_count_once() -> None:
    # The argument of the last loads does not fit one byte: EXTENDED_ARG stands before them.
    code = code_of("def f(a):\n    " + "\n    ".join(f"a.name{number}" for number in range(600)))
    assert offsets_of(code, "EXTENDED_ARG")
    found = points(code, "access")
    assert len(found) == len(set(found)) == 600
    assert {describe(code, offset)[2] for offset in found} == {"LOAD_ATTR"}
    assert describe(code, found[-1])[0] == 601
    assert len(instructions(code)) == len({offset for offset, *_ in instructions(code)})


def test_a_prefixed_instruction_passes_one_yield_point(tmp_path: Path) -> None:
    """What the interpreter announces fits what the tables say."""
    text = """
        import threading
        class A: pass
        a = A()
        for number in range(600):
            setattr(a, f"name{number}", number)
        exec("def read():\\n" + "\\n".join(f"    a.name{number}" for number in range(600)))
        text = "def f(a):\\n" + "\\n".join(f"    a.name{number}" for number in range(COUNT))
        with open("made.py", "w") as file:
            file.write(text)
        import made
        thread = threading.Thread(target=made.f, args=(a,))
        thread.start()
        thread.join()
    """
    times = []
    for count in (10, 600):
        run = run_program(tmp_path / str(count), text.replace("COUNT", str(count)))
        output_of(run)
        times.append(run.log.ending.thread_times["0.1"])
    assert times[1] - times[0] == 590


def test_increment_by_statement_is_not_torn_under_the_gil() -> None:
    code = code_of("def f(s):\n    t = s.v\n    s.v = t + 1")
    (store,) = offsets_of(code, "STORE_ATTR")
    (load,) = offsets_of(code, "LOAD_ATTR")
    assert not reachable_under_gil(code, store)[0]
    assert reachable_under_gil(code, load)[0], "the interpreter looks at function entry, and nothing shared came since"


def test_a_call_between_lets_the_gil_switch() -> None:
    code = code_of("def f(s, g):\n    t = s.v\n    g()\n    s.v = t + 1")
    (store,) = offsets_of(code, "STORE_ATTR")
    assert reachable_under_gil(code, store)[0]


def test_an_access_after_the_call_hides_it_again() -> None:
    code = code_of("def f(s, g):\n    g()\n    t = s.v\n    s.v = t + 1")
    (load,) = offsets_of(code, "LOAD_ATTR")
    (store,) = offsets_of(code, "STORE_ATTR")
    assert reachable_under_gil(code, load)[0]
    assert not reachable_under_gil(code, store)[0]


def test_a_loop_lets_the_gil_switch_at_its_head() -> None:
    looped = code_of("def f(s):\n    for i in s:\n        s.w = i")
    assert reachable_under_gil(looped, offsets_of(looped, "FOR_ITER")[0])[0]
    assert not reachable_under_gil(looped, offsets_of(looped, "STORE_ATTR")[0])[0]


def test_gil_points_are_entry_backward_jump_and_after_calls() -> None:
    plain = code_of("def f(s):\n    s.v = s.w")
    assert names_at(plain, points(plain, "gil")) == ["RESUME"]
    calling = code_of("def f(g):\n    g(g())")
    assert len(points(calling, "gil")) == 3
    looping = code_of("def f(n):\n    while n:\n        n -= 1")
    assert len(points(looping, "gil")) >= 3


def test_gil_points_of_a_body_too_long_for_one_byte() -> None:
    body = "\n".join(f"        a.name{number}" for number in range(600))
    code = code_of(f"def f(a):\n    for b in a:\n{body}\n")
    known = {offset for offset, *_ in instructions(code)}
    assert set(points(code, "gil")) <= known


# -- end to end ------------------------------------------------------------------------------------------------------

STEPS = textwrap.dedent("""
    import threading

    class Box:
        value = 0

    box = Box()

    def work():
        BODY

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
""")


def time_of(folder: Path, body: str, granularity: str = "access", **settings: tuple[str, ...]) -> int:
    """The thread time of a thread that executes a body, without what an empty body takes."""
    times = []
    for number, text in enumerate((body, "pass")):
        filled = STEPS.replace("BODY", text.replace("\n", "\n    "))
        run = run_program(folder / str(number), filled, settings=Settings(granularity=granularity, **settings))
        output_of(run)
        times.append(run.log.ending.thread_times["0.1"])
    return times[0] - times[1]


def test_each_granularity_counts_what_it_says(tmp_path: Path) -> None:
    body = "a = box\nb = a.value\nbox.value = b\nc = b"
    # access: global, attribute, global, attribute; line: three lines more than one; gil and sync: nothing there.
    assert time_of(tmp_path / "access", body, "access") == 4
    assert time_of(tmp_path / "line", body, "line") == 3
    assert time_of(tmp_path / "gil", body, "gil") == 0
    assert time_of(tmp_path / "sync", body, "sync") == 0


def test_locks_count_at_every_granularity(tmp_path: Path) -> None:
    once = "lock = threading.Lock()\nlock.acquire()\nlock.release()"
    for granularity in GRANULARITIES:
        folder = tmp_path / granularity
        more = time_of(folder / "twice", once + "\nlock.acquire(); lock.release()", granularity)
        less = time_of(folder / "once", once + "\nlock.locked; lock.locked", granularity)
        # The yield points of the instructions are those of two attribute reads and, for access, gil, two calls.
        assert more - less >= 2, granularity
    assert time_of(tmp_path / "exact", once, "sync") == 2


def test_the_standard_library_does_not_count(tmp_path: Path) -> None:
    short = time_of(tmp_path / "short", "import textwrap\ntextwrap.fill('a b c')")
    long = time_of(tmp_path / "long", "import textwrap\ntextwrap.fill('a b c ' * 400)")
    assert long - short == 0


def test_packages_can_be_included(tmp_path: Path) -> None:
    body = "import textwrap\ntextwrap.fill('a b c ' * 40)"
    assert time_of(tmp_path / "in", body, include=("textwrap",)) > time_of(tmp_path / "out", body) + 40


def test_packages_can_be_excluded(tmp_path: Path) -> None:
    def run(name: str, *excluded: str) -> int:
        folder = tmp_path / name
        (folder / "helper").mkdir(parents=True)
        (folder / "helper" / "__init__.py").write_text("")
        (folder / "helper" / "inner.py").write_text("def f(box):\n    for _ in range(100):\n        box.value += 1\n")
        text = STEPS.replace("BODY", "inner.f(box)").replace(
            "import threading", "import threading\nfrom helper import inner"
        )
        done = run_program(folder, text, settings=Settings(exclude=excluded))
        output_of(done)
        return done.log.ending.thread_times["0.1"]

    everything = run("nothing")
    assert everything > 200
    assert run("package", "helper") < 20
    assert run("module", "helper.inner") < 20
    assert run("another", "help") == everything


def test_nothing_counts_before_the_first_thread(tmp_path: Path) -> None:
    text = STEPS.replace("BODY", "pass")
    plain = run_program(tmp_path / "plain", text).log.ending
    busy = run_program(
        tmp_path / "busy", text.replace("box = Box()", "box = Box()\nfor _ in range(99): box.value += 1")
    )
    output_of(busy)
    assert busy.log.ending.thread_times == plain.thread_times


def test_third_party_packages_count(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages" / "third"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("def f(box):\n    for _ in range(100):\n        box.value += 1\n")
    text = STEPS.replace("import threading", "import sys, threading\nsys.path.append('site-packages')\nimport third")
    run = run_program(tmp_path, text.replace("BODY", "third.f(box)"))
    output_of(run)
    assert run.log.ending.thread_times["0.1"] > 200
    assert {name for name in run.log.program.files if "third" in name} == {"third/__init__.py"}


def test_the_back_end_fits_the_interpreter_and_says_why(tmp_path: Path) -> None:
    run = run_program(tmp_path, STEPS.replace("BODY", "pass"), Plan())
    if sys.version_info >= (3, 12):
        assert "sys.monitoring" in run.backend
    else:
        assert run.backend in {"settrace", "C trace function"}
    assert "sys.monitoring" in run.backend_reason


def test_a_switch_knows_its_place(tmp_path: Path) -> None:
    text = STEPS.replace("BODY", "a = box\n    print(a.value)")
    run = run_program(tmp_path, text)
    line = 1 + next(number for number, one in enumerate(text.splitlines()) if "thread.join" in one)
    joining = next(switch for switch in run.log.switches if switch.thread == "0" and switch.forced)
    assert joining.place is not None
    assert (joining.place.file, joining.place.line, joining.place.function) == ("prog.py", line, "<module>")
    assert joining.place.gil_reachable, "a call that waits lets others run"
    assert joining.place.path == str(tmp_path / "prog.py")


def test_the_head_of_a_long_loop_is_reachable_though_an_access_stands_before() -> None:
    body = "\n".join(f"        a.name{number}" for number in range(600))
    code = code_of(f"def f(a):\n    a.first\n    for b in a:\n{body}\n")
    (head,) = [offset for offset, *_ in instructions(code) if describe(code, offset)[2] == "FOR_ITER"]
    assert reachable_under_gil(code, head)[0]


def test_instructions_that_only_their_offset_tells_apart_are_alike() -> None:
    code = code_of("""
        def f(a, b):
            with a:
                try:
                    b.one.two()
                finally:
                    b.last()
        """)
    listing = instructions(code)
    at = {
        (line, name): [start for start, *_ in listing if describe(code, start)[::2] == (line, name)]
        for line, _, name in (describe(code, start) for start, *_ in listing)
    }
    assert len(at[7, "CALL"]) == 2
    calls = offsets_of(code, "CALL")
    assert all([one for one in alike(code, start) if one in calls] == at[7, "CALL"] for start in at[7, "CALL"])
    (call,) = at[5, "CALL"]
    assert [one for one in alike(code, call) if one in calls] == [call]
    last = next(end for start, _, _, end in listing if start == call) - 2
    assert last in alike(code, last), "an instruction in progress stands there"
    attributes = [start for (line, name), found in at.items() if line == 5 and "LOAD_ATTR" in name for start in found]
    attributes += [
        start for (line, name), found in at.items() if line == 5 and "LOAD_METHOD" in name for start in found
    ]
    assert len(attributes) == 2
    assert alike(code, attributes[0]) == attributes
