"""Runs the installed command and looks at what it leaves behind."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest

from replay_dd.cli.main import main
from tests.cli.forked import CommandServer

TOOL = Path(sys.executable).with_name("replay-dd")

# Two threads add one each; an update is lost if one is preempted between reading and writing.
RACE = """\
import threading


class Account:
    balance = 0


def deposit():
    before = account.balance
    account.balance = before + 1


account = Account()
threads = [threading.Thread(target=deposit) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if account.balance != 2:
    raise ValueError(f"balance is {account.balance}")
print("all there")
"""
READ, WRITE = 9, 10  # the lines of the race


@dataclass
class Done:
    """A command that has ended."""

    status: int
    stdout: str
    stderr: str

    def refused(self, status: int, slug: str) -> str:
        """Check that it ended with one clear message; answer it."""
        assert "Traceback" not in self.stderr, self.stderr
        assert f"[{slug}]" in self.stderr, self.stderr
        assert self.stderr.count("replay-dd: error:") == 1, self.stderr
        assert self.status == status, self.stderr
        return self.stderr


@dataclass
class Workshop:
    """A working directory with a place for temporary files that the command is given.

    Attributes:
        folder: the working directory.
        temporary: the place for temporary files.
        variables: what the command is given besides the variables of the tests.
        commands: runs commands that need no new process; without it, each is one.
    """

    folder: Path
    temporary: Path
    variables: dict[str, str] = field(default_factory=dict)
    commands: CommandServer | None = None

    def write(self, text: str, name: str = "prog.py") -> Path:
        path = self.folder / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "FORCE_COLOR"}}
        path = os.pathsep.join([str(TOOL.parent), os.environ.get("PATH", os.defpath)])
        return {**kept, "PATH": path, "TMPDIR": str(self.temporary), **self.variables}

    def arguments(self, *arguments: str | Path) -> list[str]:
        """Arguments as texts; experiments are made only by tests that ask for them, as they take hundreds of runs."""
        texts = [str(argument) for argument in arguments]
        return [*texts, "--experiments=0"] if texts[:1] == ["schedules"] and "--experiments" not in texts else texts

    def start(self, *arguments: str | Path, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(TOOL), *self.arguments(*arguments)],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str | Path, stdin: bytes | None = None, shell: str | None = None) -> Done:
        """Run the command to its end; nothing may be left behind."""
        texts, variables = self.arguments(*arguments), self.environment()
        if shell is None and self.commands and self.commands.can_run(texts, variables):
            status, stdout, stderr = self.commands.run(texts, self.folder, variables, stdin)
        else:
            command = ["bash", "-c", shell, str(TOOL), *texts] if shell else [str(TOOL), *texts]
            source: dict[str, object] = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
            done = subprocess.run(command, cwd=self.folder, env=variables, capture_output=True, timeout=120, **source)  # type: ignore[call-overload]
            status, stdout, stderr = done.returncode, done.stdout, done.stderr
        self.check_clean()
        return Done(status, stdout.decode(errors="replace"), stderr.decode(errors="replace"))

    def run_here(self, *arguments: str | Path) -> Done:
        """Run the command in this process: for what ends before it starts another one, a tenth of the price."""
        stdout, stderr = io.BytesIO(), io.BytesIO()
        with (
            open(os.devnull) as stdin,
            contextlib.chdir(self.folder),
            mock.patch.dict(os.environ, self.environment(), clear=True),
            mock.patch.object(tempfile, "tempdir", str(self.temporary)),
            mock.patch.multiple(sys, argv=[str(TOOL), *self.arguments(*arguments)], stdin=stdin),
            mock.patch.multiple(
                sys, stdout=io.TextIOWrapper(stdout, "utf-8"), stderr=io.TextIOWrapper(stderr, "utf-8")
            ),
            same_signals_after(),
        ):
            with pytest.raises(SystemExit) as end:
                main()
            # The command has put other streams in their place, which take the bytes along when they go.
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            assert isinstance(end.value.code, int)
            self.check_clean()
            return Done(end.value.code, stdout.getvalue().decode(), stderr.getvalue().decode())

    def run_pytest(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run tests as a user would, without the tool; what pytest keeps is put with our temporary files, and goes."""
        kept = self.folder.parent / "pytest"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={kept}", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)

    def program(self, *arguments: str, name: str = "prog.py") -> list[str]:
        return ["--", "python", name, *arguments]

    # -- what is left ------------------------------------------------------------------------------------------------

    def check_clean(self) -> None:
        """Neither a process that has to do with our folder for temporary files, nor anything in it."""
        assert self.processes() == []
        assert list(self.temporary.iterdir()) == []

    def processes(self) -> list[str]:
        found = []
        mark = str(self.temporary).encode()
        for process in Path("/proc").iterdir():
            if process.name.isdigit() and int(process.name) != os.getpid():
                try:
                    command = (process / "cmdline").read_bytes()
                    if mark in command or mark in (process / "environ").read_bytes():
                        found.append(command.replace(b"\0", b" ").decode())
                except OSError:
                    continue
        return found

    def wait_for(self, path: Path, process: subprocess.Popen[str]) -> None:
        """Wait until a program has made a file, to say how far it is."""
        while not path.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)

    def interrupt(self, process: subprocess.Popen[str]) -> Done:
        """Ctrl-C for the command alone; then it must end, and leave nothing."""
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.check_clean()
        return Done(process.returncode, stdout, stderr)


@contextlib.contextmanager
def same_signals_after() -> Iterator[None]:
    """Take back what handles signals that end a process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    hook = sys.unraisablehook
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def make_workshop(folder: Path, commands: CommandServer | None = None) -> Workshop:
    work, temporary = folder / "work", folder / "temporary"
    work.mkdir(parents=True)
    temporary.mkdir()
    return Workshop(work, temporary, commands=commands)
