"""What every algorithm is: it asks a question, takes the answer, and asks the next question.

Rules of this module:

* An algorithm never calls a test. :meth:`Algorithm.ask` says which configuration it wants tested, and keeps saying so
  until :meth:`Algorithm.tell` brings the outcome; ``None`` means that it is done.
* What it asks depends on the outcomes told so far and on nothing else. To resume a search, tell the same outcomes
  again.
* All state is in plain attributes with immutable values, so :meth:`Algorithm.copy` is shallow and cheap.
* What was tested may be another configuration than the one asked for, made from it so that it could be run: what it
  was *realised* as. Algorithms that say so use its outcome, and state their answer on it; others take it as unresolved.
* At any moment ``c_pass`` and ``c_fail`` are the best answer so far, so a search can stop at any time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from replay_dd.dd.intervals import IntervalSet
from replay_dd.outcome import Outcome


class Algorithm(ABC):
    """Base of the delta debugging algorithms.

    Attributes:
        c_pass: the largest configuration so far that the algorithm knows or takes to pass (for algorithms that only
            simplify: the fixed base that every configuration contains).
        c_fail: the smallest configuration so far that is known to fail.
        takes_realised: whether it can use the outcome of another configuration than the one that it asked for.
    """

    c_pass: IntervalSet
    c_fail: IntervalSet
    takes_realised: ClassVar[bool] = False
    _asked: IntervalSet | None = None
    _realised: IntervalSet | None = None

    def ask(self) -> IntervalSet | None:
        """The configuration whose outcome is wanted next, or ``None`` when the search is done."""
        return self._asked

    def tell(self, outcome: Outcome, realised: IntervalSet | None = None) -> None:
        """Take the outcome of the configuration that :meth:`ask` named.

        Args:
            outcome: the outcome.
            realised: the configuration that was tested in its place, if it is another one.

        Raises:
            ValueError: nothing was asked; the search is done.
        """
        if self._asked is None:
            raise ValueError("the search is done: there is no question to answer")
        self._realised = realised if realised != self._asked else None
        if self._realised is not None and not self.takes_realised:
            outcome = Outcome.UNRESOLVED
        self._advance(outcome)

    @abstractmethod
    def _advance(self, outcome: Outcome) -> None:
        """Use the outcome of the configuration in ``_asked`` and set ``_asked`` to the next one, or to ``None``."""

    @property
    def done(self) -> bool:
        """Whether there is nothing more to ask."""
        return self._asked is None

    @property
    def chance_of_failing(self) -> float | None:
        """How likely the configuration that is asked for fails, where the algorithm has an opinion; more than 0."""
        return None

    @property
    def difference(self) -> IntervalSet:
        """The deltas that are left: in ``c_fail``, and not in ``c_pass``."""
        return self.c_fail - self.c_pass

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return self.c_fail.count - self.c_pass.count

    def copy(self) -> Self:
        """An independent copy: both answer the same outcomes with the same questions."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made


def checked_ends(c_pass: IntervalSet, c_fail: IntervalSet) -> IntervalSet:
    """The difference of two end points.

    Raises:
        ValueError: ``c_pass`` is not contained in ``c_fail``.
    """
    if not c_pass <= c_fail:
        raise ValueError("c_pass must be contained in c_fail")
    return c_fail - c_pass
