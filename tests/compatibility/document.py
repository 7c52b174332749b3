"""The page that tells what was judged: docs/reference/compatibility.md.

The page is all that is kept of a judgement. A section that is made anew replaces the old one; the others stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.compatibility import cpython
from tests.compatibility.judge import RANDOM_SCHEDULES, Case
from tests.compatibility.reasons import reason_for
from tests.compatibility.results import OWN_TESTS, Results
from tests.conftest import PROJECT
from tools.environments import FREE_THREADED, SUPPORTED

PAGE = PROJECT / "docs" / "reference" / "compatibility.md"

_OPENING = f"""# Compatibility

How real programs fare under replay-dd that were not written for it: CPython's own tests of threads, from the `test`
package of each interpreter; programs that use packages from the index as they are meant to be used; and those packages'
own tests that start threads.

Each case runs alone, in a process of its own:

- **cases**: the number of cases. The process pools of `test_concurrent_futures` are left out.
- **plain**: passes without replay-dd. Only these count in the other columns.
- **threads**: starts threads in this process. The others have no schedule to vary: they run under the scheduler once,
  and there is nothing to replay.
- **default**: passes under the default schedule.
- **random**: passes under each of {RANDOM_SCHEDULES} random schedules.
- **replays**: each of these runs, replayed, has the same digest and the same outcome.
- **all**: all of the above.

`make compatibility` judges every case again (about an hour) and rewrites this page, which is all that is kept of it. In
between, each test run judges a sample of the cases.
"""

_BORROWED = f"""\
`make install` of this version of Python leaves out the package `{cpython.LENT}`. It was borrowed from another Python on
the machine, as far as this one can import its modules, under the name `{cpython.BORROWED}`."""

_REPLAYS, _LEFT = "Replays of one log", "What stays behind"
# How the headings begin, in order.
HEADINGS = (*(f"Python {version}" for version in (*SUPPORTED, *FREE_THREADED)), _REPLAYS, _LEFT)


def rewritten(page: str, new: Iterable[str]) -> str:
    """The page with new sections in place of the old ones; sections that were not made anew stay as they are."""
    sections: dict[str, str] = {}
    for section in (*page.split("\n## ")[1:], *(text.removeprefix("## ") for text in new)):
        sections[_heading_of(section)] = f"## {section.rstrip()}\n"
    return "\n".join([_OPENING, *(sections[heading] for heading in HEADINGS if heading in sections)])


def _heading_of(section: str) -> str:
    """How the heading of a section begins: "Python 3.13", and "Python 3.13t" for that without the GIL."""
    title = section.partition("\n")[0]
    python = re.fullmatch(r"(Python \d+\.\d+)\.\d+(t?)", title)
    return f"{python[1]}{python[2]}" if python else next(one for one in HEADINGS if title.startswith(one))


def rewrite_page(new: Iterable[str]) -> None:
    """Put new sections into the page."""
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")


def exceptions(results: Results) -> list[Case]:
    """What passes plain and is not fine under control, by name."""
    found = [case for cases in results.suites.values() for case in cases.values()]
    return sorted((case for case in found if case.passes_plain and not case.is_fine), key=lambda case: case.name)


def section(results: Results) -> str:
    """What the page says of one Python."""
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
            lines += ["", f"{f'Only {judged}' if judged else 'None'} of the {number} cases of `{suite}` were judged."]
    if results.listed.get(cpython.BORROWED):
        lines += ["", _BORROWED]
    return "\n".join(lines) + "\n"


def _with_fewer_schedules(whose: str, suites: dict[str, list[Case]]) -> list[str]:
    threaded = [case for cases in suites.values() for case in cases if case.is_fine and case.threads > 1]
    tried = [len(case.random or {}) for case in threaded]
    fewer = [number for number in tried if number < RANDOM_SCHEDULES]
    if not fewer:
        return []
    told = f"{len(fewer)} of the {len(threaded)} passing threaded cases of {whose} ran under fewer random schedules: "
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
