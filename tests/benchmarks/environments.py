"""The environments that benchmarks run in: one for each Python with the package, one for each group of peers.

They are kept under ``build/bench`` and made anew only when what they hold has changed. Nothing is ever installed into
the environment of the checkout.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.harness import CHECKOUT, Bench, WorkerError
from tools.environments import FREE_THREADED, SUPPORTED, find_python

FOLDER = CHECKOUT / "build" / "bench"
_SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "replay_dd", "recorders")


def pythons(bench: Bench) -> dict[str, Path]:
    """For each supported version found here: an interpreter with the package of this checkout, compiled for it."""
    found = {}
    stamp = _digest_of_sources()
    for version in bench.versions or (*SUPPORTED, *FREE_THREADED):
        base = find_python(version)
        if base is None:
            bench.tell(f"Python {version} not found on this machine")
            continue
        folder = FOLDER / f"python-{version}"
        if _is_current(folder, f"{base} {stamp}"):
            found[version] = folder / "bin" / "python"
            continue
        bench.tell(f"installing the package for Python {version}")
        source = FOLDER / f"source-{version}"
        _copy_sources(source)
        _run(base, "-m", "venv", "--clear", folder)
        _run(folder / "bin" / "python", "-m", "pip", "install", "-qq", source)
        shutil.rmtree(source)
        (folder / "made-of").write_text(f"{base} {stamp}")
        found[version] = folder / "bin" / "python"
    return found


def peers(bench: Bench, name: str, version: str, requirements: Sequence[str]) -> Path:
    """An interpreter of this version with these packages, by plain pip.

    Raises:
        WorkerError: they cannot be installed here.
    """
    base = find_python(version)
    if base is None:
        raise WorkerError(f"Python {version} not found on this machine")
    folder = FOLDER / name
    wanted = f"{base} {' '.join(requirements)}"
    if not _is_current(folder, wanted):
        bench.tell(f"installing {', '.join(requirements)}")
        _run(base, "-m", "venv", "--clear", folder)
        _run(folder / "bin" / "python", "-m", "pip", "install", "-qq", *requirements)
        (folder / "made-of").write_text(wanted)
    return folder / "bin" / "python"


def of_revision(bench: Bench, version: str, revision: str | None, requirements: Sequence[str]) -> Path:
    """An interpreter of this version with these packages and the package as it was in a revision; none for now.

    Raises:
        WorkerError: they cannot be installed here, or there is no such revision.
    """
    base = find_python(version)
    if base is None:
        raise WorkerError(f"Python {version} not found on this machine")
    name = f"{revision or 'now'}-{version}"
    folder, source = FOLDER / name, FOLDER / f"source-{name}"
    wanted = f"{base} {revision or _digest_of_sources()} {' '.join(requirements)}"
    if not _is_current(folder, wanted):
        bench.tell(f"installing the package of {revision or 'now'} for Python {version}")
        if revision is None:
            _copy_sources(source)
        else:
            shutil.rmtree(source, ignore_errors=True)
            source.mkdir(parents=True)
            _run("git", "-C", CHECKOUT, "archive", "--output", source / "all.tar", revision)
            _run("tar", "-x", "-C", source, "-f", source / "all.tar")
        _run(base, "-m", "venv", "--clear", folder)
        _run(folder / "bin" / "python", "-m", "pip", "install", "-qq", source, *requirements)
        shutil.rmtree(source)
        (folder / "made-of").write_text(wanted)
    return folder / "bin" / "python"


def _is_current(folder: Path, wanted: str) -> bool:
    stamp = folder / "made-of"
    return stamp.is_file() and stamp.read_text() == wanted


def _source_files() -> list[Path]:
    files = []
    for name in _SOURCES:
        path = CHECKOUT / name
        files += [path] if path.is_file() else sorted(path.rglob("*"))
    return [path for path in files if path.is_file() and path.suffix not in {".pyc", ".so"}]


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for path in _source_files():
        digest.update(str(path.relative_to(CHECKOUT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _copy_sources(folder: Path) -> None:
    """A copy to build from: a build in the checkout leaves files there, and picks up what older ones left."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in _source_files():
        target = folder / path.relative_to(CHECKOUT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise WorkerError(f"installation failed: {last[:160]}")
