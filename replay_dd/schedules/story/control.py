"""Which branch of a function decided that an instruction was executed: control dependence, by post-dominators.

Ferrante, Ottenstein and Warren, "The Program Dependence Graph and Its Use in Optimization" (TOPLAS 1987), section 3.

A handler of exceptions is no branch of anything. What is executed only in one is decided by its beginning.
"""

from __future__ import annotations

from collections.abc import Iterable

from replay_dd.schedules.observed.flow import HANDLER_BEGINS, Code


def deciding_branches(code: Code) -> tuple[tuple[int, ...], ...]:
    """For each instruction of a function, the branches and handlers that decide whether it is executed."""
    following = [[index for index in one.following if index < len(code.instructions)] for one in code.instructions]
    after = _always_after(following)
    found: list[tuple[int, ...]] = []
    branches = [index for index, ways in enumerate(following) if len(ways) > 1]
    handlers = [index for index, one in enumerate(code.instructions) if one.name == HANDLER_BEGINS]
    without = _reached(following, [0])
    inside = [(handler, _reached(following, following[handler]) - without) for handler in handlers]
    for index in range(len(following)):
        bit = 1 << index
        found.append(
            tuple(
                branch
                for branch in branches
                if (branch == index or not after[branch] & bit) and any(after[way] & bit for way in following[branch])
            )
            + tuple(handler for handler, instructions in inside if index in instructions)
        )
    return tuple(found)


def _reached(following: list[list[int]], begins: Iterable[int]) -> set[int]:
    """The instructions that can come after some others, and these."""
    found: set[int] = set()
    pending = list(begins)
    while pending:
        index = pending.pop()
        if index not in found:
            found.add(index)
            pending += following[index]
    return found


def _always_after(following: list[list[int]]) -> list[int]:
    """For each instruction, as the bits of a number, those through which every way from it to the end leads."""
    every = (1 << len(following)) - 1
    after = [every if ways else 1 << index for index, ways in enumerate(following)]
    changed = True
    while changed:
        changed = False
        for index in range(len(following) - 1, -1, -1):
            if following[index]:
                common = every
                for way in following[index]:
                    common &= after[way]
                common |= 1 << index
                if common != after[index]:
                    after[index], changed = common, True
    return after
