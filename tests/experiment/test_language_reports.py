"""Which crashes of the virtual machine of Java, and which tests that fail, are the same failure."""

from __future__ import annotations

import pytest

from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.process import Finished

MACHINE = """\
#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x00007f6b124d3b8{digit}, pid={digit}21368, tid=21373
#
# JRE version: OpenJDK Runtime Environment (17.0.15+6) (build 17.0.15+6-Debian-1deb12u1)
# Problematic frame:
# {frame}
#
# CreateCoredumpOnCrash turned off, no core file dumped
"""
WHOLE = """\
Time: Sun Nov 29 19:41:1{digit} 2026 UTC elapsed time: 0.{digit} seconds

Java frames: (J=compiled Java code, j=interpreted, Vv=VM code)
j  jdk.internal.misc.Unsafe.getInt(Ljava/lang/Object;J)I+0 java.base@17.0.15
J {digit} c2 org.x.Rows.{function}(I)V (15 bytes) @ 0x00007f6b1 [0x00007f6+0x1{digit}]
j  org.x.Main.main([Ljava/lang/String;)V+922
v  ~StubRoutines::call_stub
"""


def ending(output: str, *inputs: bytes) -> Ending:
    return Oracle().about(*inputs).ending(Finished(1, None, False, 0.5, output.encode()), inputs[-1])


@pytest.mark.parametrize(
    ("frame", "another"),
    [
        ("V  [libjvm.so+0xed3b8c]  Unsafe_GetInt+0x12c", "V  [libjvm.so+0xed27f4]  Unsafe_PutInt+0x124"),
        ("J {digit} c2 org.x.Rows.get(I)V (9 bytes) @ 0x7f6b{digit} [0x7f6+0x1]", "j  org.x.Rows.set(I)V+3"),
    ],
    ids=["machine", "compiled"],
)
def test_a_crash_of_the_virtual_machine_is_at_its_frame(frame: str, another: str) -> None:
    one, same, other = (
        ending(MACHINE.format(frame=each.format(digit=digit), digit=digit), b"")
        for each, digit in ((frame, 3), (frame, 45), (another, 3))
    )
    assert one.is_report
    assert one.is_like(same)
    assert not one.is_like(other)


def test_the_programs_own_call_counts_if_the_whole_report_is_printed() -> None:
    text = MACHINE.replace("{frame}", "V  [libjvm.so+0xed3b8c]  Unsafe_GetInt+0x12c") + WHOLE
    one, same, other = (ending(text.format(function=f, digit=d), b"") for f, d in (("get", 3), ("get", 45), ("set", 3)))
    assert "from org.x.Rows.get(I)V" in one.signature
    assert one.is_like(same)
    assert not one.is_like(other)


def test_what_a_test_says_may_repeat_the_input() -> None:
    form = "FAILED tests/test_a.py::test_x - ValueError: no row {}\n"
    whole = b"first second"
    one, same = (ending(form.format(word), whole, word.encode()) for word in ("first", "second"))
    assert one.signature == same.signature
    assert one.signature != ending(form.replace("row", "column").format("first"), whole, b"first").signature
    # Signs stay.
    equal, less = (ending(f"FAILED tests/test_a.py::test_x - assert 1 {sign} 2\n", whole) for sign in ("==", "<"))
    assert equal.signature != less.signature


MONO = """\
Unhandled Exception:
RowError: loading {data} ---> System.FormatException: Input string was not in a correct format.
  at System.Int32.Parse (System.String s) [0x00019] in <12b4{data}>:0
  at Rows.{function} (System.String s) [0x00000] in <7390{data}>:0
[ERROR] FATAL UNHANDLED EXCEPTION: RowError: loading {data} ---> {cause}: Input string was not in a correct format.
  at System.Int32.Parse (System.String s) [0x00019] in <12b4{data}>:0
  at Rows.{function} (System.String s) [0x00000] in <7390{data}>:0
   --- End of inner exception stack trace ---
  at Rows.Main (System.String[] a) [0x000ed] in <7390{data}>:0
"""
HASKELL = """\
rows: no row {data}
CallStack (from HasCallStack):
  error, called at libraries/base/GHC/List.hs:1646:3 in base:GHC.List
  head, called at src/{function}.hs:13:5 in main:Main
"""


def test_an_error_of_mono_is_that_of_its_causes() -> None:
    one, same, other, cause = (
        ending(MONO.format(function=f, data=d, cause=c), b"")
        for f, d, c in (("Load", 3, "A.B"), ("Load", 45, "A.B"), ("Save", 3, "A.B"), ("Load", 3, "A.C"))
    )
    assert one.is_like(same)
    assert not one.is_like(other)
    assert not one.is_like(cause)
    assert "from Rows.Load [0x00000]" in one.signature
    placed = MONO.replace("in <7390{data}>:0", "in /src/rows.cs:5")
    assert "from rows.cs:5 in Rows.Load" in ending(placed.format(function="Load", data=3, cause="A.B"), b"").signature


def test_an_error_of_haskell_is_where_the_program_calls() -> None:
    one, same, other, words = (
        ending(HASKELL.format(function=f, data=d), b"4 5")
        for f, d in (("get", 4), ("get", 5), ("set", 4), ("get", "at"))
    )
    assert one.is_like(same)
    assert not one.is_like(other)
    assert not one.is_like(words)
    assert "from src/get.hs:13:5 in head" in one.signature
