"""Every published log and table, to the step: what is asked, in which order, what comes out, and at what cost."""

from __future__ import annotations

import pytest

from replay_dd.dd import (
    DD,
    DD1999,
    EMPTY,
    BookDD,
    DDMin,
    DDPlus,
    IntervalSet,
    Search,
    only_prefixes,
    split_by_sizes,
)
from replay_dd.outcome import Outcome
from tests.dd.support import (
    BRACKETS,
    SELECT,
    F,
    Oracle,
    P,
    U,
    brackets_fail,
    executed_rows,
    on_text,
    parse,
    parts_in_order,
    published,
    requested_rows,
    run,
    select_fails,
    with_ends,
)

EIGHT = IntervalSet.range(1, 9)
TEXT = IntervalSet.range(0, len(BRACKETS))
ELEMENT = IntervalSet.range(0, len(SELECT))


def fails_with(*needed: int) -> Oracle:
    wanted = IntervalSet.of(needed)
    return lambda configuration: F if wanted <= configuration else P


def fails_with_8_unless_torn(configuration: IntervalSet) -> Outcome:
    together = (configuration & IntervalSet.of([2, 3, 7])).count
    return U if 0 < together < 3 else F if 8 in configuration else P


def prefix_fails_with_7(configuration: IntervalSet) -> Outcome:
    return U if configuration != EIGHT.take(configuration.count) else F if 7 in configuration else P


def fails_with_1_7_8(configuration: IntervalSet) -> Outcome:
    needed = IntervalSet.of([1, 7, 8])
    return F if needed <= configuration else U if needed & configuration else P


@pytest.mark.parametrize(
    ("name", "oracle"),
    [("ESEC99-T1", fails_with(7)), ("ESEC99-T2", fails_with(3, 6)), ("ESEC99-T3", fails_with(*range(1, 9)))],
)
def test_dd_of_1999(name: str, oracle: Oracle) -> None:
    case = published()[name]
    search = run(with_ends(DD1999(EMPTY, EIGHT)), oracle)
    assert requested_rows(search) == case["rows"]
    assert search.requested == search.executed == len(case["rows"])
    assert search.best.difference == parse(case["result"])


@pytest.mark.parametrize(
    ("name", "oracle"), [("ESEC99-T5-T6", fails_with_8_unless_torn), ("ESEC99-T7", prefix_fails_with_7)]
)
def test_dd_plus(name: str, oracle: Oracle) -> None:
    case = published()[name]
    search = run(with_ends(DDPlus(EMPTY, EIGHT)), oracle)
    assert requested_rows(search) == case["rows"]
    assert search.requested == search.executed == len(case["rows"])
    assert search.best.difference == parse(case["result"])


def test_dd_plus_with_predicted_outcomes_tests_the_resolved_ones_only() -> None:
    # ESEC/FSE 1999, table 6: 5 of 16 outcomes are resolved; table 7: 3 of 5.
    def predict(configuration: IntervalSet) -> Outcome | None:
        return U if fails_with_8_unless_torn(configuration) is U else None

    search = run(with_ends(DDPlus(EMPTY, EIGHT), predict=predict), fails_with_8_unless_torn)
    resolved = [row for row in published()["ESEC99-T5-T6"]["rows"] if not row.endswith("?")]
    assert executed_rows(search) == resolved
    assert (search.requested, search.executed) == (16, 5)

    search = run(with_ends(DDPlus(EMPTY, EIGHT), predict=only_prefixes(EIGHT)), prefix_fails_with_7)
    assert executed_rows(search) == ["1-4 +", "1-6 +", "1-7 -"]
    assert (search.requested, search.executed) == (5, 3)
    assert search.best.difference == parse("7")


def test_dd_plus_prefers_the_unresolved_part() -> None:
    # ESEC/FSE 1999, table 4.
    search = with_ends(DDPlus(EMPTY, EIGHT))
    search.tell(parse("1-4"), U) if search.ask() == parse("1-4") else pytest.fail("asked something else")
    search.tell(parse("5-8"), P) if search.ask() == parse("5-8") else pytest.fail("asked something else")
    assert search.ask() == parse("1-2 5-8")


@pytest.mark.parametrize(
    ("name", "oracle", "executed"), [("ISSTA00-T1", fails_with(7), 5), ("ISSTA00-T2", fails_with_1_7_8, 17)]
)
def test_ddmin_of_2000(name: str, oracle: Oracle, executed: int) -> None:
    case = published()[name]
    search = run(with_ends(DDMin(EIGHT)), oracle)
    assert requested_rows(search) == case["rows"]
    assert search.executed == executed
    assert search.best.c_fail == parse(case["result"])


def test_stripe() -> None:
    case = published()["AADEBUG00-Fig5"]
    rows = [(parse(line[:-2]), line.endswith("-")) for line in case["rows"]]
    failing = {configuration for configuration, fails in rows if fails}
    sizes = {tuple(map(int, key.split(","))): value for key, value in case["sizes"].items()}
    algorithm = DDMin(IntervalSet.range(1, 38), order="sweep", split=split_by_sizes(sizes))
    search = run(with_ends(algorithm), lambda configuration: F if configuration in failing else U)

    first_time = list(dict.fromkeys(configuration for configuration, _ in rows))
    assert [step.configuration for step in search.statistics if step.answered_by == "test"] == first_time
    assert search.executed == 167
    assert search.best.c_fail == parse(case["result"])

    # Of the ten rows that repeat an earlier one, six show the current configuration once more (between two sweeps, and
    # as the result). All others are asked for by the algorithm, in that order.
    current = (57, 71, 126, 127, 171, 177)
    asked = iter([step.configuration for step in search.statistics])
    for number, (configuration, _) in enumerate(rows, 1):
        if number in current:
            assert configuration in failing
        else:
            assert configuration in asked, f"row {number} is not asked for in its place"


def test_ddmin_of_the_book() -> None:
    case = published()["BOOK-ddmin"]
    algorithm = DDMin(TEXT, order="complements-only", split="slices")
    search = run(Search(algorithm, cache=False), on_text(BRACKETS, brackets_fail))
    assert requested_rows(search) == case["rows"]
    assert search.executed == 16, "17 with the first test, that everything fails"
    assert search.best.c_fail == parse(case["result"])


@pytest.mark.parametrize("order", ["published", "sorted"])
@pytest.mark.parametrize("mode", ["-", "+", "+-"])
def test_dd_of_the_book(mode: str, order: str) -> None:
    case = published()[f"BOOK-DD{mode}-{order}"]
    split = parts_in_order(case["set_orders"]) if order == "published" else "front"
    search = run(with_ends(BookDD(EMPTY, TEXT, mode=mode, split=split)), on_text(BRACKETS, brackets_fail))
    assert requested_rows(search) == case["rows"]
    assert search.executed + 2 == case["executed"]
    assert "".join(BRACKETS[position] for position in search.best.c_pass) == case["c_pass"]
    assert "".join(BRACKETS[position] for position in search.best.c_fail) == case["c_fail"]


def test_slides_simplification() -> None:
    case = published()["SLIDES-48"]
    algorithm = DDMin(ELEMENT, order="complements-only", split="round")
    search = run(with_ends(algorithm), on_text(SELECT, select_fails))
    assert requested_rows(search) == case["rows"]
    assert (search.requested, search.executed) == (48, 40)
    assert search.best.c_fail == parse(case["result"])


def test_slides_simplification_with_slices() -> None:
    algorithm = DDMin(ELEMENT, order="complements-only", split="slices")
    search = run(with_ends(algorithm), on_text(SELECT, select_fails))
    assert search.executed == 46


@pytest.mark.parametrize(("split", "executed"), [("floor", 5), ("round", 6)])
def test_slides_isolation(split: str, executed: int) -> None:
    case = published()[f"SLIDES-5-{split}"]
    search = run(with_ends(DD(EMPTY, ELEMENT, split=split)), on_text(SELECT, select_fails))
    assert requested_rows(search) == case["rows"]
    assert (search.requested, search.executed) == (2 * executed, executed)
    assert search.best == (parse(case["c_pass"]), parse(case["c_fail"]))


def test_the_loop_of_the_slides_without_its_bug() -> None:
    def oracle(configuration: IntervalSet) -> Outcome:
        return P if configuration in (parse("4"), parse("2 4")) else U

    search = run(with_ends(DD(EMPTY, parse("1-4"))), oracle)
    assert search.best == (parse("2 4"), parse("1-4"))
    assert search.best.difference == parse("1 3")


def test_complements_alone_end_with_the_larger_minimum() -> None:
    # Parts first finds {8}; complements alone end with four deltas that are 1-minimal as well.
    parts_first = run(with_ends(DDMin(EIGHT)), fails_with_8_unless_torn)
    complements = run(with_ends(DDMin(EIGHT, order="complements-only")), fails_with_8_unless_torn)
    assert parts_first.best.c_fail == parse("8")
    assert complements.best.c_fail == parse("2-3 7-8")
