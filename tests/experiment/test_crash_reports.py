"""Which reports of crashes are the same failure, in the forms that tools and languages print."""

from __future__ import annotations

import pytest

from replay_dd.experiment.crash_report import Report
from replay_dd.experiment.crash_reports import crash_report, crash_reports
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.process import Finished

SANITIZER = """\
==7==ERROR: AddressSanitizer: {kind} on address 0x60300000005{digit} at pc 0x7f91e7c48061 bp 0x7ffe sp 0x7ffd
WRITE of size 2{digit} at 0x60300000005{digit} thread T0
    #0 0x7f91e7c48060 in __interceptor_memcpy ../../../../src/libsanitizer/sanitizer_common/common.inc:827
    #1 0x559df0a832fa in {function} /src/a.c:6
    #2 0x559df0a83c5e in main /src/a.c:17

0x603000000054 is located 0 bytes to the right of 20-byte region [0x603000000040,0x603000000054)
allocated by thread T0 here:
    #0 0x7f91e7cb89cf in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x559df0a83b4b in other /src/a.c:16

SUMMARY: AddressSanitizer: {kind} ../../../../src/libsanitizer/sanitizer_common/common.inc:827 in __interceptor_memcpy
==7==ABORTING
"""
MODULE = """\
==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000050 (pc 0x5589 bp 0x7ffc sp 0x7ffc T0)
    #0 0x5565a955e52{digit}  (/src/program+0x{offset}) (BuildId: c0ffee)

SUMMARY: AddressSanitizer: SEGV (/src/program+0x{offset}) (BuildId: c0ffee)
"""
VALGRIND = """\
==9{digit}== Invalid read of size {digit}
==9{digit}==    at 0x48417B4: strlen (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==9{digit}==    by 0x1092E{digit}: {function} (a.c:13)
==9{digit}==  Address 0x4a42090 is {digit} bytes before a block of size 4 alloc'd
==9{digit}==    at 0x48417B4: first (a.c:1)
==9{digit}==
==9{digit}== Conditional jump or move depends on uninitialised value(s)
==9{digit}==    at 0x1: later{digit} (a.c:{digit})
"""
LOST = """\
==9== {digit}0 bytes in {digit} blocks are definitely lost in loss record 1 of {digit}
==9==    at 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==9==    by 0x10937A: {function} (a.c:16)
"""
COMPILER = """\
bug.c:{digit}:1: internal compiler error: Segmentation fault
    3 | int x;
0xd4e{digit} crash_signal
\t../../src/gcc/toplev.cc:314
0x7f5{digit} ???
\t./signal/../sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c:0
0x6f1{digit} {function}(tree_node*, int)
\t../../src/gcc/cp/decl.cc:12
Please submit a full bug report
"""
CLANG = """\
Stack dump:
0.\tProgram arguments: clang-15 -cc1 x{digit}.c
1.\tx{digit}.c:{digit}:5: current parser token ';'
 #0 0x00007f0{digit} llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/libLLVM-15.so.1+0xe5a{digit})
 #1 0x00007f1{digit} (/lib/x86_64-linux-gnu/libc.so.6+0x3c050)
 #2 0x00007f2{digit} clang::Sema::{function}(clang::Scope*, int) (/usr/lib/libclang-cpp.so.15+0x12c)
"""
GDB = """\
Program received signal SIGABRT, Aborted.
__pthread_kill_implementation (threadid=<optimized out>, signo=6) at ./nptl/pthread_kill.c:44
#0  __pthread_kill_implementation (threadid=<optimized out>) at ./nptl/pthread_kill.c:44
#1  0x00007ffff7d{digit} in __GI_abort () at ./stdlib/abort.c:79
#2  0x000055555555 in {function} (p=0x{digit}, n={digit}) at a.c:13
"""
JAVA = """\
Exception in thread "main" org.x.Failed: could not load
file {digit}
\tat org.x.Files.load(Files.java:7)
\tat org.x.Main.main(Main.java:10)
Caused by: java.lang.NumberFormatException: For input string: "{digit}"
\tat java.base/java.lang.Integer.parseInt(Integer.java:668)
\tat org.x.Rows.{function}(Rows.java:4)
\t... 2 more
"""
PRINTED = 'java.lang.IllegalStateException: "{digit}"\n\tat org.x.Rows.{function}(Rows.java:4)\n'
NODE = """\
node:fs:573
  return binding.open(
                 ^

Error: ENOENT: no such file or directory, open '{digit}'
    at Object.openSync (node:fs:573:18)
    at {function} (/src/n.js:8:29)
    at node:internal/main/run_main_module:28:49 {{
  errno: -2
}}

Node.js v20.20.2
"""
ASSERTION = """\
AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

'{digit}' !== '2'

    at {function} (/src/n.js:7:22)
    at node:internal/main/run_main_module:28:49
"""
THROWN = """\
/src/n.js:{line}
function b(){{ throw 'x' }}
              ^
'{digit}'
(Use `node --trace-uncaught ...`)

Node.js v20.20.2
"""
RUST = """\
thread 'main' (98{digit}) panicked at /rustc/5980/library/core/src/slice/index.rs:201:37:
index is {digit}
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/5980/library/std/src/panicking.rs:689:5
   1: r::{function}
             at ./src/{function}.rs:3:30
"""
GO = """\
panic: strconv.Atoi: parsing "{digit}": invalid syntax

goroutine {digit} [running]:
panic({{0x45f8e0?, 0xc00001c0a8?}})
\t/usr/local/go/src/runtime/panic.go:884 +0x212
strconv.must(...)
\t/usr/local/go/src/strconv/atoi.go:12
main.{function}({{0xc{digit}, 0x1}})
\t/src/main.go:8 +0x1d
main.main()
\t/src/main.go:14 +0x1d
exit status 2
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/src/g.py", line 7, in <module>
  |     asyncio.run(main())
  |   File "/usr/lib/python3.11/asyncio/taskgroups.py", line 133, in __aexit__
  |     raise me from None
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/src/g.py", line 2, in {function}
    |     raise ValueError(f"bad '{{x}}'")
    | ValueError: bad '{digit}'
    +------------------------------------
"""
FATAL = """\
Fatal Python error: Segmentation fault

Current thread 0x00007fe44aa7fb8{digit} (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/src/s.py", line 3 in {function}
  File "/src/s.py", line 9 in <module>
"""
STANDARD_LIBRARY = """\
Traceback (most recent call last):
  File "/src/s.py", line 9, in <module>
    {function}(x)
  File "/src/s.py", line 2, in {function}
    return strptime(x, "%Y")
  File "/usr/lib/python3.11/_strptime.py", line 349, in _strptime
    raise ValueError
ValueError: time data '{digit}' does not match format '%Y'
"""
LEAK = """\
==7==ERROR: LeakSanitizer: detected memory leaks

Direct leak of {digit}0 byte(s) in 1 object(s) allocated from:
    #0 0x7facd24b89cf in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x55f92931a5ff in {function} /src/a.c:9

SUMMARY: AddressSanitizer: {digit}0 byte(s) leaked in 1 allocation(s).
"""
CASES = {
    "sanitizer": SANITIZER.replace("{kind}", "heap-buffer-overflow"),
    "valgrind": VALGRIND,
    "lost": LOST,
    "compiler": COMPILER,
    "clang": CLANG,
    "gdb": GDB,
    "java": JAVA,
    "printed": PRINTED,
    "node": NODE,
    "assertion": ASSERTION,
    "rust": RUST,
    "go": GO,
    "group": GROUP,
    "fatal": FATAL,
    "standard library": STANDARD_LIBRARY,
    "leak": LEAK,
    "undefined behavior": "{function}.c:1:3: runtime error: signed integer overflow: {digit} + 1 cannot be\n",
    "terminate": "terminate called after throwing an instance of 'std::{function}'\n  what():  bad \"{digit}\"\n",
    "libc++": "libc++abi: terminating due to uncaught exception of type std::{function}: no '{digit}'\n",
    "ruby": "{function}.rb:3:in `f': undefined method '{digit}' for nil (NoMethodError)\n",
    "php": "PHP Fatal error:  Uncaught TypeError: no '{digit}' in /src/{function}.php:3\nStack trace:\n#0 {{main}}\n",
    "lua": "lua5.4: {function}.lua:3: no '{digit}'\nstack traceback:\n\t[C]: in ?\n",
    "perl": "odd '{digit}' at {function}.pl line 3, <STDIN> line {digit}.\n",
    ".NET": (
        "Unhandled exception. System.FormatException: no '{digit}'\n"
        "   at System.Number.Throw(Int32 x)\n   at P.{function}() in /src/{function}.cs:line 5\n"
    ),
    "ruby of 3.4": "{function}.rb:3:in 'Integer': invalid value: \"{digit}\" (ArgumentError)\n",
}


def ending(output: str, status: int | None = 1, signal: int | None = None) -> Ending:
    return Oracle().about(b"").ending(Finished(status, signal, False, 0.5, output.encode()))


def report(output: str) -> Report:
    found = crash_report(output.encode())
    assert found is not None
    return found


@pytest.mark.parametrize("form", CASES.values(), ids=CASES.keys())
def test_data_does_not_count_but_the_place_in_the_program_does(form: str) -> None:
    one, same, other = (
        ending("begun\n" + form.format(function=function, digit=digit, line=3))
        for function, digit in (("parse", 4), ("parse", 8), ("scan", 4))
    )
    assert one.is_report
    assert one.is_like(same)
    assert not one.is_like(other)


def test_of_several_leaks_one_in_common_is_enough() -> None:
    summary = "SUMMARY: AddressSanitizer: 20 byte(s) leaked in 1 allocation(s).\n"
    first, second, other = (
        LEAK.format(function=function, digit=3).partition("SUMMARY")[0] for function in ("parse", "scan", "write")
    )
    assert ending(first + second + summary).is_like(ending(second + summary))
    assert not ending(first + second + summary).is_like(ending(other + summary))


def test_an_offset_in_a_module_is_a_place() -> None:
    one, same, other = (
        ending(MODULE.format(digit=digit, offset=offset)) for digit, offset in ((1, "15a"), (2, "15a"), (1, "99"))
    )
    assert one.is_like(same)
    assert not one.is_like(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        [SANITIZER.format(kind="stack-overflow", function=name, digit=4) for name in ("parse", "scan")],
        [f"RangeError: Maximum call stack size exceeded\n    at {name} (/src/n.js:9:16)\n" for name in "ab"],
        [f'Exception in thread "main" java.lang.StackOverflowError\n\tat org.x.{name}(X.java:3)\n' for name in "ab"],
        ("free(): invalid pointer\n", "malloc(): corrupted top size\n"),
    ],
    ids=["sanitizer", "node", "java", "heap"],
)
def test_a_place_that_depends_on_depth_or_sizes_does_not_count(one: str, other: str) -> None:
    assert report(one).signature == report(other).signature


def test_other_errors_of_one_place_are_told_apart_by_what_they_say() -> None:
    """As those of a parser that raises all of its errors in one function."""
    node = "ParseFailed: {}\n    at raise (/src/n.js:8:29)\n"
    java = 'Exception in thread "main" org.x.Failed: {}\n\tat org.x.Parser.fail(Parser.java:7)\n'
    rust = "thread 'main' panicked at src/a.rs:4:9:\n{}\n"
    for form in (node, java, rust):
        one, same, other = (ending(form.format(said)) for said in ("no name at 3", "no name at 41", "no end at 3"))
        assert one.is_like(same)
        assert not one.is_like(other)


def test_what_an_exception_was_caused_by_belongs_to_it() -> None:
    text = JAVA.format(function="parse", digit=3)
    assert not ending(text).is_like(ending(text.replace("NumberFormat", "NullPointer")))
    assert not ending(text).is_like(ending(text.replace("org.x.Failed", "org.x.Other")))


RUBY_CAUSE = """\
main.rb:9:in `rescue in <main>': while loading {data} (QuotaError)
\tfrom main.rb:6:in `<main>'
{function}.rb:2:in `m': undefined method `upcase' for nil:NilClass (NoMethodError)

values[index].upcase
             ^^^^^^^
\tfrom main.rb:7:in `<main>'
"""
PHP_CAUSE = """\
PHP Fatal error:  Uncaught QuotaError: too many rows
in all in /src/{function}.php:8
Stack trace:
#0 {{main}}

Next RuntimeException: while loading '{data}' in /src/main.php:20
Stack trace:
#0 {{main}}
  thrown in /src/main.php on line 20
"""


@pytest.mark.parametrize("form", [RUBY_CAUSE, PHP_CAUSE], ids=["ruby", "php"])
def test_an_error_with_a_cause_is_another_than_the_cause_alone(form: str) -> None:
    one, same, other = (ending(form.format(function=f, data=d)) for f, d in (("f", 3), ("f", 45), ("g", 3)))
    assert one.is_like(same)
    assert not one.is_like(other)
    text = form.format(function="f", data=3)
    alone = text[text.index("f.rb:2:") :] if form == RUBY_CAUSE else text.partition("\nNext ")[0]
    assert ending(alone).is_report
    assert not one.is_like(ending(alone))


def test_an_error_of_a_ruby_thread_that_is_reported_twice_is_one_error() -> None:
    error = "main.rb:2:in `f': no name (KeyError)\n\tfrom main.rb:7:in `<main>'\n"
    assert report(error + error).signature == report(error).signature == "KeyError at main.rb:2"


def test_the_library_of_ruby_raises_the_same_error_for_all_of_its_callers() -> None:
    form = "/usr/lib/ruby/3.1.0/json/common.rb:216:in `parse': no end (JSON::ParserError)\n\tfrom main.rb:{}:in `f'\n"
    assert (
        report(form.format(2)).signature
        == "JSON::ParserError at /usr/lib/ruby/3.1.0/json/common.rb:216, from main.rb:2"
    )
    assert not ending(form.format(2)).is_like(ending(form.format(3)))


def test_calls_tell_the_place_of_a_lua_error_that_does_not() -> None:
    form = "lua5.4: no name\n{}stack traceback:\n\t[C]: in function 'error'\n\tmain.lua:{}: in main chunk\n"
    one, same, other = (report(form.format(more, line)) for more, line in (("", 3), ("\tno file x\n", 3), ("", 4)))
    assert one.signature == same.signature == "error at main.lua:3"
    assert other.signature == "error at main.lua:4"
    deep = "lua5.4: main.lua:{}: stack overflow\nstack traceback:\n\t[C]: in ?\n"
    assert report(deep.format(3)).signature == report(deep.format(4)).signature


def test_errors_of_fewer_than_the_whole_group_are_the_same_failure() -> None:
    first = GROUP.format(function="parse", digit=3)
    second = first.partition("1 ----------------\n")[2].replace("in parse", "in scan")
    both = first.rstrip("-+ \n") + "\n    +---------------- 2 ----------------\n" + second
    assert ending(both).is_like(ending(first))
    bare = first.partition("  +-+")[0] + "  +-+---------------- 1 ----------------\n    | ValueError: bad\n"
    assert report(bare).signature == "ExceptionGroup at taskgroups.py:133 in __aexit__, from g.py:7 in <module>"


@pytest.mark.parametrize("line", [3, 9])
def test_a_value_that_is_thrown_has_the_place_of_its_statement(line: int) -> None:
    found = report(THROWN.format(line=line, digit=7))
    assert (found.signature, found.words) == (f"uncaught at /src/n.js:{line}", "'7'")


def test_what_a_program_says_before_it_aborts_tells_failures_apart() -> None:
    one, same, other, silent = (
        ending(said, None, 6)
        for said in ("Check failed: size 3\n", "Check failed: size 4\n", "Check failed: name\n", "begun\n")
    )
    assert one.is_like(same)
    assert not one.is_like(other)
    assert not one.is_like(silent)
    # Nobody says why a pointer is wrong.
    assert ending("error: a b\n", None, 11).is_like(ending("begun\n", None, 11))


@pytest.mark.parametrize(
    "output",
    [
        "x.c:3:1: error: no name\nfatal error: too many errors emitted, stopping now\n",
        PRINTED.format(function="parse", digit=3) + "INFO: going on\nusage: program FILE\n",
        "odd at a.pl line 3.\nusage: program FILE\n",
        "error in a.conf at section line 5.\n",
    ],
    ids=["clang", "java", "perl", "a text"],
)
def test_what_is_no_report_of_a_crash(output: str) -> None:
    assert crash_report(output.encode()) is None


def test_a_compiler_that_panics_fails_where_it_does() -> None:
    panic = "thread 'rustc' panicked at compiler/x.rs:{}:3:\nno\n\nerror: internal compiler error: unexpected panic\n"
    assert report(panic.format(3)).signature != report(panic.format(4)).signature


def test_where_valgrind_ends_a_program_that_error_counts() -> None:
    end = "==9== Process terminating with default action of signal 11 (SIGSEGV)\n==9==    at 0x1: {} (a.c:3)\n"
    one, other = (report(VALGRIND.format(function="f", digit=3) + end.format(name)) for name in ("parse", "scan"))
    assert one.signature != other.signature


def test_reports_between_bytes_that_are_no_text_end_where_they_end() -> None:
    traceback = b'Traceback (most recent call last):\n  File "app.py", line 3, in ask\n    go()\nValueError: no\n'
    output = "suche=caf\xe9 \xfc\n".encode("latin-1") * 60 + traceback + b"more\n"
    found, end = crash_reports(output)
    assert [report.told for report in found] == ["ValueError: no (app.py:3 in ask)"]
    assert output[:end].rstrip(b"\n") + b"\nmore\n" == output
