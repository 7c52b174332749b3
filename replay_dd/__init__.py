"""replay-dd: record a run, replay it exactly, isolate why it fails."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from replay_dd.call.debugger import DeltaDebugger
    from replay_dd.call.decorator import minimize_failure
    from replay_dd.call.reduce import reduce_call
    from replay_dd.circumstance import Circumstance, Found, Goal, Grouped, Items, Judgement
    from replay_dd.cli.custom import main_for
    from replay_dd.code.reduce import reduce_code
    from replay_dd.dd.changes import Change, Changes, deltas_between
    from replay_dd.dd.intervals import IntervalSet
    from replay_dd.experiment.driver import Observer, isolate_cause
    from replay_dd.experiment.functions import dd as isolate
    from replay_dd.experiment.functions import dd1999, ddmax, ddmin, ddplus, prefix_bisection
    from replay_dd.experiment.reduction import Reduction
    from replay_dd.experiment.result import Isolation
    from replay_dd.input.reduce import reduce_input
    from replay_dd.outcome import Outcome

__version__ = "0.1.0"

__all__ = [
    "Change",
    "Changes",
    "Circumstance",
    "DeltaDebugger",
    "Found",
    "Goal",
    "Grouped",
    "IntervalSet",
    "Isolation",
    "Items",
    "Judgement",
    "Observer",
    "Outcome",
    "Reduction",
    "__version__",
    "dd1999",
    "ddmax",
    "ddmin",
    "ddplus",
    "deltas_between",
    "isolate",
    "isolate_cause",
    "main_for",
    "minimize_failure",
    "prefix_bisection",
    "reduce_call",
    "reduce_code",
    "reduce_input",
]

# Looked up when first used: what is loaded into other people's programs imports this package too, and must not drag the
# rest in. The function dd is `isolate` here, since `replay_dd.dd` is the package of the algorithms.
_CHANGES = "replay_dd.dd.changes"
_FUNCTIONS = "replay_dd.experiment.functions"
_CIRCUMSTANCE = "replay_dd.circumstance"
_DRIVER = "replay_dd.experiment.driver"
_HOMES = {
    **{name: (_CIRCUMSTANCE, name) for name in ("Circumstance", "Found", "Goal", "Grouped", "Items", "Judgement")},
    "Isolation": ("replay_dd.experiment.result", "Isolation"),
    "Observer": (_DRIVER, "Observer"),
    "isolate_cause": (_DRIVER, "isolate_cause"),
    "main_for": ("replay_dd.cli.custom", "main_for"),
    "DeltaDebugger": ("replay_dd.call.debugger", "DeltaDebugger"),
    "minimize_failure": ("replay_dd.call.decorator", "minimize_failure"),
    "reduce_call": ("replay_dd.call.reduce", "reduce_call"),
    "Change": (_CHANGES, "Change"),
    "Changes": (_CHANGES, "Changes"),
    "IntervalSet": ("replay_dd.dd.intervals", "IntervalSet"),
    "Outcome": ("replay_dd.outcome", "Outcome"),
    "Reduction": ("replay_dd.experiment.reduction", "Reduction"),
    "dd1999": (_FUNCTIONS, "dd1999"),
    "ddmax": (_FUNCTIONS, "ddmax"),
    "ddmin": (_FUNCTIONS, "ddmin"),
    "ddplus": (_FUNCTIONS, "ddplus"),
    "deltas_between": (_CHANGES, "deltas_between"),
    "isolate": (_FUNCTIONS, "dd"),
    "prefix_bisection": (_FUNCTIONS, "prefix_bisection"),
    "reduce_code": ("replay_dd.code.reduce", "reduce_code"),
    "reduce_input": ("replay_dd.input.reduce", "reduce_input"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)
