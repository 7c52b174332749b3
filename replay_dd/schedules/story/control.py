"""Which branch of a function decided that an instruction was executed: control dependence, by post-dominators.

Ferrante, Ottenstein and Warren, "The Program Dependence Graph and Its Use in Optimization" (TOPLAS 1987), section 3.
"""

from __future__ import annotations

from replay_dd.schedules.flow import Code


def deciding_branches(code: Code) -> tuple[tuple[int, ...], ...]:
    """For each instruction of a function, the branches that decide whether it is executed."""
    following = [[index for index in one.following if index < len(code.instructions)] for one in code.instructions]
    after = _always_after(following)
    found: list[tuple[int, ...]] = []
    branches = [index for index, ways in enumerate(following) if len(ways) > 1]
    for index in range(len(following)):
        bit = 1 << index
        found.append(
            tuple(
                branch
                for branch in branches
                if (branch == index or not after[branch] & bit) and any(after[way] & bit for way in following[branch])
            )
        )
    return tuple(found)


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
