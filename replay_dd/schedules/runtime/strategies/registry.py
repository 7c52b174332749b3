"""All strategies by name."""

from __future__ import annotations

from ..baton.strategy import Strategy
from .abreast import Abreast
from .anchored import Anchored
from .bounded import BoundedPreemptions
from .collecting import Collecting
from .natural import Natural
from .no_sleep import NoSleep
from .only_where import OnlyWhere
from .partial_order import PartialOrderSampling
from .pct import LatestFirst, ProbabilisticConcurrencyTesting
from .profile import Profile
from .random_walk import RandomWalk
from .replay import Replay
from .uniform import SelectivelyUniform
from .views import Views

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# For each name, how to build the strategy from the request of a run.
_STRATEGIES: dict[str, Callable[[dict[str, Any]], Strategy]] = {
    "default": lambda run: Strategy(),
    "replay": lambda run: Replay(run["triggers"]),
    "random": lambda run: RandomWalk(run["options"]["seed"], run["options"].get("longest", 0), run["points"]),
    "bounded": lambda run: BoundedPreemptions(
        run["options"]["seed"], run["options"]["preemptions"], run["thread_times"], run["points"]
    ),
    "pct": lambda run: ProbabilisticConcurrencyTesting(
        run["options"]["seed"], run["options"]["depth"], run["thread_times"], run["points"]
    ),
    "uniform": lambda run: SelectivelyUniform(run["options"]["seed"], run["thread_times"], run["places"], run["first"]),
    "natural": lambda run: Natural(),
    "profile": lambda run: Profile(
        run["granularity"],
        _profiled(run["options"]) or Replay(run["triggers"]),
        run["left_out"],
    ),
    "anchored": lambda run: Anchored(run["anchors"]),
}


def _profiled(options: dict[str, Any]) -> Strategy | None:
    if "partial_order" in options:
        return PartialOrderSampling(options["partial_order"])
    if "abreast" in options:
        return Abreast(*(options[name] for name in ("abreast", "latest", "uneven")))
    if "views" in options:
        return Views(bool(options["views"]))
    if "no_sleep" in options:
        return NoSleep()
    if "answers_first" in options:
        return Strategy()
    if "collect" in options:
        return Collecting(options["collect"], options["seed"])
    return LatestFirst() if options else None


def make_strategy(run: dict[str, Any]) -> Strategy:
    """The strategy named in the request of a run."""
    strategy = _STRATEGIES[run["strategy"]](run)
    return OnlyWhere(strategy, run["only"]) if run["only"] else strategy
