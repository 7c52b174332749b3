"""Ways to leave the cause of a failure out of a file whose format is known, so that others show.

Rules of this module:

* What refers to others is written out before the first failure is looked for: then it is known which bytes are left.
* Elements of lists are left out before pairs of mappings, as programs want fields more than rows; inner ones first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Oracle
from replay_dd.input.pickles import Pickles
from replay_dd.input.space import Cuts, Left
from replay_dd.input.target import Target
from replay_dd.input.trees import Cut
from replay_dd.input.values import Values
from replay_dd.input.without_values import Format, Value
from replay_dd.outcome import Outcome

MOST_ALONE = 8
_UNIT = "value"


def format_of(content: bytes) -> Format | None:
    """What is known of the values that a file consists of; None if its format is not known."""
    return Pickles.of(content) or Values.of(content)


def written_out(content: bytes, target: Target, oracle: Oracle) -> bytes:
    """The same values without references, if the program fails on them in the same way; else the content.

    Raises:
        ProgramNotFoundError: there is no such program.
    """
    values = format_of(content)
    if values is None:
        return content
    whole = None
    for plain in values.plain(content):
        if plain == content:
            break
        whole = whole or oracle.ending(target.run(content), content)
        ending = oracle.ending(target.run(plain), plain)
        if whole.verdict is ending.verdict is Outcome.FAIL and ending.is_like(whole):
            return plain
    return content


def without_cause(content: bytes, cause: IntervalSet, values: Format) -> Iterator[tuple[Left, IntervalSet]]:
    """Spaces, with configurations that lack an element or a pair which the cause is in; at last, all such elements.

    Args:
        content: the file.
        cause: the bytes that the failure needs.
        values: what is known of the file.
    """
    touched = [
        (cut, _is_item(value, cut))
        for value in _all(content, values)
        for cut in value.elements()
        if cause & _range(cut)
    ]
    items, pairs = ([cut for cut, is_item in touched if is_item is wanted] for wanted in (True, False))
    for cut in (*reversed(items[-MOST_ALONE:]), *reversed(pairs[-MOST_ALONE:])):
        yield values.mended(Cuts(content, _UNIT, [[cut]])), EMPTY
    for cuts in (items, pairs):
        yield values.mended(Cuts(content, _UNIT, [cuts] if cuts else [])), EMPTY


def items_of_cause(content: bytes, cause: IntervalSet, values: Format) -> Iterator[tuple[Left, Sequence[int], int]]:
    """The elements of lists that the cause is in; each in a space, with its siblings there.

    Args:
        content: the file.
        cause: the bytes that the failure needs.
        values: what is known of the file.
    """
    for value in _all(content, values):
        cuts = value.elements()
        hit = [number for number, cut in enumerate(cuts) if cause & _range(cut)]
        if len(cuts) > 1 and len(hit) <= MOST_ALONE:
            space = values.mended(Cuts(content, _UNIT, [[cut] for cut in cuts]))
            yield from ((space, range(len(cuts)), number) for number in hit if _is_item(value, cuts[number]))


def _all(content: bytes, values: Format) -> Iterator[Value]:
    return (value for one in values.top(content) for value in one.all())


def _is_item(value: Value, cut: Cut) -> bool:
    """Whether a single value can be left out there, rather than a pair of them or a field."""
    return not value.has_fields and sum(cut[0] <= one.start < cut[1] for one in value.inside) == 1


def _range(cut: Cut) -> IntervalSet:
    return IntervalSet.range(*cut)
