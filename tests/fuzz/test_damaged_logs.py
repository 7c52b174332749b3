"""Whatever is in a log: it is read, or refused with a LogError; what is read can be shown and prepared for a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.formats import FORMATS
from tests.fuzz.readers import fuzz

MUTATIONS = 10_000  # of each format; `python -m tests.fuzz` makes more


@pytest.mark.once
@pytest.mark.parametrize("name", FORMATS)
def test_no_traceback(name: str, tmp_path: Path) -> None:
    sample, mutator, use = FORMATS[name]
    path = tmp_path / "damaged"
    sound = sample(path)
    use(path)
    ends, tracebacks = fuzz(mutator(sound), use, path, range(MUTATIONS))
    assert not tracebacks, f"{ends['traceback']} of {MUTATIONS}"
    assert not ends["unfit message"]
    # Mutations that all end at the first line would test nothing.
    assert ends["read"] > MUTATIONS / 20
    refused = "flow-step-invalid" if name == "user flows" else "log-edited"
    assert ends[refused] > MUTATIONS / 10
