"""The page that tells what was judged: docs/reference/compatibility.md."""

from __future__ import annotations

from collections.abc import Iterable

from tests.compatibility import cpython, replays, soak
from tests.compatibility.judge import RANDOM_SCHEDULES, Case
from tests.compatibility.reasons import reason_for
from tests.compatibility.results import OWN_TESTS, Results, file_of, load
from tests.conftest import PROJECT
from tools.test_all_pythons import SUPPORTED

PAGE = PROJECT / "docs" / "reference" / "compatibility.md"

_OPENING = f"""# Compatibility

What real programs do under replay-dd that nobody wrote for it: the tests of CPython that are about threads, taken from
the `test` package of each interpreter, programs that use packages of the index as these are meant to be used, and those
tests of such packages that start threads.

Each case runs alone, in a process of its own:

- **cases**: how many there are. Of `test_concurrent_futures`, those of process pools are left out.
- **plain**: it passes without replay-dd. Only those count in the other columns.
- **threads**: it starts threads in this process. In the others no schedule has a say: they run under the scheduler
  once, and there is nothing to replay.
- **default**: it passes under the default schedule.
- **random**: it passes under each of {RANDOM_SCHEDULES} random schedules.
- **replays**: each of these runs, replayed, ends with the same digest and in the same way.
- **all**: all of this together.

`make compatibility` judges all cases (about an hour) and writes this page; a test judges a sample of them anew.
"""

_BORROWED = f"""\
`make install` of this version of Python leaves out the package `{cpython.LENT}`. So that of another Python
on the machine was taken, as far as this one can import its modules, under the name `{cpython.BORROWED}`."""


def page() -> str:
    """The whole page, from the results that are kept."""
    parts = [_OPENING]
    for version in SUPPORTED:
        results = load(file_of(version))
        if results.suites:
            parts.append(_of_python(results))
    parts += filter(None, (replays.section(), soak.section()))
    return "\n".join(parts)


def exceptions(results: Results) -> list[Case]:
    """What passes plain and is not fine under control, by name."""
    found = [case for cases in results.suites.values() for case in cases.values()]
    return sorted((case for case in found if case.passes_plain and not case.is_fine), key=lambda case: case.name)


def _of_python(results: Results) -> str:
    own = {suite: list(cases.values()) for suite, cases in results.suites.items() if cpython.is_own(suite)}
    others = {suite: list(cases.values()) for suite, cases in results.suites.items() if suite not in own}
    tested = {suite: others.pop(suite) for suite in list(others) if suite.endswith(OWN_TESTS)}
    lines = [f"## Python {results.version}", ""]
    for title, suites in (("Tests", own), ("Package", others), ("Tests of a package", tested)):
        if not suites:
            continue
        lines += [
            f"| {title} | cases | plain | threads | default | random | replays | all |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(
                _row(f"`{suite}`", results.listed.get(suite, 0), cases)
                for suite, cases in sorted(suites.items())
                if results.listed.get(suite)
            ),
            _row(
                "**Together**",
                sum(results.listed.get(suite, 0) for suite in suites),
                [case for cases in suites.values() for case in cases],
            ),
            "",
        ]
    lines += ["The exceptions:", ""]
    lines += [f"- `{case.name}`: {_what(case)}. {reason_for(case)}".rstrip() for case in exceptions(results)]
    lines += _with_fewer_schedules("CPython's tests", own)
    lines += _with_fewer_schedules("the packages", {**others, **tested})
    for suite, number in sorted(results.listed.items()):
        judged = len(results.suites[suite])
        if judged < number:
            lines += ["", f"Of the {number} cases of `{suite}`, {judged} were judged so far."]
    if results.listed.get(cpython.BORROWED):
        lines += ["", _BORROWED]
    return "\n".join(lines) + "\n"


def _with_fewer_schedules(whose: str, suites: dict[str, list[Case]]) -> list[str]:
    threaded = [case for cases in suites.values() for case in cases if case.is_fine and case.threads > 1]
    tried = [len(case.random or {}) for case in threaded]
    fewer = [number for number in tried if number < RANDOM_SCHEDULES]
    if not fewer:
        return []
    told = f"Of the {len(threaded)} fine cases with threads of {whose}, {len(fewer)} ran under fewer random schedules: "
    return ["", told + f"{sum(fewer) / len(fewer):.0f} on average, {min(fewer)} at least."]


def _row(title: str, listed: int, cases: Iterable[Case]) -> str:
    plain = [case for case in cases if case.passes_plain]
    if not plain:
        return f"| {title} | {listed} | 0 | | | | | |"
    default = [case for case in plain if case.default == "passed"]
    columns = (
        listed,
        len(plain),
        sum(case.threads > 1 for case in plain),
        len(default),
        sum(not case.failed_seeds for case in default),
        sum(not case.diverged for case in default),
    )
    fine = sum(case.is_fine for case in plain)
    return f"| {title} | " + " | ".join(str(number) for number in columns) + f" | {100 * fine / len(plain):.1f} % |"


def _what(case: Case) -> str:
    said = []
    if case.default != "passed":
        said.append(f"default: {case.default}")
    failed = [how for how in (case.random or {}).values() if how]
    if failed:
        said.append(f"{len(failed)} of {len(case.random or {})} random schedules: {failed[0]}")
    if case.diverged:
        said.append(f"{len(case.diverged)} of {case.replays} replays differ")
    return "; ".join(said).replace("`", "'").replace("|", "/").rstrip(".")
