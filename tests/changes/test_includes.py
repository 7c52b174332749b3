"""A changed header changes what includes it, whatever the build looks at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replay_dd.changes.includes import included_in, includers
from replay_dd.changes.workshop import Target, Workshop
from replay_dd.dd import EMPTY
from replay_dd.experiment.ending import Oracle
from replay_dd.outcome import Outcome
from tests.changes.versions import difference

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    "text, names",
    [
        (b'#include <sys/a.h>\n # include "../b.h"\n// c.h\n', {"a.h", "b.h"}),
        (
            b'include "part.pxi"\nfrom libs.tree cimport Node\ncimport shapes\n',
            {"part.pxi", "tree.pxd", "Node.pxd", "shapes.pxd"},
        ),
        (b"import os\n", set()),
    ],
)
def test_what_a_source_includes(text: bytes, names: set[str]) -> None:
    assert included_in(text) == names


def test_includes_are_followed() -> None:
    texts = {
        "a.c": {"one.h"},
        "lib/one.h": {"two.h"},
        "lib/two.h": {"one.h"},
        "b.c": {"three.h"},
        "two.h.txt": {"two.h"},
    }
    told = includers({"lib/two.h", "README"}, texts, lambda path: frozenset(texts[path]))
    assert told == {"a.c", "lib/one.h"}
    assert not includers({"README"}, texts, lambda path: frozenset(texts[path]))


def test_a_build_that_does_not_look_at_headers(tmp_path: Path) -> None:
    """It makes the program only if its source is newer, as those of Python's extensions do."""
    old = {"main.c": '#include "limits.h"\n', "limits.h": "7\n", "other.txt": "1\n"}
    build = "if [ ! main.out -nt main.c ]; then cat limits.h > main.out; sleep 0.05; touch main.out; fi"
    found = difference(tmp_path, old, {**old, "limits.h": "8\n", "other.txt": "2\n"})
    target = Target(("grep", "-q", "7", "main.out"), build, environment=dict(os.environ), time_limit_s=60)
    header = found.deltas_at(["limits.h"])
    with Workshop(found, target, Oracle()) as workshop:
        told = [workshop.run(deltas).verdict for deltas in (EMPTY, header, found.all - header, found.all, EMPTY)]
    good, bad = Outcome.PASS, Outcome.FAIL
    assert told == [good, bad, good, bad, good]
