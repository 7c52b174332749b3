"""replay-dd: record a run, replay it exactly, isolate why it fails."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from replay_dd.dd.intervals import IntervalSet
    from replay_dd.experiment.search import Isolation, dd1999, ddmax, ddmin, ddplus, prefix_bisection
    from replay_dd.experiment.search import dd as isolate
    from replay_dd.outcome import Outcome

__version__ = "0.1.0"

__all__ = [
    "IntervalSet",
    "Isolation",
    "Outcome",
    "__version__",
    "dd1999",
    "ddmax",
    "ddmin",
    "ddplus",
    "isolate",
    "prefix_bisection",
]

# Looked up when first used: what is loaded into other people's programs imports this package, too, and must not drag
# the rest in. The function dd is `isolate` here, since `replay_dd.dd` is the package of the algorithms.
_SEARCH = "replay_dd.experiment.search"
_HOMES = {
    "IntervalSet": ("replay_dd.dd.intervals", "IntervalSet"),
    "Isolation": (_SEARCH, "Isolation"),
    "Outcome": ("replay_dd.outcome", "Outcome"),
    "dd1999": (_SEARCH, "dd1999"),
    "ddmax": (_SEARCH, "ddmax"),
    "ddmin": (_SEARCH, "ddmin"),
    "ddplus": (_SEARCH, "ddplus"),
    "isolate": (_SEARCH, "dd"),
    "prefix_bisection": (_SEARCH, "prefix_bisection"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)
