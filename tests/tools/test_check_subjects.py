"""The subjects of commits are short, from the rule on."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools.check_subjects import subjects_since, too_long


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_only_long_subjects_since_a_commit_are_found(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for subject in ("old " * 30, "a" * 72, "b" * 73 + "\n\n" + "body " * 30):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", subject)
    first = git(tmp_path, "rev-list", "--max-parents=0", "HEAD").strip()
    assert too_long(subjects_since(tmp_path, first)) == ["b" * 73]
    assert subjects_since(tmp_path, first) == ["b" * 73, "a" * 72]


def test_without_the_history_nothing_is_checked(tmp_path: Path) -> None:
    assert subjects_since(tmp_path, "0" * 40) == []
