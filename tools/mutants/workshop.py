"""Where mutants are tried: copies of the checkout, each with an environment of its own, several at a time.

A copy has the files that git knows or would take, and the extension modules that were built beside them. Its
environment is a virtual one without packages, whose path leads to the copy first and then to the packages of the
environment that runs this. So the mutant is what is imported, also by the processes that tests start.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sysconfig
import time
import venv
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.choice import Project

PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no")
NO_TESTS = 5  # pytest's exit status
# Of the modules' dates the cache of compiled code knows the seconds only: each change gets another one.
_seconds = itertools.count(1_000_000_000)


@dataclass(frozen=True)
class Verdict:
    """How tests ended: pytest's status (none, if they ran too long), the seconds, and what pytest printed."""

    status: int | None
    seconds: float
    output: str


class Copy:
    """One copy of the checkout."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.root = folder / "copy"
        self._temporary = folder / "tmp"
        self._environment = folder / "environment"
        self._running: int | None = None
        self._stopped = False
        self._temporary.mkdir(parents=True)
        for path in _files(project):
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(project.root / path, target)
        self._make_environment()

    def _make_environment(self) -> None:
        venv.create(self._environment, symlinks=True)
        packages = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        names = {"base": str(self._environment), "platbase": str(self._environment)}
        own = Path(sysconfig.get_path("purelib", vars=names))
        # Added as a site, a folder of packages also leads to those that are installed as a link.
        sites = [f"import site; site.addsitedir({path!r})" for path in sorted(packages)]
        (own / "mutants.pth").write_text("\n".join([str(self.root), *sites]) + "\n", encoding="utf-8")
        scripts, python = self._environment / "bin", f"#!{self._environment / 'bin' / 'python'}\n"
        for script in Path(sysconfig.get_path("scripts")).iterdir():
            if script.is_file() and not script.is_symlink() and script.read_bytes()[:2] == b"#!":
                first, _, rest = script.read_text(encoding="utf-8").partition("\n")
                if "python" in first:
                    (scripts / script.name).write_text(python + rest, encoding="utf-8")
                    (scripts / script.name).chmod(0o755)

    def write(self, path: Path, text: str) -> None:
        """Put this text in the place of a module."""
        (self.root / path).write_text(text, encoding="utf-8")
        second = next(_seconds)
        os.utime(self.root / path, (second, second))

    def test(self, tests: tuple[Path, ...], limit_s: float | None) -> Verdict:
        """Run tests in the copy, for so many seconds at most."""
        python = self._environment / "bin" / "python"
        variables = {
            **os.environ,
            "PATH": os.pathsep.join([str(python.parent), os.environ.get("PATH", "")]),
            "TMPDIR": str(self._temporary),
            "VIRTUAL_ENV": str(self._environment),
        }
        for name in ("PYTHONPATH", "PYTHONHOME"):
            variables.pop(name, None)
        command = [str(python), *PYTEST, *map(str, tests)]
        started = time.monotonic()
        # A session of its own: what the tests start can be ended with them.
        with subprocess.Popen(
            command,
            cwd=self.root,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            self._running = process.pid
            if self._stopped:
                _kill_group(process.pid)
            try:
                output, _ = process.communicate(timeout=limit_s)
                status: int | None = process.returncode
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self._running = None
                # Whatever still writes to our pipe would keep us waiting.
                _kill_group(process.pid)
                self._kill_the_rest()
            if status is None:
                output, _ = process.communicate()
        self._empty_temporary()
        return Verdict(status, time.monotonic() - started, output)

    def stop(self) -> None:
        """End the tests that run here, from another thread, and let none begin."""
        self._stopped = True
        if (running := self._running) is not None:
            _kill_group(running)

    def _kill_the_rest(self) -> None:
        """End the processes that still have the folder for temporary files of this copy in their environment."""
        sign = f"TMPDIR={self._temporary}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if int(entry.name) != os.getpid() and sign in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue  # it has ended meanwhile, or is not ours

    def _empty_temporary(self) -> None:
        for path in self._temporary.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _files(project: Project) -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=True).stdout
    built = [path for package in project.packages for path in (project.root / package).rglob("*.so")]
    names = [Path(name) for name in listed.split("\0") if name]
    found = names + [path.relative_to(project.root) for path in built]
    return sorted(path for path in set(found) if (project.root / path).is_file())


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
