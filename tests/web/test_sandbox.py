"""The browser has its sandbox wherever it can."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from replay_dd.web.browser import WebBrowser, find_browser

pytestmark = pytest.mark.once


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A browser that notes its arguments. With a file `none`, it complains about the sandbox as Chromium does."""
    path = tmp_path / "browser"
    path.write_text(
        f"""#!/bin/sh
printf '%s\\n' "$*" >> {tmp_path}/arguments
case "$* " in
*"--no-sandbox "*) exec {find_browser()} "$@" ;;
esac
if [ -e {tmp_path}/none ]; then
    echo '[1:1:FATAL:zygote_host_impl_linux.cc(132)] No usable sandbox! If you are running on Ubuntu' >&2
    exit 133
fi
exec {find_browser()} --no-sandbox "$@"
"""
    )
    path.chmod(0o755)
    return path


def started(browser: Path) -> list[bool]:
    """Of each start, whether it was asked to go without."""
    lines = (browser.parent / "arguments").read_text().splitlines()
    return ["--no-sandbox" in line.split() for line in lines if "--headless" in line or "--no-first-run" in line]


def without_sandbox(browser: Path) -> str:
    """What a browser says. It runs in a thread of its own: another test may have one open in this thread."""

    def run() -> str:
        with WebBrowser(browser) as running:
            return running.without_sandbox

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def test_root_has_none(browser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "root" in without_sandbox(browser)
    assert started(browser) == [True]


def test_users_have_one(browser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert without_sandbox(browser) == ""
    assert started(browser) == [False]


def test_users_of_a_system_without_namespaces_have_none(browser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (browser.parent / "none").touch()
    assert "namespaces" in without_sandbox(browser)
    assert started(browser) == [False, True]
