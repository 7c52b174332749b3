"""The Pythons of this machine, and the environments in which `make test` tests the package under each of them.

The environments (`.venv-test-3.X`) are kept for the next time; the package in them is always installed anew.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from sysconfig import get_config_var

from tools.get_pythons import KNOWN, interpreter_of, works

CHECKOUT = Path(__file__).resolve().parent.parent
SUPPORTED = ("3.11", "3.12", "3.13", "3.14", "3.15")
FREE_THREADED = ("3.13t", "3.14t")
OWN_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}" + "t" * bool(get_config_var("Py_GIL_DISABLED"))
PROBE = (
    "import sys, venv, ensurepip; from sysconfig import get_config_var; "
    "print('{}.{}'.format(*sys.version_info) + 't' * bool(get_config_var('Py_GIL_DISABLED')))"
)


def wanted_versions() -> tuple[str, ...]:
    """In the order of their tests."""
    wanted = (*SUPPORTED, *FREE_THREADED)
    return wanted if OWN_VERSION in wanted else (*wanted, OWN_VERSION)


def run(*command: str | Path, variables: Mapping[str, str] | None = None) -> None:
    """Run a command of the set-up in the checkout, which is of interest only when it fails."""
    words = [str(part) for part in command]
    done = subprocess.run(
        words, cwd=CHECKOUT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{' '.join(words)} ended with status {done.returncode}")


def find_python(version: str) -> Path | None:
    """The first interpreter of this version that really starts and can make environments.

    A file of the right name is not enough: the shims of pyenv have the name of every version that pyenv knows, and
    fail for those that are not selected.
    """
    return next((path for path in candidates(version) if starts_as(path, version)), None)


def candidates(version: str) -> Iterator[Path]:
    if version == OWN_VERSION:
        yield Path(getattr(sys, "_base_executable", sys.executable))
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in (f"python{version}", "python3"):
            path = Path(folder) / name
            if folder and path.is_file() and CHECKOUT not in path.parents:
                yield path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    free = version.removesuffix("t") != version
    pattern = re.compile(rf"{re.escape(version.removesuffix('t'))}\.(\d+){'t' if free else ''}")
    installed = [
        (int(match[1]), path) for path in (pyenv / "versions").glob("*") if (match := pattern.fullmatch(path.name))
    ]
    for _, path in sorted(installed, reverse=True):
        yield path / "bin" / "python"
    if version in KNOWN and works(version):
        yield interpreter_of(version)


def starts_as(path: Path, version: str) -> bool:
    try:
        answer = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.strip() == version


def prepare_environment(version: str, interpreter: Path) -> Path:
    """The environment for this version, with what its tests need and without the package itself."""
    environment = CHECKOUT / f".venv-test-{version}"
    requirements, xlib = requirements_of(version, gets_all_tests(version))
    stamp = environment / ".requirements"
    wanted = hashlib.sha256("\n".join([str(interpreter), *requirements, "", *xlib]).encode()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        run(interpreter, "-m", "venv", "--clear", "--without-pip", environment)
        # New Pythons get an older release that has a wheel for them, rather than compile the newest one.
        pip(environment, "install", "--prefer-binary", *requirements)
        if xlib:  # PyAutoGUI brings python3-xlib, which writes into the same folder: the right package comes last.
            pip(environment, "install", "--force-reinstall", "--no-deps", *xlib)
        stamp.write_text(wanted)
    return environment


def requirements_of(version: str, all_tests: bool) -> tuple[list[str], list[str]]:
    """What the tests of this Python need, and what is to be installed after it."""
    if version in FREE_THREADED:
        return wanted_requirements("test-schedules"), []
    if all_tests:
        return wanted_requirements("test", "pyautogui"), wanted_requirements("gui", own=False)
    return wanted_requirements("demos", "gui", "syntax", "test-schedules"), []


def gets_all_tests(version: str) -> bool:
    """Whether this is the first Python on this machine: the others play nothing on displays and in browsers."""
    wanted = wanted_versions()
    return not any(find_python(earlier) for earlier in wanted[: wanted.index(version)])


def pip(environment: Path, *arguments: str | Path) -> None:
    """Let the pip of this Python's environment work for another environment, which needs none of its own."""
    # Without bytecode, each of its processes would compile it anew.
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, arguments[0], "-qq", *arguments[1:], variables=variables)


def wanted_requirements(*extra: str, own: bool = True) -> list[str]:
    """What these extras ask for, with the extras they refer to, and what the package itself asks for."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    reference = re.compile(rf"{re.escape(project['name'])}\[(.*)\]")
    found = set(project["dependencies"] if own else ())
    waiting = [requirement for name in extra for requirement in extras[name]]
    while waiting:
        requirement = waiting.pop()
        if others := reference.fullmatch(requirement):
            waiting += [one for name in others[1].split(",") for one in extras[name.strip()]]
        else:
            found.add(requirement)
    return sorted(found)


def install_package(environment: Path, source_archive: Path) -> None:
    """Build a wheel as this interpreter builds it (the C accelerator is its own for each) and install it."""
    pip(environment, "install", "--no-deps", "--force-reinstall", source_archive)
