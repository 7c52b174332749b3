"""Runs of functions, made by hand instruction by instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from replay_dd.schedules.observed.flow import Activation, Code, Flow, Instruction, Step

_LEAVE = ("RETURN_VALUE", "RERAISE")


def code_of(function: str, names: Sequence[str], jumps: Mapping[int, tuple[int, ...]] | None = None) -> Code:
    """A function whose instructions follow each other, but for those that leave it or jump."""
    ways = {at: () if name in _LEAVE else (at + 1,) for at, name in enumerate(names)} | dict(jumps or {})
    rows = [Instruction(name, "", 10 + at, (), (), (), ways[at]) for at, name in enumerate(names)]
    return Code(0, "prog.py", "/prog.py", function, (), 0, tuple(rows))


class Ran:
    """A run of some functions.

    Attributes:
        flow: what was executed.
    """

    def __init__(self, *codes: Code) -> None:
        self.flow = Flow()
        self._codes = {code.function: code._replace(number=number) for number, code in enumerate(codes)}
        self._calls: dict[str, int] = {}

    def steps(self, function: str, *indices: int, time: int = 0) -> int:
        """A function executes instructions; it is called where nothing of it has run, else it goes on.

        Args:
            function: its name.
            indices: of the instructions.
            time: the thread time of each, if they are yield points.

        Returns:
            Which step of the run the last of them is.
        """
        if function not in self._calls:
            caller = len(self.flow.steps) - 1
            self._calls[function] = len(self.flow.activations)
            self.flow.activations.append(Activation(self._codes[function], "0.1", caller))
            self.flow.called[caller].append(self._calls[function])
        for at in indices:
            self.flow.add(Step("0.1", time, self._calls[function], at, ()))
        return len(self.flow.steps) - 1
