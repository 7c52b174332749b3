"""Every error that a user can cause is documented, and nothing is documented that does not exist."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import recorders
import replay_dd
from replay_dd.errors import ReplayDDError, all_error_classes

pytestmark = pytest.mark.once

# A slug stands alone in a heading: "## `log-truncated`".
HEADING = re.compile(r"^#{2,4} `(?P<slug>[a-z0-9-]+)`\s*$", re.MULTILINE)


@pytest.fixture(scope="module")
def error_classes() -> list[type[ReplayDDError]]:
    for package in (replay_dd, recorders):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            # Modules that act when they are imported: the entry of `python -m`, and what starts a target process.
            if module.name.rpartition(".")[2] not in {"__main__", "sitecustomize", "usercustomize"}:
                importlib.import_module(module.name)
    return all_error_classes()


def test_every_slug_is_documented_and_nothing_else(project: Path, error_classes: list[type[ReplayDDError]]) -> None:
    documented = HEADING.findall((project / "docs" / "reference" / "messages.md").read_text(encoding="utf-8"))
    assert len(documented) == len(set(documented)), "a slug is documented twice"
    assert set(documented) == {error_class.slug for error_class in error_classes}


def test_every_error_class_has_a_slug_of_its_own(error_classes: list[type[ReplayDDError]]) -> None:
    waiting, found = [ReplayDDError], []
    while waiting:
        children = waiting.pop().__subclasses__()
        found += children
        waiting += children
    slugs = [error_class.slug for error_class in found]
    slugs = [slug for slug in slugs if slug]  # the bases have none
    assert sorted(slugs) == sorted(set(slugs))
    assert {error_class.slug for error_class in error_classes} == set(slugs)
    assert all(re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", slug) for slug in slugs)
