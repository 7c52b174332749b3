"""Which calls are the program's own, and which functions do nothing but end it."""

from __future__ import annotations

import pytest

from replay_dd.experiment.crash_places import C_LIBRARY
from replay_dd.experiment.crash_report import Report
from replay_dd.experiment.crash_words import _ENDS


@pytest.mark.parametrize("name", ["libc.so.6", "libc-2.31.so", "libstdc++.so.6", "ld-linux-x86-64.so.2", "[vdso]"])
def test_the_c_library_is_known_by_its_names(name: str) -> None:
    assert C_LIBRARY.match(name)


@pytest.mark.parametrize("name", ["libcsv.so", "libcrypto.so.3", "libcurl.so.4", "libcairo.so.2", "libpthreads.so"])
def test_other_libraries_are_the_program_own(name: str) -> None:
    assert not C_LIBRARY.match(name)


@pytest.mark.parametrize(
    "name",
    ["die", "fatal_error", "my_abort", "log::fatal", "Parser::fail(char const*)", "abort_handler", "die (a.c:3)"],
)
def test_functions_that_only_end_the_program_are_known_by_their_names(name: str) -> None:
    assert _ENDS.match(name)


@pytest.mark.parametrize("name", ["crash_reader", "fail_counter", "die_roll", "assert_invariants", "bug_list", "main"])
def test_functions_that_do_more_are_places(name: str) -> None:
    assert not _ENDS.match(name)


def test_a_place_that_the_words_have_with_other_spaces_is_not_told_again() -> None:
    report = Report(
        "SIGSEGV at V [libjvm.so+0xed27f4] Unsafe_PutInt", "SIGSEGV (0xb) (V  [libjvm.so+0xed27f4]  Unsafe_PutInt)"
    )
    assert not report.with_place().place
