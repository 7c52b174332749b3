"""Figures in the documents were measured: those that explain agree with the tables that benchmarks write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import BENCHMARKS
from tests.benchmarks.harness import PAGES, write_into_page
from tests.conftest import PROJECT

pytestmark = pytest.mark.once

EXPLANATION = PROJECT / "docs" / "explanation" / "performance.md"
SOURCES = (
    *PAGES,
    PROJECT / "docs" / "reference" / "races-in-packages.md",
    PROJECT / "docs" / "explanation" / "decisions" / "0260-what-made-searches-faster.md",
)
# Links, code and the numbers of decisions hold no figures.
NO_FIGURES = re.compile(r"\]\([^)]*\)|`[^`]*`|decision\s+\d{4}", re.IGNORECASE)
FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:x| ms| s| µs| MB| %)?(?!\w)")
# From papers, not from benchmarks.
PUBLISHED = {"50"}


def figures(text: str) -> set[str]:
    """The figures of a text, with their units."""
    return {match[0].rstrip(",") for match in FIGURE.finditer(NO_FIGURES.sub("]", text))}


def unmeasured(text: str, sources: str) -> set[str]:
    """The figures of a text that stand in none of the sources, with the same unit."""
    return {
        figure
        for figure in figures(text)
        if not re.search(rf"(?<![\w.,]){re.escape(figure)}(?![\d\w]|[.,]\d)", sources)
    }


def test_every_figure_that_explains_was_measured() -> None:
    sources = re.sub(r"(?<=\d)%", " %", "\n".join(path.read_text(encoding="utf-8") for path in SOURCES))
    assert unmeasured(EXPLANATION.read_text(encoding="utf-8"), sources) <= PUBLISHED


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("it takes 1.29x, 4,179,019 yield points and 21.3 ms", set()),
        ("it takes 1.28x", {"1.28x"}),
        ("it takes 21.3 s", {"21.3 s"}),
        ("it takes 1.2x, or 9,019 of them", {"1.2x", "9,019"}),
        ("[decision 0260](decisions/0260-it.md) about `cpu_77`", set()),
    ],
)
def test_what_counts_as_measured(text: str, missing: set[str]) -> None:
    assert unmeasured(text, "| CPU-bound | 21.3 ms | 4,179,019 | 1.29x |") == missing


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_has_one_place(name: str) -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    start, end = f"<!-- bench: {name} -->", f"<!-- end of bench: {name} -->"
    assert (pages.count(start), pages.count(end)) == (1, 1)
    assert pages.index(start) < pages.index(end)


def test_a_benchmark_writes_into_its_own_place(tmp_path: Path) -> None:
    one, other = tmp_path / "one.md", tmp_path / "other.md"
    one.write_text("above\n<!-- bench: first -->\nold\n<!-- end of bench: first -->\n")
    other.write_text("<!-- bench: second -->\nold\n<!-- end of bench: second -->\nbelow\n")
    untouched = one.read_text()
    write_into_page("second", r"new \1", (one, other))
    assert one.read_text() == untouched
    assert other.read_text() == "<!-- bench: second -->\n\nnew \\1\n\n<!-- end of bench: second -->\nbelow\n"
    with pytest.raises(SystemExit, match="third"):
        write_into_page("third", "new", (one, other))
