"""How far the hunts of a program came: what the next one goes on with, instead of trying it again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from replay_dd.schedules.hunting.likely_preemptions import Order
from replay_dd.schedules.model import Trigger

Triggers: TypeAlias = tuple[Trigger, ...]


class Waiting(NamedTuple):
    """Preemptions to be tried together, the last of them new: those that cost least first, of all runs in turn."""

    cost: int
    position: int
    number: int
    triggers: Triggers
    novelty: Hashable


@dataclass
class Progress:
    """What the plans of earlier hunts of the very same program were, and came to.

    Attributes:
        seed: what is added to the seed, so that random schedules differ from those before an edit of the program.
        plans: how many were run.
        likely: how many of those were preemptions at conflicts.
        numbered: how many combinations of preemptions were ever thought of.
        sampled: whether conflicts were left out.
        tried: the combinations that were run, and what each might have brought about.
        waiting: those that were not.
        orders: the orders of conflicting accesses that runs had.
        by_chance: those that only random schedules had.
    """

    seed: int = 0
    plans: int = 0
    likely: int = 0
    numbered: int = 0
    sampled: bool = False
    tried: dict[Triggers, Hashable] = field(default_factory=dict)
    waiting: list[Waiting] = field(default_factory=list)
    orders: set[Order] = field(default_factory=set)
    by_chance: set[Order] = field(default_factory=set)

    def with_another(self, other: Progress) -> Progress:
        """Both together, where two hunts went on from the same point at the same time."""
        tried = {**self.tried, **other.tried}
        waiting = {one.triggers: one for one in (*other.waiting, *self.waiting)}
        orders = self.orders | other.orders
        return Progress(
            seed=self.seed,
            plans=max(self.plans, other.plans),
            likely=len(tried),
            numbered=max(self.numbered, other.numbered),
            sampled=self.sampled or other.sampled,
            tried=tried,
            waiting=[one for triggers, one in waiting.items() if triggers not in tried],
            orders=orders,
            by_chance=(self.by_chance | other.by_chance) - orders,
        )
