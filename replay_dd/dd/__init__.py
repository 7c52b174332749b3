"""Delta debugging: the algorithms, and nothing that runs a test.

Rules of this package:

* It is pure: no clock, no files, no threads, no randomness, and nothing depends on the order of a hashed set. The same
  outcomes lead to the same questions and the same answer, on every machine.
* It never calls a test. An algorithm is asked what to test next and told the outcome
  (:class:`~replay_dd.dd.algorithm.Algorithm`); a :class:`~replay_dd.dd.search.Search` adds a cache, monotony,
  predictions and statistics; ``replay_dd.experiment.search`` drives it, on one worker or many.
* Configurations are :class:`~replay_dd.dd.intervals.IntervalSet`: intervals of delta numbers, never a list of them.

The words are those of the literature: a *delta* is one elementary difference, a *configuration* a set of deltas that
are applied, ``c_pass`` and ``c_fail`` are the configurations that pass and fail.
"""

from __future__ import annotations

from replay_dd.dd.adaptive import AdaptiveBisection
from replay_dd.dd.algorithm import Algorithm
from replay_dd.dd.base_first import BaseFirst
from replay_dd.dd.bisection import PrefixBisection
from replay_dd.dd.checked import CheckedDDPlus
from replay_dd.dd.coarse import CoarseBisection
from replay_dd.dd.dd1999 import DD1999, DDPlus
from replay_dd.dd.guesses import Guess, GuessesFirst
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.dd.isolate import DD, BookDD
from replay_dd.dd.minimize import DDMax, DDMin
from replay_dd.dd.nearby import NearbyBisection
from replay_dd.dd.pairs import PairsToo
from replay_dd.dd.prediction import only_prefixes, requirements
from replay_dd.dd.search import Best, Predictor, Search, Step
from replay_dd.dd.split import SPLIT_RULES, Groups, Splitter, split_by_groups, split_by_sizes

__all__ = [
    "DD",
    "DD1999",
    "EMPTY",
    "SPLIT_RULES",
    "AdaptiveBisection",
    "Algorithm",
    "BaseFirst",
    "Best",
    "BookDD",
    "CheckedDDPlus",
    "CoarseBisection",
    "DDMax",
    "DDMin",
    "DDPlus",
    "Groups",
    "Guess",
    "GuessesFirst",
    "IntervalSet",
    "NearbyBisection",
    "PairsToo",
    "Predictor",
    "PrefixBisection",
    "Search",
    "Splitter",
    "Step",
    "only_prefixes",
    "requirements",
    "split_by_groups",
    "split_by_sizes",
]
