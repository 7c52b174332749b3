"""Which errors are the same failure in languages whose values, or functions without lines, tell what failed."""

from __future__ import annotations

import pytest

from replay_dd.experiment.crash_reports import crash_report
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.process import Finished

OCAML = """\
Fatal error: exception Failure("no row {data}")
Raised at Stdlib.failwith in file "stdlib.ml", line 29, characters 17-33
Called from Rows.{function} in file "rows.ml" (inlined), line {line}, characters 4-9
"""
GUILE = """\
Backtrace:
In ice-9/boot-9.scm:
  1752:10  2 (with-exception-handler _ _ #:unwind? _ # {data})
In /src/rows.scm:
    {line}:18  1 ({function} {data})
In ice-9/boot-9.scm:
   2007:7  0 (error _ . _)

ice-9/boot-9.scm:2007:7: In procedure error:
no row: "{data}"
"""
SBCL = """\
Unhandled SIMPLE-ERROR in thread #<SB-THREAD:THREAD "main thread" RUNNING
                                    {{100134{data}}}>:
  no row {data}

Backtrace for: #<SB-THREAD:THREAD "main thread" RUNNING {{100134{data}}}>
0: (SB-DEBUG::DEBUGGER-DISABLED-HOOK #<SIMPLE-ERROR "no row ~a" {{1001{data}}}> :QUIT T)
1: (INVOKE-DEBUGGER #<SIMPLE-ERROR "no row ~a" {{1001{data}}}>)
2: (ERROR "no row ~a" "{data}")
3: ({function} "{data}")
4: ((LAMBDA NIL :IN "/src/rows.lisp"))
"""
ERLANG = """\
escript: exception error: no row {data}
  in function  lists:nth/2 (lists.erl, line 198)
  in call from rows:{function}/1 (rows.erl, line {line})
"""
ELIXIR = """\
** (ArgumentError) errors were found at the given arguments:

  * 1st argument: no row {data}

    :erlang.binary_to_integer("{data}")
    rows.exs:{line}: Rows.{function}/1
    (elixir 1.14.0) lib/code.ex:1245: Code.require_file/2
"""
R = """\
Error in list(1, {data})[[3]] :
  no row {data}
Calls: <Anonymous> -> {function}
Execution halted
"""
OCTAVE = """\
error: no row {data} among
'north', 'south'
error: called from
    validatestring at line 130 column 5
    {function} at line {line} column {data}
    rows at line 20 column 1
"""
FORTRAN = """\
At line {line} of file rows.f90 (unit = 10, file = 'rows {data}.txt')
Fortran runtime error: no row {data}

Error termination. Backtrace:
#0  0x7f4db4{data} in ???
"""
STOP = """\
ERROR STOP no row {data}

Error termination. Backtrace:
#0  0x7f4db4{data} in ???
#1  0x7f4db4{data} in {function}_
\tat /src/rows.f90:{line}
"""
TCL = """\
no row {data}
    while executing
"lindex $rows {data}"
    (procedure "{function}" line {line})
    invoked from within
"{function} {data}"
    (file "rows.tcl" line 20)
"""
PHP = """\
PHP Fatal error:  Uncaught RuntimeException: no row {data} in rows in /src/my project/{function}.php:{line}
Stack trace:
#0 {{main}}
"""
FORMS = {
    "OCaml": OCAML,
    "Guile": GUILE,
    "SBCL": SBCL,
    "Erlang": ERLANG,
    "Elixir": ELIXIR,
    "R": R,
    "Octave": OCTAVE,
    "Fortran": FORTRAN,
    "Fortran's stop": STOP,
    "Tcl": TCL,
    "PHP": PHP,
}
_WITHOUT_LINES = ("SBCL", "R")


def ending(output: str, whole: str = "") -> Ending:
    return Oracle().about(whole.encode()).ending(Finished(1, None, False, 0.5, output.encode()))


@pytest.mark.parametrize("name", FORMS)
def test_the_same_failure_has_the_same_place_and_says_the_same(name: str) -> None:
    form = FORMS[name]
    one, same, elsewhere = (
        ending(form.format(function=function, data=data, line=line))
        for function, data, line in (("parse", 4, 7), ("parse", 81, 7), ("scan", 4, 9))
    )
    saying = ending(form.replace("no row", "no column").format(function="parse", data=4, line=7))
    assert one.is_report
    assert one.is_like(same)
    assert not one.is_like(elsewhere)
    assert not one.is_like(saying)
    in_another_line = ending(form.format(function="parse", data=4, line=9))
    assert one.is_like(in_another_line) == (name in _WITHOUT_LINES)


@pytest.mark.parametrize(
    "form",
    [
        'Fatal error: exception Rows.Missing(3, "{}")\n',
        'Exception: Missing (3, "{}").\n',
        "Backtrace:\n           0 (_)\n\nERROR: Throw to key `missing' with args `(3 \"{}\")'.\n",
        "** (Missing) {}\n    rows.exs:3: Rows.get/1\n",
    ],
)
def test_the_kind_of_an_exception_counts_and_not_what_it_carries(form: str) -> None:
    one, same = (ending(form.format(data), "pen and ink") for data in ("pen", "ink"))
    assert one.is_report
    assert one.is_like(same)
    other = form.replace("Missing", "Closed").replace("missing", "closed").format("pen")
    assert not one.is_like(ending(other, "pen and ink"))


@pytest.mark.parametrize(
    "form",
    [
        'Fatal error: exception File "rows.ml", line {}, characters 9-15: Assertion failed\n',
        "Program received signal SIGFPE: Floating-point exception.\n\nBacktrace for this error:\n"
        "#0  0x7f in ???\n#1  0x7f in half_\n\tat /src/rows.f90:{}\n",
    ],
)
def test_a_place_in_the_program_tells_failures_apart(form: str) -> None:
    one, other = (ending(form.format(line)) for line in (3, 4))
    assert one.is_report
    assert not one.is_like(other)


@pytest.mark.parametrize(
    "form",
    [
        'Fatal error: exception Stack_overflow\nCalled from Rows.f in file "rows.ml", line {}, characters 4-9\n',
        "Backtrace:\nIn /src/rows.scm:\n    {}:18  1 (f _)\n\n/src/rows.scm:3:1: Stack overflow\n",
        "Unhandled SB-KERNEL::CONTROL-STACK-EXHAUSTED in thread #<T>:\n  deep\nBacktrace for: #<T>\n0: (F {})\n",
        "Error: nested too deeply: infinite recursion\nCalls: f{}\nExecution halted\n",
        "error: max_recursion_depth exceeded\nerror: called from\n    f at line {} column 1\n",
        'too many nested evaluations (infinite loop?)\n    while executing\n"f"\n    (procedure "f" line {})\n',
    ],
    ids=["OCaml", "Guile", "SBCL", "R", "Octave", "Tcl"],
)
def test_where_a_stack_overflows_does_not_count(form: str) -> None:
    one, other = (ending(form.format(line)) for line in (3, 4))
    assert one.is_report
    assert one.is_like(other)


@pytest.mark.parametrize(
    "output",
    [
        "Exception: see the log\n",
        "Error: no such file\n",
        "error: no such file\nerror: giving up\n",
        "Backtrace:\nnone\n",
    ],
)
def test_lines_that_only_begin_alike_are_no_reports(output: str) -> None:
    assert crash_report(output.encode()) is None
