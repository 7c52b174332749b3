"""A model of the largest case of ESEC/FSE 1999: 8,721 changes between GDB 4.16 and 4.17."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from replay_dd.changes.circumstance import CodeChanges
from replay_dd.changes.mending import Break
from replay_dd.changes.resolution import Resolution
from replay_dd.changes.workshop import Trial
from replay_dd.dd import IntervalSet
from replay_dd.experiment.driver import isolate_cause
from replay_dd.experiment.ending import Ending
from replay_dd.experiment.result import Isolation
from replay_dd.outcome import Outcome
from tests.changes.versions import difference

pytestmark = pytest.mark.once

CHANGES, FOLDERS, FILES, PER_FUNCTION = 8721, 40, 600, 3
TOLD = 8  # names of a failed build
FAILS, PASSES = Ending(Outcome.FAIL, "args", "it fails", is_report=True), Ending(Outcome.PASS, "", "it passes")


class Gdb:
    """8,721 changes in 600 files; four in ten need another one, and one of all is guilty.

    What a change needs is mostly in the same file, sometimes in the same folder, seldom anywhere.

    Args:
        folder: where the versions are written.
        seed: of the random numbers.
        changed: how much of what is needed has a name that the old version has, too.
        silent: how much of it is told by no error; the program crashes.
    """

    def __init__(self, folder: Path, seed: int, *, changed: float, silent: float) -> None:
        chance = random.Random(seed)
        file_of = sorted(chance.randrange(FILES) for _ in range(CHANGES))
        folder_of = [chance.randrange(FOLDERS) for _ in range(FILES)]
        members: dict[int, list[int]] = {}
        beside: dict[int, list[int]] = {}
        for change, file in enumerate(file_of):
            members.setdefault(file, []).append(change)
            beside.setdefault(folder_of[file], []).append(change)
        self.needs: dict[int, int] = {}
        for change, file in enumerate(file_of):
            near = chance.choices((members[file], beside[folder_of[file]], range(CHANGES)), (80, 17, 3))[0]
            other = chance.choice(near)
            if chance.random() < 0.4 and other != change:
                self.needs[change] = other
        self.silent = {change for change in self.needs if chance.random() < silent}
        known = {change for change in range(CHANGES) if chance.random() < changed}
        self.guilty = chance.randrange(CHANGES)
        old: dict[str, str] = {}
        new: dict[str, str] = {}
        for file, changes in members.items():
            texts: tuple[list[str], list[str]] = ([], [])
            for place, change in enumerate(changes):
                ends = place % PER_FUNCTION == PER_FUNCTION - 1 or place == len(changes) - 1
                used = change in self.needs and change not in self.silent
                before = f"name_{change}" if change in known else f"old_{change}"
                values = "1", f"name_{self.needs[change]}" if used else "0"
                for text, name, value in zip(texts, (before, f"name_{change}"), values, strict=True):
                    text += [f"struct part_{change}\n{{\n"] if place % PER_FUNCTION == 0 else ["\n  /* */\n"]
                    text += [f"  int {name} = {value};\n", "};\n\n" if ends else ""]
            path = f"folder{folder_of[file]}/file{file}.cc"
            old[path], new[path] = ("".join(text) for text in texts)
        self.difference = difference(folder, old, new)
        self.change_of = {}
        for delta in self.difference.all:
            line = self.difference.line_change(delta)
            assert line is not None
            text = self.difference.files[self.difference.file_of(delta)].after[line.new].decode()
            self.change_of[delta] = int(text.split()[1].removeprefix("name_"))
        self.trials = 0
        self.program_words: frozenset[str] = frozenset()

    def breaks(self, deltas: IntervalSet) -> tuple[Break, ...]:
        """Any set of its lines parses."""
        return ()

    def trial(self, deltas: IntervalSet, *, clean: bool = False) -> Trial:
        """What the workshop would do, without a build."""
        self.trials += 1
        applied = {self.change_of[delta] for delta in deltas}
        missing = [change for change in sorted(applied) if self.needs.get(change, change) not in applied]
        named = [f"name_{self.needs[change]}" for change in missing if change not in self.silent][:TOLD]
        if missing:
            words = "not built" if named else "it crashes"
            return Trial(Ending(Outcome.UNRESOLVED, words, words), tuple(named))
        return Trial(FAILS if self.guilty in applied else PASSES)

    def isolate(self, levels: list[str], resolution: Resolution | None, most: int | None = None) -> Isolation[Ending]:
        """Search it, with these levels."""
        circumstance = CodeChanges(self.difference, self, levels, resolution=resolution)  # type: ignore[arg-type]
        return isolate_cause(circumstance, proof_runs=0, max_tests=most)


LEVELS = ["folder", "file", "function", "hunk"]


@pytest.mark.parametrize("seed, changed, silent", [(1, 0.3, 0.01), (2, 1.0, 0.0)])
def test_gdb_needs_few_tests_with_groups_and_names(seed: int, changed: float, silent: float, tmp_path: Path) -> None:
    """The paper needed 289 runs with groups and names, and 470 without; 97 is the goal set for this model.

    Measured: 40 runs and, where only errors tell what is needed, 55.
    """
    gdb = Gdb(tmp_path, seed, changed=changed, silent=silent)
    isolation = gdb.isolate(LEVELS, Resolution(gdb.difference))
    assert {gdb.change_of[delta] for delta in isolation.difference} == {gdb.guilty}
    assert gdb.trials <= 97


def test_gdb_does_not_end_soon_without_them(tmp_path: Path) -> None:
    gdb = Gdb(tmp_path, 1, changed=0.3, silent=0.01)
    isolation = gdb.isolate(["line"], None, most=50)
    assert not isolation.complete
    assert isolation.difference.count > 1000
