"""Which files of one version are like which of another.

Rules of this module:

* Only files that share lines are compared, and these are found by an index of lines. So files without anything in
  common cost nothing.
* Rare lines tell most, so they come first. Lines that very many files share lead to no pairs; they only count where
  rarer ones have led to a pair.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

SIMILAR = 0.5
"""How much of its lines a file must share with another one to be like it."""
_MOST_LINES = 1_000_000  # compared to find files that are alike: some seconds on a busy machine
_Counts = Mapping[str, Counter[bytes]]


def alike(old: _Counts, new: _Counts) -> dict[str, str]:
    """Which files are similar enough, the most similar first; none with the same path, and each only once.

    Args:
        old: how often each line is in each file of the one version, by the paths of these.
        new: the same of the other version.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for _, path, other in sorted(_pairs(old, new)):
        if path not in found and other not in taken:
            found[path] = other
            taken.add(other)
    return found


def _pairs(old: _Counts, new: _Counts) -> Iterator[tuple[float, str, str]]:
    """The pairs of files that are similar enough, with how similar they are, as a negative number."""
    left = _MOST_LINES
    shared: Counter[tuple[str, str]] = Counter()
    frequent: set[bytes] = set()
    for line, before, after in _from_rare_to_frequent(old, new):
        left -= len(before) * len(after)
        if left < 0:
            frequent.add(line)
            continue
        for path in before:
            for other in after:
                shared[path, other] += min(old[path][line], new[other][line])
    sizes, new_sizes = ({path: lines.total() for path, lines in files.items()} for files in (old, new))
    rest, new_rest = ({path: _only(lines, frequent) for path, lines in files.items()} for files in (old, new))
    left = _MOST_LINES
    for (path, other), count in shared.most_common():
        least = SIMILAR * max(sizes[path], new_sizes[other])
        if path == other or count + min(rest[path].total(), new_rest[other].total()) < least:
            continue
        left -= len(rest[path])
        if left < 0:
            return
        count += (rest[path] & new_rest[other]).total()
        if count >= least:
            yield -count / max(sizes[path], new_sizes[other]), path, other


def _from_rare_to_frequent(old: _Counts, new: _Counts) -> list[tuple[bytes, list[str], list[str]]]:
    """The lines that both versions have, each with the files that it is in."""
    places, new_places = _places(old), _places(new)
    both = [(line, before, new_places[line]) for line, before in places.items() if line in new_places]
    return sorted(both, key=lambda one: len(one[1]) * len(one[2]))


def _places(files: _Counts) -> Mapping[bytes, list[str]]:
    found: defaultdict[bytes, list[str]] = defaultdict(list)
    for path, lines in files.items():
        for line in lines:
            found[line].append(path)
    return found


def _only(lines: Counter[bytes], some: set[bytes]) -> Counter[bytes]:
    return Counter({line: count for line, count in lines.items() if line in some}) if some else Counter()
