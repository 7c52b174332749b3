"""The levels that a search goes through, by name, and what each of them searches.

Rules of this module:

* The levels are searched one after the other, each on the file that the one before left.
* A tree is searched from its root down: nodes at one depth, then at the next one in what is left (hierarchical delta
  debugging: Misherghi and Su, ICSE 2006). Then nodes are replaced by descendants that can take their place. Both are
  repeated until nothing changes, unless a finer level comes next.
* A node that has lost all but one of its children may be one with that. Then other nodes have come to its depth, which
  is searched again.
* What is left after the last level is the answer; what is left after the others, only where the next one begins.
* What single characters could not be left out of may have become a tree of other nodes: a pair of quotes, which go
  only together. So the tree is searched again, and after that the last level.
* Where all words or tokens are needed, most of their characters are, too.
* By default, more is tried than the levels say. Before characters, words become common ones, which may make others
  superfluous, and then names lose all but a letter, which a character at a time could not do where they stand twice.
  When no character can be left out, rows of words and pairs of brackets are, and all of it is repeated.
* A large file first loses parts of equal size, as long as that halves it: to look for values and brackets in all of it
  would take minutes before the first test. Few parts, as a tree or records may be what it takes to leave anything out.
* A file that is not text and does not lose half of itself in parts of equal size tells where what comes later is: bytes
  that do not matter become zeros (zeros.py), and what stays large loses rows of zeros and no single ones.
* Two files differ in hunks of lines first, then in smaller units within the hunks that are left. Trees are of no use
  there: a difference is a sequence of changes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

from replay_dd.dd import EMPTY
from replay_dd.errors.user import UsageError
from replay_dd.input.brackets import bracket_tree
from replay_dd.input.grammars import language_of, token_edges, tree_parser
from replay_dd.input.lengths import Lengths
from replay_dd.input.names import shorter_names
from replay_dd.input.neighbours import neighbours
from replay_dd.input.nested import Pass, learn_lengths, without_records
from replay_dd.input.pickles import Pickles
from replay_dd.input.places import guesses, rows_between, tells_places
from replay_dd.input.records import RECORDS, record_edges
from replay_dd.input.reworded import common_words, reworded
from replay_dd.input.space import Changed, Cuts, Kept, Left, Replaced, Space, Subtrees
from replay_dd.input.trees import Node, Parse, families_at, substitutes
from replay_dd.input.units import BYTES, CHARACTERS, LINES, PARTS, WORDS, Level
from replay_dd.input.values import Values
from replay_dd.input.without_values import Format, without_values
from replay_dd.input.zeros import ROWS, Zeroed

Course = Generator[Space, tuple[bytes, bytes], None]
"""What to search, one space after the other; it is sent the passing and the failing file that each search found."""


@dataclass(frozen=True)
class Tree:
    """A level whose units are the nodes of a tree.

    Attributes:
        name: what options call it.
        parse: makes the tree of a file.
    """

    name: str
    parse: Parse


LARGE = 1 << 22
"""Bytes of a file from which on parts of equal size are left out first."""
_MAY_HOLD_PLACES = 1 << 8  # bytes of a file; what is smaller is soon searched byte by byte
_SEARCHED_BY_BYTES = 1 << 12  # at most, if it lost less than half of its parts
_MOST_NULLS = 0.02  # of the bytes of a text
_NO_CONTROLS = bytes((*b"\t\n\f\r\x1b", *range(32, 256)))
_ENDS = 2  # edges of a file that is not cut

_FLAT = {level.name: level for level in (LINES, RECORDS, WORDS, CHARACTERS, BYTES)}
_BY_LANGUAGE: dict[str, Callable[[str, str | None], Level | Tree]] = {
    "tree": lambda name, language: Tree("tree", tree_parser(language or language_of(name))),
    "brackets": lambda name, language: Tree("brackets", bracket_tree),
    "tokens": lambda name, language: Level("tokens", "token", token_edges(name, language)),
}
NAMES = ("tree", "brackets", "lines", "tokens", "words", "characters", "records", "bytes")


def default_levels(content: bytes, *, isolate: bool = False) -> tuple[Level | Tree, ...]:
    """Brackets and words, or lines to isolate, then characters; for what is not text, records if any, and bytes."""
    if not _is_text(content):
        return (RECORDS, BYTES) if not isolate and len(record_edges(content)) > _ENDS else (BYTES,)
    return (LINES, CHARACTERS) if isolate else (Tree("brackets", bracket_tree), WORDS, CHARACTERS)


def _is_text(content: bytes) -> bool:
    """Whether a file has no null bytes, or hardly any in what is text otherwise."""
    nulls = content.count(b"\0")
    if not nulls:
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return nulls <= _MOST_NULLS * len(content)


def has_controls(content: bytes) -> bool:
    """Whether so many bytes are none of a text that some may be binary numbers."""
    return len(content.translate(None, _NO_CONTROLS)) > _MOST_NULLS * len(content)


def levels_named(names: str, file_name: str, language: str | None = None) -> tuple[Level | Tree, ...]:
    """The levels of a list such as ``lines,characters``.

    Args:
        names: their names, with commas in between.
        file_name: the name of the file, which tells its language.
        language: the language, if the name does not tell.

    Raises:
        UsageError: one of them does not exist, or the language is not known.
        SoftwareMissingError: what knows the language is not installed.
    """
    found: list[Level | Tree] = []
    for name in map(str.strip, names.split(",")):
        if name in _FLAT:
            found.append(_FLAT[name])
        elif name in _BY_LANGUAGE:
            found.append(_BY_LANGUAGE[name](file_name, language))
        else:
            raise UsageError(f"There are no units called `{name}`.", f"Choose among: {', '.join(NAMES)}.")
    return tuple(found)


def course(content: bytes, passing: bytes | None, levels: Sequence[Level | Tree] | None) -> Course:
    """All searches for one answer.

    Args:
        content: the failing file.
        passing: the passing one; None to simplify the failing one.
        levels: the levels, in order; by default, those of :func:`default_levels`, after records if there are any, and
            after parts of equal size if the file is large.

    Raises:
        UsageError: a tree, to isolate a difference.
    """
    if passing is None and levels is None and len(content) > LARGE:
        return _of_large(content)
    if passing is None:
        return _simplified(content, levels)
    chosen = levels or default_levels(content, isolate=True)
    flat = [level for level in chosen if isinstance(level, Level)]
    if len(flat) < len(chosen):
        raise UsageError(
            "A difference has no tree.",
            "To isolate it, use units in a row: lines, tokens, words, characters, or bytes.",
        )
    return _isolate(content, passing, flat)


def _simplified(content: bytes, levels: Sequence[Level | Tree] | None) -> Course:
    chosen = levels or default_levels(content)
    if levels is not None and RECORDS not in levels:
        return _simplify(content, chosen)
    return _with_lengths(content, chosen, None if levels is not None else common_words(content))


def _of_large(content: bytes) -> Course:
    """Parts of equal size, unless it has records, and then what is left as any other file."""
    halved = _is_text(content) or len(record_edges(content)) <= _ENDS
    while halved and len(content) > LARGE:
        before = content
        _, content = yield marked(Kept(content, PARTS), True)
        halved = 2 * len(content) < len(before)
    yield from _simplified(content, None)


def _with_lengths(content: bytes, levels: Sequence[Level | Tree], common: Sequence[bytes] | None) -> Course:
    """Records first, outer ones before those inside of them; then the levels, with lengths that stay right."""
    values: Format | None = Pickles.of(content) or Values.of(content)
    if values is not None:
        before = content
        content = yield from _opened(content, without_values(content, values))
        if content != before:
            return (yield from _with_values(content, values))
    lengths = Lengths()
    if RECORDS in levels:
        _, content = yield marked(Kept(content, RECORDS), True)
        levels = [level for level in levels if level != RECORDS] or [RECORDS]
    lengths.in_text = tells_places(content)
    content = yield from _opened(content, learn_lengths(content, lengths, is_text=not has_controls(content)))
    if common is not None and levels[-1] == BYTES and len(content) >= _MAY_HOLD_PLACES:
        before = content
        _, content = yield marked(lengths.mended(Kept(content, PARTS)), True)
        if 2 * len(content) > len(before):
            content = yield from _with_zeros(content, lengths)
            if len(content) > _SEARCHED_BY_BYTES:
                return
    while True:
        # With lengths to be corrected, nothing else is to be changed.
        searches = _simplify(content, levels, () if lengths and common is not None else common)
        space = next(searches, None)
        while space is not None:
            found = yield lengths.mended(space) if isinstance(space, Left) else space
            content = found[1]
            try:
                space = searches.send(found)
            except StopIteration:
                space = None
        # A record may have become superfluous, or empty.
        before = content
        content = yield from without_records(content, lengths)
        if content == before:
            return
        levels = levels[-1:]


def _with_zeros(content: bytes, lengths: Lengths) -> Pass:
    """Zeros in the place of bytes, and then fewer bytes."""
    _, content = yield marked(Zeroed(content), True)
    for form, row in guesses(content):
        before, lengths.form = content, form
        _, content = yield marked(lengths.mended(Cuts(content, "row", [[row]])), True)
        if content != before:
            break
        lengths.form = None
    rows = replace(ROWS, edges=lambda whole: rows_between(whole, lengths.places(whole)))
    _, content = yield lengths.mended(Kept(content, rows))
    return content


def _with_values(content: bytes, values: Format) -> Course:
    """Bytes, with numbers that stay right, and values that have become superfluous."""
    while True:
        _, content = yield values.mended(Kept(content, BYTES))
        before = content
        content = yield from without_values(content, values)
        if content == before:
            return


def _opened(content: bytes, searches: Pass) -> Pass:
    """Searches, if there are any, after one between all and nothing."""
    try:
        space = next(searches)
        yield _whole(content)
        while True:
            space = searches.send((yield space))
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]  # what such searches return


def _simplify(content: bytes, levels: Sequence[Level | Tree], common: Sequence[bytes] | None = None) -> Course:
    """One level after the other, and trees again.

    Args:
        content: the file.
        levels: the levels, in order.
        common: words that longer ones may become; None to search nothing but the levels.
    """
    first = levels[0]
    if isinstance(first, Tree):
        families = families_at(first.parse(content), 0)
        if not families or Subtrees(content, families).build(EMPTY):
            yield _whole(content)
    for number, level in enumerate(levels):
        if number and level == CHARACTERS and common is not None:
            before = content
            for word in common:
                content = yield from _searched(content, reworded(content, word), dense=True)
            if content != before:
                for earlier in range(number):
                    content = yield from _level(content, levels, earlier)
            content = yield from _searched(content, shorter_names(content))
        content = yield from _level(content, levels, number)
    trees = [level for level in levels if isinstance(level, Tree)]
    last = levels[-1]
    while isinstance(last, Level):
        before = content
        if trees:
            content = yield from prune(content, trees[-1].parse, coarse=True, dense=True)
        if content == before and last == CHARACTERS and common is not None:
            content = yield from _searched(content, neighbours(content), dense=True)
        if content == before:
            return
        content = yield from _level(content, levels, len(levels) - 1)


def _searched(
    content: bytes, space: Space | None, *, dense: bool = False
) -> Generator[Space, tuple[bytes, bytes], bytes]:
    """Search a space, if there is one, that a finer search follows; gives what is left."""
    if space is not None:
        _, content = yield marked(space, True, dense=dense)
    return content


def _whole(content: bytes) -> Space:
    """All or nothing, between which the first search begins, whatever the file holds."""
    return marked(Subtrees(content, [[Node(0, len(content), "file")]]), True)


def _level(content: bytes, levels: Sequence[Level | Tree], number: int) -> Generator[Space, tuple[bytes, bytes], bytes]:
    level = levels[number]
    coarse = number < len(levels) - 1
    if isinstance(level, Tree):
        return (yield from prune(content, level.parse, coarse))
    space = marked(Kept(content, level), coarse, dense=number > 0 and is_dense(level, levels[number - 1]))
    _, content = yield space
    return content


def is_dense(level: Level | Tree, before: Level | Tree) -> bool:
    """Whether most units of a level are needed if all of the level before it are."""
    return level.name in ("characters", "bytes") and before.name in ("words", "tokens")


def marked(space: Space, coarse: bool, *, dense: bool = False) -> Space:
    """A space that knows whether a finer search follows, and whether most units are expected to be needed."""
    space.coarse = coarse
    space.dense = dense
    return space


def prune(
    content: bytes, parse: Parse, coarse: bool, *, dense: bool = False
) -> Generator[Space, tuple[bytes, bytes], bytes]:
    """Leave out subtrees, from the root down, and replace nodes by others below them; gives what is left.

    Args:
        content: the file.
        parse: makes its tree.
        coarse: whether a finer search of what is left follows, so that once is enough.
        dense: whether most nodes are expected to be needed.
    """
    while True:
        before = content
        depth = 0
        families = families_at(parse(content), depth)
        while families:
            searched = _texts(content, families)
            _, content = yield marked(Subtrees(content, families), coarse, dense=dense)
            families = families_at(parse(content), depth)
            if _texts(content, families) <= searched:
                depth += 1
                families = families_at(parse(content), depth)
        rank = 0
        while pairs := substitutes(parse(content), rank):
            _, content = yield marked(Replaced(content, pairs), coarse, dense=dense)
            rank += 1
        if coarse or content == before:
            return content


def _texts(content: bytes, families: Sequence[Sequence[Node]]) -> set[bytes]:
    return {content[node.start : node.stop] for family in families for node in family}


def _isolate(content: bytes, passing: bytes, levels: Sequence[Level]) -> Course:
    if LINES in levels:
        passing, content = yield Changed(passing, content, LINES, hunks=True)
    for level in levels:
        passing, content = yield Changed(passing, content, level)
