"""The program on page 17 of the slides, written down as it stands there, against ours."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings

from replay_dd.dd import DD, EMPTY, IntervalSet, Search
from replay_dd.outcome import Outcome
from tests.dd.support import F, Oracle, P, run
from tests.dd.test_properties import oracles

Split = Callable[[IntervalSet, int], list[IntervalSet]]


def floor_parts(deltas: IntervalSet, n: int) -> list[IntervalSet]:
    parts, start = [], 0
    for number in range(n):
        size = (deltas.count - start) // (n - number)
        parts.append(deltas.between(start, start + size))
        start += size
    return parts


def printed_program(oracle: Oracle, everything: IntervalSet) -> list[IntervalSet]:
    """All that the program asks for, repeated questions included; with its two defects marked and mended."""
    asked: list[IntervalSet] = []

    def test(configuration: IntervalSet) -> Outcome:
        asked.append(configuration)
        return oracle(configuration)

    c_pass, c_fail, n = EMPTY, everything, 2
    while True:
        delta = c_fail - c_pass
        if delta.count == 1:  # so page 16; the program forgets it
            return asked
        deltas = floor_parts(delta, n)
        offset = j = 0
        moved = False
        while j < n:
            i = (j + offset) % n
            next_c_pass, next_c_fail = c_pass | deltas[i], c_fail - deltas[i]
            if test(next_c_fail) is F and n == 2:
                c_fail, n, offset, moved = next_c_fail, 2, 0, True
            elif test(next_c_fail) is P:
                c_pass, n, offset, moved = next_c_fail, 2, 0, True
            elif test(next_c_pass) is F:
                c_fail, n, offset, moved = next_c_pass, 2, 0, True
            elif test(next_c_fail) is F:
                c_fail, n, offset, moved = next_c_fail, max(n - 1, 2), i, True
            elif test(next_c_pass) is P:
                c_pass, n, offset, moved = next_c_pass, max(n - 1, 2), i, True
            else:
                j += 1
            if moved:
                break
        if not moved:  # the program looks whether j >= n, which can be true after a move, too: n is smaller then
            if n >= delta.count:
                return asked
            n = min(delta.count, n * 2)


def asked_by(algorithm: DD, oracle: Oracle) -> list[IntervalSet]:
    search = run(Search(algorithm, cache=False), oracle)
    return [step.configuration for step in search.statistics]


@given(oracles())
@settings(max_examples=200)
def test_without_the_carried_offset_ours_asks_what_the_printed_program_asks(drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, oracle = drawn
    ours = asked_by(DD(EMPTY, universe, carry_offset=False), oracle)
    assert ours == printed_program(oracle, universe)


@given(oracles())
@settings(max_examples=50)
def test_the_offset_makes_no_difference_where_every_outcome_is_resolved(drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, three_valued = drawn

    def oracle(configuration: IntervalSet) -> Outcome:
        outcome = three_valued(configuration)
        return outcome if outcome.resolved else P

    assert asked_by(DD(EMPTY, universe), oracle) == asked_by(DD(EMPTY, universe, carry_offset=False), oracle)


def test_the_offset_makes_a_difference_otherwise() -> None:
    def oracle(configuration: IntervalSet) -> Outcome:
        return F if configuration in (IntervalSet.of([0, 2]), IntervalSet.range(0, 3)) else Outcome.UNRESOLVED

    three = IntervalSet.range(0, 3)
    # The move that leaves {0, 2} is at the second of three parts.
    for carried, then in ((True, 0), (False, 2)):
        algorithm = DD(EMPTY, three, carry_offset=carried)
        while algorithm.deltas_left == 3:
            asked = algorithm.ask()
            assert asked is not None
            algorithm.tell(oracle(asked))
        assert algorithm.ask() == IntervalSet.of([then])
