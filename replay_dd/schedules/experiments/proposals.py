"""What could keep an isolated failure from happening: regions to lock, and orders to keep, from the story.

Rules of this module:

* A region goes from the access that must come before the others' stretch to the one that must come after it, in the
  innermost frame that both have in common. The larger regions around it follow: up to whole functions, and then to
  their callers. What the other threads do to the same things is locked statement by statement.
* A lock of the program that some accesses to the thing are made under comes first; before all others one that the
  interrupted thread has all the time: the others only have to take it, too.
* Of two things that belong together, the other threads' accesses to both are one step at last, in whatever functions
  they are made.
* A barrier is proposed where one function does both: first what came too late in one thread, then what came too early
  in another, or a round of a loop earlier. Then every thread that runs that function waits for the others in between.
* A region never stands right beside a ``with`` of the same lock: it reaches over that, too.
* An order is proposed for each edge of the conflict: what made the run fail came too early, so it waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from replay_dd.schedules.experiments.sources import Sources, between, frames_of, spans_of
from replay_dd.schedules.experiments.steps import lockable_regions, steps_of, steps_of_both
from replay_dd.schedules.model import Place
from replay_dd.schedules.observed.observation import Access, Observation, StackFrame
from replay_dd.schedules.story.conflict import Conflict, one_thing
from replay_dd.schedules.story.locks import CONSTRUCTORS
from replay_dd.schedules.story.story import path_of
from replay_dd.schedules.virtual import Region, VirtualBarrier, VirtualLock, VirtualOrder

_MOST_SIZES = 6  # of regions around the two accesses
_MAIN = "0"
_MOST_SITES = 8  # places that do something to the same things
_MADE_AT = " made at "  # in the name of a lock that no attribute or variable was seen to hold
_MOST_NAMES = 4  # that the code may have for a lock


def lock_proposals(
    conflict: Conflict, seen: Sequence[Observation], sources: Sources
) -> Iterator[tuple[VirtualLock, ...]]:
    """Locks to try, in groups: of each, the first one that helps is enough.

    Args:
        conflict: what the threads did in the failing run.
        seen: what both runs accessed, the failing one first.
        sources: the program's sources.
    """
    edges = conflict.edges
    if not edges:
        return
    own = [one for one in (conflict.looked, *(edge.access for edge in edges)) if one is not None]
    others = [other for edge in edges for other in edge.others]
    yield from _taken_by_others(own, others, seen[0], sources)
    sizes = between(own[0], own[-1], sources)[:_MOST_SIZES]
    around = steps_of(others, sources)
    # The main thread often looks at the result of all others, which it has started, and waits for.
    threads = {conflict.thread, *(other.thread for other in others)}
    threads |= {access.thread for access in seen[0].accesses} - {_MAIN}
    for taking, held in guards(own, others, seen, sources):
        unguarded = [access for access in others if access.thread != conflict.thread and not held & set(access.held)]
        more = lockable_regions(unguarded, sources)
        everywhere = _sites_in(own, threads, seen, sources, but=held, inside=sizes[:1])
        yield tuple(
            VirtualLock(outermost(joined([size, *rest], sources), seen), name)
            for size, rest in _in_turn(sizes, more, everywhere)
            for name in _ways_to(taking, sources.names_in(size))
        )
    if sizes and not one_thing(own[0], own[-1]):  # who looks at both, or changes both, has to do it in one go, too
        together = steps_of_both(own[0], others, sources, _MOST_SIZES)
        yield tuple(VirtualLock(outermost(joined([sizes[0], *rest], sources), seen)) for rest in together)
    everywhere = _sites_in(own, threads, seen, sources, inside=sizes[:1])
    yield tuple(
        VirtualLock(outermost(joined([size, *rest], sources), seen))
        for size, rest in _in_turn(sizes, around, everywhere)
    )


def _taken_by_others(
    own: Sequence[Access], others: Sequence[Access], failing: Observation, sources: Sources
) -> Iterator[tuple[VirtualLock, ...]]:
    """The others take a lock from their first access to their last one, which a thread has over all of its own."""
    if len(own) < 2:  # then nothing of it comes in between
        return
    spans = spans_of(others, sources, _MOST_SIZES)
    if not spans:
        return
    common = set.intersection(*(set(access.held) for access in own))
    for lock in sorted(common - set().union(*(other.held for other in others))):
        for taken in _taken_as(lock, failing, sources):
            yield tuple(
                VirtualLock(joined(regions, sources), name)
                for regions in spans
                for name in _ways_to(taken, sources.names_in(regions[0]))
            )


def _in_turn(
    sizes: Sequence[Region], around: Sequence[Region], everywhere: Sequence[Region]
) -> Iterator[tuple[Region, Sequence[Region]]]:
    """Each region with what the others do; after the first, also with all that is done to the same things."""
    for number, size in enumerate(sizes):
        yield size, around
        if number == 0 and not set(everywhere) <= {size, *around}:
            yield size, [*around, *everywhere]


def _sites_in(
    own: Sequence[Access],
    threads: Set[str],
    seen: Sequence[Observation],
    sources: Sources,
    *,
    but: Set[int] = frozenset(),
    inside: Sequence[Region] = (),
) -> list[Region]:
    """Those of all runs: the failing one may have ended before others came to what they do to the same things."""
    own = [one for one in own if one.thing[0] != "lock"]  # others may wait for one as long as they like
    found = dict.fromkeys(sites(own, threads, seen[0], sources, but=but, inside=inside))
    visits, names = {_visit(one) for one in own}, {seen[0].locks.get(lock) for lock in but} - {None}
    for run in seen[1:]:
        there = [one for one in run.accesses if _visit(one) in visits]
        held = {lock for lock, name in run.locks.items() if name in names}
        found |= dict.fromkeys(sites(there, threads, run, sources, but=held, inside=inside))
    return list(found)[:_MOST_SITES]


def sites(
    own: Sequence[Access],
    threads: Set[str],
    failing: Observation,
    sources: Sources,
    *,
    but: Set[int] = frozenset(),
    inside: Sequence[Region] = (),
) -> list[Region]:
    """What each function does to the same things: from its first access to its last one, call by call.

    Functions that make an object are left out.

    Args:
        own: the accesses that tell the things.
        threads: those whose accesses count.
        failing: all that the failing run accessed.
        sources: the program's sources.
        but: locks; what is done in one go under one of them is left out.
        inside: regions; what is done in them, or is called from there, is left out.
    """
    spans: dict[tuple[str, tuple[StackFrame, ...]], list[Access]] = {}
    for access in failing.accesses:
        frames = frames_of(access)
        left_out = any(is_in(frame, region) for frame in frames for region in inside)
        if access.thread not in threads or left_out or not any(access.touches(one) for one in own):
            continue
        if frames and frames[-1].function.rpartition(".")[2] not in CONSTRUCTORS:
            spans.setdefault((access.thread, tuple(frames[:-1])), []).append(access)
    found: dict[Region, None] = {}
    for (_, callers), accesses in spans.items():
        calls: dict[str, list[Access]] = {}
        for access in accesses:
            calls.setdefault(frames_of(access)[-1].function, []).append(access)
        for accessed in calls.values():
            region = _span(sorted(accessed, key=lambda one: one.place.line), but, sources)
            if region is not None and (callers or region.first != region.last):
                found[region] = None
    return list(found)[:_MOST_SITES]


def is_in(frame: StackFrame, region: Region) -> bool:
    """Whether a frame of a stack stands in a region."""
    return (frame.file, frame.function) == (region.file, region.function) and region.first <= frame.line <= region.last


def _span(accesses: Sequence[Access], but: Set[int], sources: Sources) -> Region | None:
    """The region from the first to the last of these accesses of a function, with the ``with`` around either.

    So locks are taken in one order. None if they are all in one ``with`` already that takes one of some locks.
    """
    frame = frames_of(accesses[0])[-1]
    statements = sources.of(frame.file)
    if statements is None:
        return None
    ends = (accesses[0], accesses[-1])
    blocks = [statements.block_with_locks(one.place.line) if one.held else None for one in ends]
    if blocks[0] == blocks[1] and all(but & set(one.held) for one in accesses):
        return None
    lines = [one.place.line for one in ends] + [line for block in blocks if block is not None for line in block]
    regions = sources.regions(frame._replace(line=min(lines)), max(lines))
    return regions[0] if regions else None


def _ways_to(taking: str, names: Sequence[str]) -> list[str]:
    """How other code may name a lock that is an attribute: of any object that it uses."""
    holder, dot, attribute = taking.rpartition(".")
    if not dot:
        return [taking]
    return list(dict.fromkeys([taking, *(f"{name}.{attribute}" for name in names if name != holder)]))[:_MOST_NAMES]


def deadlock_proposals(turns: Iterable[Sequence[Access]], sources: Sources) -> Iterator[tuple[VirtualLock, ...]]:
    """One lock around what each thread of a deadlock takes.

    Args:
        turns: for each thread, what it takes in order, and what it waits for at the end.
        sources: the program's sources.
    """
    spans = [between(accesses[0], accesses[-1], sources)[:_MOST_SIZES] for accesses in turns]
    if spans and all(spans):
        yield tuple(
            VirtualLock(joined([one[min(size, len(one) - 1)] for one in spans], sources))
            for size in range(max(map(len, spans)))
        )


def barrier_proposals(conflict: Conflict, failing: Observation, sources: Sources) -> Iterator[VirtualBarrier]:
    """Barriers to try, for threads that run one function: none goes on before all have come as far.

    Args:
        conflict: what the threads did in the failing run.
        failing: all that it accessed.
        sources: the program's sources.
    """
    for later, earlier in _early(conflict):
        for own, other in zip(frames_of(later), frames_of(earlier), strict=False):
            if (own.file, own.function) != (other.file, other.function):
                break
            before, done = sources.regions(own)[:1], sources.regions(other)[:1]
            if not before or not done:
                continue
            again = before if done[0].last < before[0].first else sources.next_round(own, other.line)
            threads = _running_with((later.thread, earlier.thread), own, failing)
            if again and {later.thread, earlier.thread} <= threads:
                yield VirtualBarrier(again[0], tuple(sorted(threads)))


def _running_with(some: Sequence[str], here: StackFrame, failing: Observation) -> set[str]:
    """The threads that run the function of a frame while some others do: one that is done before is not waited for."""
    spans: dict[str, tuple[int, int]] = {}
    for access in failing.accesses:
        if any((one.file, one.function) == (here.file, here.function) for one in frames_of(access)):
            first, _ = spans.get(access.thread, (access.number, 0))
            spans[access.thread] = first, access.number
    others = [spans[thread] for thread in some if thread in spans]
    return {
        thread
        for thread, (first, last) in spans.items()
        if any(first <= other_last and other_first <= last for other_first, other_last in others)
    }


def _early(conflict: Conflict) -> Iterator[tuple[Access, Access]]:
    """What came too early, each with what another thread did too late."""
    if conflict.right is not None:
        yield conflict.right.others[0], conflict.right.access
    if conflict.left is not None:
        yield conflict.left.access, conflict.left.others[-1]


def order_proposals(conflict: Conflict, passing: Observation, sources: Sources) -> Iterator[VirtualOrder]:
    """Orders to try: the others wait until the thread has passed the right edge, or it waits for them at the left one.

    What the passing run has done several times by then is waited for as often.

    Args:
        conflict: what the threads did in the failing run.
        passing: what the passing run accessed.
        sources: the program's sources.
    """
    for later, earlier in _early(conflict):
        first, second = sources.statement(later), sources.statement(earlier)
        if first is not None and second is not None and first != second:
            yield VirtualOrder(first, second, max(1, _times_before(later, earlier, passing)))


def _times_before(later: Access, earlier: Access, passing: Observation) -> int:
    """How often the passing run has made one access before it came to another one."""
    same = [one for one in passing.accesses if (one.thread, one.place, one.does) == _visit(later)]
    made = [one for one in passing.accesses if (one.place, one.does) == _visit(earlier)[1:]]
    return len([one for one in made if one.thread != later.thread and one.number < same[0].number]) if same else 1


def _is_in_package(access: Access) -> bool:
    """Whether an installed package makes an access."""
    return any(frame.is_installed for frame in path_of(access)[-1:])


def _visit(access: Access) -> tuple[str, Place, str]:
    return access.thread, access.place, access.does


def guards(
    own: Sequence[Access], others: Sequence[Access], seen: Sequence[Observation], sources: Sources
) -> Iterator[tuple[str, set[int]]]:
    """The locks under which the same things are accessed: how the code names each, and its numbers.

    Those of the other threads in this conflict come first, then those that were seen anywhere; last those that the
    failing run takes for the like in another object, as each object may have a lock of its own.
    """
    about = (*own, *others)
    names, things = {access.name for access in about}, {access.thing for access in about}
    found: dict[str, None] = {}
    numbers: dict[str, set[int]] = {}
    common = set.intersection(*(set(access.held) for access in own)) if own else set()

    def is_the_like(access: Access) -> bool:
        return access.thing not in things and not any(access.touches(other) for other in about)

    in_conflict = [access for access in (*others, *own) if set(access.held) - common]
    elsewhere = [
        (number, one) for number, run in enumerate(seen) for one in run.accesses if one.held and one.name in names
    ]
    elsewhere.sort(key=lambda one: one[0] == 0 and is_the_like(one[1]))
    under_locks = [*((0, access) for access in in_conflict), *elsewhere]
    # Thousands of accesses are made under the same few locks.
    for number, lock in dict.fromkeys((number, lock) for number, access in under_locks for lock in access.held):
        if number == 0 and lock in common:
            continue
        for name in _taken_as(lock, seen[number], sources):
            found[name] = None
            if number == 0:
                numbers.setdefault(name, set()).add(lock)
    for name in found:
        yield name, numbers.get(name, set())


def _taken_as(lock: int, run: Observation, sources: Sources) -> list[str]:
    """How the program's own code names a lock where it takes it; those of installed packages are theirs."""
    found: dict[str, None] = {}
    tail = run.locks.get(lock, "").rpartition(".")[2]
    all_in_packages = all(map(_is_in_package, run.accesses))
    taking = [access for access in run.accesses if access.does == "acquires" and access.thing[1] == lock]
    places = {access.place: None for access in taking if all_in_packages or not _is_in_package(access)}
    for place in places:
        statements = sources.of(place.file)
        if statements is not None and statements.keeps_lock(place.line):
            continue  # whoever takes it there gives it back elsewhere: a `with` does not fit into that
        names = [] if statements is None else statements.locks_at(place.line)
        best = [name for name in names if name.rpartition(".")[2] == tail] or names
        found.update(dict.fromkeys(best))
    return list(found) if places else _given_to_package(lock, run, sources)


def _given_to_package(lock: int, run: Observation, sources: Sources) -> list[str]:
    """How the program's own code names a lock that it has made, and that only an installed package takes."""
    file, _, line = run.locks.get(lock, "").rpartition(_MADE_AT)[2].rpartition(":")
    statements = sources.of(file) if line.isdigit() else None
    return [] if statements is None else statements.assigned_at(int(line))


def joined(regions: Iterable[Region], sources: Sources) -> tuple[Region, ...]:
    """The regions, those of one function made one where they overlap or follow each other in one block."""
    result: list[Region] = []
    for region in sorted(set(regions)):
        last = result[-1] if result else None
        same = last is not None and (last.file, last.function) == (region.file, region.function)
        if last is not None and same and (region.first <= last.last or sources.adjoin(last, region)):
            result[-1] = Region(last.file, last.function, last.first, max(last.last, region.last))
        else:
            result.append(region)
    return tuple(result)


def without_gaps(lock: VirtualLock, sources: Sources) -> VirtualLock:
    """A lock whose regions reach over each ``with`` right beside them that takes the same lock of the program.

    Where a thread gives a lock back and takes it again at once, others may come in between; but there is hardly a yield
    point there, so hardly a schedule shows it. For the same reason, a region is left out that is nothing but such a
    ``with``: to take the lock some yield points earlier only lets other schedules fail.

    Args:
        lock: what is proposed.
        sources: the program's sources.
    """
    missing = [region for region in lock.regions if not sources.is_with(region, lock.taking)]
    return VirtualLock(joined((sources.with_neighbours(one, lock.taking) for one in missing), sources), lock.taking)


def outermost(regions: Sequence[Region], seen: Sequence[Observation]) -> tuple[Region, ...]:
    """The regions without those that are only reached from another one: a plain lock taken there again would hang.

    Args:
        regions: of one lock.
        seen: what both runs accessed.
    """
    if len(regions) < 2:
        return tuple(regions)
    stacks = {access.stack: access for run in seen for access in run.accesses}
    called: dict[Region, bool] = {}
    for frames in map(frames_of, stacks.values()):
        for region in regions:
            at = next((number for number, frame in enumerate(frames) if is_in(frame, region)), None)
            if at is not None:
                inside = any(is_in(frame, other) for frame in frames[:at] for other in regions if other != region)
                called[region] = inside and called.get(region, True)
    return tuple(region for region in regions if not called.get(region, False))
