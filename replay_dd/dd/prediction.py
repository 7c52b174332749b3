"""Ready-made predictions: which configurations need no test, since they cannot be run.

Rules of this module:

* A prediction says ``UNRESOLVED`` or nothing. It saves a test whose outcome would be ``UNRESOLVED`` anyway; where it
  errs, a search may miss a smaller result, but never reports a wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping

from replay_dd.dd.intervals import IntervalSet
from replay_dd.dd.search import Predictor
from replay_dd.outcome import Outcome


def only_prefixes(deltas: IntervalSet) -> Predictor:
    """Predict ``UNRESOLVED`` for whatever is not a prefix of ``deltas``: each delta requires all those before it.

    With it dd+ and ddmin become a binary search. Source: ESEC/FSE 1999, section 6 and table 7.
    """

    def predict(configuration: IntervalSet) -> Outcome | None:
        return None if configuration == deltas.take(configuration.count) else Outcome.UNRESOLVED

    return predict


def requirements(required: Mapping[int, IntervalSet]) -> Predictor:
    """Predict ``UNRESOLVED`` for configurations that hold a delta without the deltas that it requires.

    Args:
        required: for a delta, all deltas that must be applied with it. Deltas that require nothing may be left out.

    Source: "predicting test outcomes", ESEC/FSE 1999, section 6.
    """

    def predict(configuration: IntervalSet) -> Outcome | None:
        for delta, needed in required.items():
            if delta in configuration and not needed <= configuration:
                return Outcome.UNRESOLVED
        return None

    return predict
