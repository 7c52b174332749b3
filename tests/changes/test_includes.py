"""A changed header changes what includes it, whatever the build looks at."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from replay_dd.changes.copies import Copy
from replay_dd.changes.file_change import Version
from replay_dd.changes.includes import included_in, includers
from replay_dd.dd import EMPTY
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


def test_what_includes_a_changed_header_is_newer_than_what_was_made_of_it(tmp_path: Path) -> None:
    files = {"main.c": '#include "limits.h"\n', "limits.h": "#define MOST 7\n", "other.c": "int other;\n"}
    found = difference(tmp_path, files, {**files, "limits.h": "#define MOST 8\n"})
    copy = Copy(tmp_path, {path: Version((), entry.mode, None, entry) for path, entry in found.old.items()}, None)
    copy.become({}, keep_new_files=True)
    made = copy.root / "main.o"
    made.touch()
    for path in files:
        os.utime(copy.root / path, (1, 1))
    copy.become(found.mixture(EMPTY), keep_new_files=True)  # what somebody touched is written again
    newest = max((copy.root / path).stat().st_mtime_ns for path in files)
    os.utime(made, ns=(newest, newest))
    time.sleep(0.05)  # the clock of files may tick at 100 Hz
    copy.become(found.mixture(found.all), keep_new_files=True)
    newer = {path for path in files if (copy.root / path).stat().st_mtime_ns > made.stat().st_mtime_ns}
    assert newer == {"main.c", "limits.h"}
    assert made.exists()
