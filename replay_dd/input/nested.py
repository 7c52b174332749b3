"""Looks for records inside of records by trying, and leaves them out.

Rules of this module:

* A chain of records is a guess. It holds if some of its records, or parts of one, can be left out with all lengths
  around them corrected, and the program still fails in the same way. So a wrong guess costs tests and nothing else.
* Guesses begin at the whole file and go inwards: what counts a stretch must be known before anything in it can go.
  A guess that could not be tried, since all its records are needed, is a way to those inside of it.
* The tests of guesses that do not hold are limited.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import pairwise

from replay_dd.input.chains import Chain, Rule, chains, loose_chains
from replay_dd.input.lengths import Lengths, Step, Stretch, insides, mended, tail_lengths
from replay_dd.input.space import Cuts, Left, Space
from replay_dd.input.trees import Cut

Pass = Generator[Space, tuple[bytes, bytes], bytes]

_MOST_TESTS, _FEWEST_TESTS = 120, 40  # of guesses in a row that do not hold
_BYTES_A_TEST = 2  # of the file, for each test
_MOST_CHAINS = 3  # that are tried in one stretch
_MOST_LOOSE = 2  # that have other bytes between their records
_MOST_WAYS = 3  # of them that are gone along without a proof
_MOST_PROBED = 5  # records of a chain, and other bytes between them, that are tried
_MOST_ENTERED = 3  # records of a chain that are gone into without a proof
_LEAST_BITS = 5.0
_DEEPEST = 8
_PIECES = 4
_SMALLEST = 4  # bytes of a stretch in which records are looked for


def learn_lengths(content: bytes, lengths: Lengths, *, is_text: bool) -> Pass:
    """Find out which numbers of a file are lengths, and leave out the records that they show; gives what is left.

    Args:
        content: the file.
        lengths: what is known of them; more is added.
        is_text: whether they are written in digits.
    """
    explored: set[bytes] = set()
    search = _Search(lengths, is_text)
    while True:
        search.most_tests = min(max(len(content) // _BYTES_A_TEST, _FEWEST_TESTS), _MOST_TESTS)
        stretches = lengths.stretches(content).all()
        stretch = next((one for one in stretches if not one.records and content[slice(*one.cut)] not in explored), None)
        if stretch is None or search.tests > search.most_tests:
            return content
        explored.add(content[slice(*stretch.cut)])
        before = content
        content = yield from search.explore(content, stretch, ())
        if content != before:
            search.tests = 0
            content = yield from without_records(content, lengths)


class _Search:
    def __init__(self, lengths: Lengths, is_text: bool) -> None:
        self.tests = 0
        self.most_tests = 0
        self._lengths = lengths
        self._is_text = is_text

    def explore(self, content: bytes, stretch: Stretch, way: tuple[Step, ...]) -> Pass:
        """Try chains of records in a stretch, and what is in them; the content changes if a guess holds.

        Args:
            content: the file.
            stretch: where to look.
            way: guesses that lead here.
        """
        if self.tests > self.most_tests:
            return content
        if self._is_text and not stretch.depth and not self._lengths.tail:
            for length in tail_lengths(content):
                # A number that can go, or be another one, counts nothing.
                left = yield from self._probe(content, stretch, [length.number])
                if left != content:
                    return left
                self._lengths.tail = True
        start, stop = stretch.cut
        found: list[Chain] = []
        if stop - start >= _SMALLEST:
            found = chains(content, stretch.cut, is_text=self._is_text, more=stretch.more)
        if self._is_text and not stretch.depth:  # numbers of a text mean other things
            found = [chain for chain in found if chain.bits > _LEAST_BITS]
        rules = {step.rule for step in (*self._lengths.steps, *way)}
        found.sort(key=lambda chain: chain.rule not in rules)
        # The records of a chain that ends where the stretch does can be read as shorter chains, too.
        found = found[:1] + [chain for chain in found[1:] if not chain.goes_on]
        several = _different(chain for chain in found if len(chain.edges) > 2)
        # Almost any bytes can be read as some kind of records with others between them: only kinds that are known.
        known = list(dict.fromkeys(step.rule for step in self._lengths.steps))
        several += loose_chains(content, stretch.cut, known)[:_MOST_LOOSE]
        left = yield from self._try(content, stretch, way, several)
        if left != content:
            return left
        if stretch.around.lengths:
            left = yield from self._probe(content, stretch, _pieces(stretch.cut))
            if left != content:
                self._hold(*way)
                return left
        if stretch.depth < _DEEPEST:
            likely = [chain for chain in found if chain.bits > _LEAST_BITS]
            for chain in _ways(likely)[:_MOST_WAYS]:
                inside = sorted(insides(content, stretch, chain), key=lambda one: one.cut[0] - one.cut[1])
                for one in inside[:_MOST_ENTERED]:
                    left = yield from self.explore(content, one, (*way, _step(chain)))
                    if left != content:
                        return left
        return content

    def _try(self, content: bytes, stretch: Stretch, way: tuple[Step, ...], found: Sequence[Chain]) -> Pass:
        """Leave out records of one of these chains."""
        for chain in found:
            parts = list(_parts(stretch.cut, insides(content, stretch, chain)))
            left = yield from self._probe(content, stretch, parts[:: -(-len(parts) // _MOST_PROBED)])
            if left != content:
                self._hold(*way, _step(chain))
                return left
        return content

    def _hold(self, *steps: Step) -> None:
        """Take guesses for true; if they can be read as those of one kind of records, they are."""
        for step in steps:
            read = _like(step, steps[-1].rule)
            if read not in self._lengths.steps:
                self._lengths.steps.append(read)

    def _probe(self, content: bytes, stretch: Stretch, cuts: Sequence[Cut]) -> Pass:
        if self.tests > self.most_tests or not cuts:
            return content
        self.tests += len(cuts) + 1
        space = mended(Cuts(content, "record", [[cut] for cut in cuts]), [stretch.around])
        return (yield from _left_of(space))


def _different(found: Iterable[Chain]) -> list[Chain]:
    """The best chains, without those that are parts of better ones."""
    chosen: list[Chain] = []
    for chain in found:
        if not any(set(chain.edges) <= set(better.edges) for better in chosen):
            chosen.append(chain)
        if len(chosen) == _MOST_CHAINS:
            break
    return chosen


def _like(step: Step, rule: Rule) -> Step:
    """A step with a length in the same place, but with this rule if that is possible."""
    skipped = step.skipped + step.rule.place - rule.place
    same = step.rule._replace(place=rule.place) == rule and not rule.counts_all
    return Step(rule, skipped, step.left, goes_on=step.goes_on) if same and skipped >= 0 and not step.loose else step


def _ways(found: Sequence[Chain]) -> list[Chain]:
    """Chains, with those first that the best one may be inside of: they end where one of its records does.

    Of these, chains of fewer records come first, as they are farther outside.
    """
    if not found:
        return []
    first = found[0].edges

    def may_hold(chain: Chain) -> bool:
        return len(chain.edges) < len(first) and chain.edges[0] < first[0] and chain.edges[-1] in first

    return sorted(found, key=lambda chain: (0, len(chain.edges)) if may_hold(chain) else (1, 0))


def _step(chain: Chain) -> Step:
    return Step(chain.rule, chain.skipped, chain.left, chain.loose, chain.goes_on)


def _pieces(stretch: Cut) -> list[Cut]:
    start, stop = stretch
    edges = sorted({start + (stop - start) * number // _PIECES for number in range(_PIECES + 1)})
    return list(pairwise(edges))


def _left_of(space: Left) -> Pass:
    space.coarse = True
    _, content = yield space
    return content


def without_records(content: bytes, lengths: Lengths) -> Pass:
    """Leave out records, outer ones first; then put records in the place of those that they are in.

    Args:
        content: the file.
        lengths: where the records are.
    """
    depth = 0
    while records := [
        cut for one in lengths.stretches(content).all() if one.depth == depth for cut in _parts(one.cut, one.records)
    ]:
        content = yield from _left_of(lengths.mended(Cuts(content, "record", [[record] for record in records])))
        depth += 1
    rank = 0
    while around := [
        [(one.record[0], one.records[rank].record[0]), (one.records[rank].record[1], one.record[1])]
        for one in lengths.stretches(content).all()
        if one.depth and len(one.records) > rank
    ]:
        content = yield from _left_of(lengths.mended(Cuts(content, "record", around)))
        rank += 1
    return content


def _parts(stretch: Cut, records: Sequence[Stretch]) -> Iterator[Cut]:
    """The records in a stretch, what is between them, and what is behind the last one."""
    place = None
    for inside in records:
        start, stop = inside.record
        if place is not None and place < start:
            yield place, start
        yield start, stop
        place = stop
    if place is not None and place < stretch[1]:
        yield place, stretch[1]
