"""A program behaves under the scheduler as it does without, and every way to start one works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

from replay_dd.errors.program import NotControlledError
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import describe_program, run_target
from tests.runtime.programs import (
    COUNTER,
    DEFAULT,
    output_of,
    random_walk,
    run_command,
    run_program,
    triggered,
    write_program,
)

SELF = """
    import os, sys, threading
    def work():
        print(sorted(name for name in globals() if name != "__builtins__"))
        print(sys.argv, sys.orig_argv[1:], __name__, __file__, __spec__, sys.flags.hash_randomization >= 0)
        print([entry for entry in sys.path], sys.stdin.read(), os.getcwd())
        print(sorted(name for name in os.environ if name != "TMPDIR"))
        print([name for name in sys.modules if "replay" in name and not name.startswith("_replay_dd_runtime")])
        print(threading.current_thread().name, threading.main_thread().name, threading.active_count())
        print(threading.Thread.__module__, sys.gettrace() is None or True)
        print(len([number for number in range(3, 60) if os.path.exists(f"/proc/self/fd/{number}")]))
        print("last", file=sys.stderr)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    os.write(1, b"")
    sys.exit(len(sys.argv))
"""


def plainly(folder: Path, *command: str) -> subprocess.CompletedProcess[bytes]:
    # Without it a child also gets what C libraries have set in this process (readline: COLUMNS).
    environment = dict(os.environ)
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


def test_the_program_sees_what_it_sees_without_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("REPLAY_DD_"):  # ours, and not for the program
            monkeypatch.delenv(name)
    run = run_program(tmp_path, SELF, arguments=("a", "b"))
    plain = plainly(tmp_path, sys.executable, "prog.py", "a", "b")
    assert plain.returncode == run.log.ending.status == 3
    assert sorted(run.output.splitlines()) == sorted(plain.stdout.splitlines())


@pytest.mark.parametrize(
    "last",
    [
        "raise ValueError('text')",
        "f()",
        "raise SystemExit('a message')",
        "raise SystemExit",
        "import sys; sys.exit(4)",
        "import os; os._exit(6)",
        "import os; os.abort()",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "raise KeyboardInterrupt",
        "1 +",
        "import sys; print('out'); sys.stdout.close()",
        "import os; os.execv('/bin/sh', ['sh', '-c', 'echo replaced; exit 9'])",
    ],
)
def test_it_ends_as_it_ends_without_us(last: str, tmp_path: Path) -> None:
    before = "import threading\ndef f():\n    return undefined\nthread = threading.Thread(target=int)\n"
    run = run_program(tmp_path, f"{before}thread.start()\nthread.join()\n{last}\n")
    plain = plainly(tmp_path, sys.executable, "prog.py")
    ending = run.log.ending
    assert (ending.status if ending.signal is None else -ending.signal) == plain.returncode
    assert run.output == plain.stdout


def test_an_exception_in_a_thread_is_told_as_usual_and_noted(tmp_path: Path) -> None:
    text = """
        import threading
        def inner():
            raise ValueError("no")
        thread = threading.Thread(target=inner, name="the thread")
        thread.start()
        thread.join()
        print("main goes on")
        """
    run = run_program(tmp_path, text)
    assert run.output == plainly(tmp_path, sys.executable, "prog.py").stdout
    (exception,) = run.log.ending.exceptions
    assert (exception.where, exception.type, exception.text) == ("0.1", "ValueError", "no")
    innermost = exception.innermost
    assert innermost is not None
    assert (innermost.file, innermost.line, innermost.function) == ("prog.py", 4, "inner")
    assert signature_of(run.log.ending).text == "ValueError in thread 0.1: no (prog.py:4 in inner)"


def test_a_hook_for_exceptions_in_threads_is_called(tmp_path: Path) -> None:
    run = run_program(
        tmp_path,
        """
        import threading
        threading.excepthook = lambda arguments: print("hook", arguments.exc_value, arguments.thread.name)
        thread = threading.Thread(target=int, args=("x",), name="t")
        thread.start()
        thread.join()
        """,
    )
    assert run.output == b"hook invalid literal for int() with base 10: 'x' t\n"
    assert [exception.type for exception in run.log.ending.exceptions] == ["ValueError"]


def test_an_exception_that_was_caught_is_none(tmp_path: Path) -> None:
    run = run_program(
        tmp_path,
        """
        import concurrent.futures
        with concurrent.futures.ThreadPoolExecutor() as pool:
            print(type(pool.submit(int, "x").exception()).__name__)
        """,
    )
    assert output_of(run) == "ValueError\n"
    assert run.log.ending.exceptions == ()


def test_os_exit_in_a_thread(tmp_path: Path) -> None:
    run = run_program(
        tmp_path,
        """
        import os, threading
        threading.Thread(target=os._exit, args=(3,)).start()
        threading.Event().wait()
        """,
    )
    assert (run.log.ending.status, run.log.ending.complete) == (3, True)
    assert run.log.ending.notes == ("the program called os._exit",)


def test_a_signal_that_kills_is_the_ending(tmp_path: Path) -> None:
    run = run_program(
        tmp_path,
        """
        import os, signal, threading
        threading.Thread(target=print).start()
        os.kill(os.getpid(), signal.SIGSEGV)
        """,
    )
    assert (run.log.ending.status, run.log.ending.signal) == (None, signal.SIGSEGV)
    assert signature_of(run.log.ending).text == "killed by SIGSEGV"


def test_a_child_process_gets_a_clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("REPLAY_DD")]:
        monkeypatch.delenv(name)  # what the project's own test command sets
    text = """
        import os, subprocess, sys
        print(subprocess.run([sys.executable, "-c", "import os, sys; print(sorted(os.environ), sys.path[1:])"],
              capture_output=True, text=True).stdout)
        """
    run = run_program(tmp_path, text)
    plain = plainly(tmp_path, sys.executable, "prog.py")
    assert output_of(run).replace("'TMPDIR', ", "") == plain.stdout.decode().replace("'TMPDIR', ", "")
    assert "REPLAY_DD" not in output_of(run)


def test_the_users_own_python_variables_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "mine.py").write_text("value = 5\n")
    (library / "sitecustomize.py").write_text("import builtins\nbuiltins.own_site = True\n")
    monkeypatch.setenv("PYTHONPATH", str(library))
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    run = run_program(
        tmp_path / "run",
        "import mine, os, sys\n"
        "print(mine.value, own_site, os.environ['PYTHONPATH'] in sys.path, os.environ['PYTHONHASHSEED'])",
    )
    assert output_of(run) == "5 True True 7\n"
    assert run.log.program.environment["PYTHONPATH"] == str(library)


# -- ways to start a program -----------------------------------------------------------------------------------------

PACKAGE = {"package/__init__.py": "", "package/__main__.py": COUNTER + "\n    print(__name__, __package__)\n"}


def counted(run_of: dict[str, int]) -> bool:
    return sorted(run_of) == ["0", "0.1", "0.2", "0.3", "0.4"] and run_of["0.1"] > 3


def test_python_m_package(tmp_path: Path) -> None:
    for name, text in PACKAGE.items():
        write_program((tmp_path / name).parent, text, (tmp_path / name).name)
    run = run_command(tmp_path, (sys.executable, "-m", "package"))
    assert output_of(run) == "4\n__main__ package\n"
    assert counted(dict(run.log.ending.thread_times))
    assert "package/__main__.py" in run.log.program.files


def test_python_c(tmp_path: Path) -> None:
    text = "\n".join(line[4:] for line in COUNTER.splitlines())
    run = run_command(tmp_path, (sys.executable, "-c", text))
    assert output_of(run) == "4\n"
    assert counted(dict(run.log.ending.thread_times))
    lost = run_command(tmp_path, (sys.executable, "-c", text), triggered(("0.1", 3, "0.2")))
    assert output_of(lost) == "1\n"


def test_a_script_with_a_shebang(tmp_path: Path) -> None:
    script = tmp_path / "a-script"
    text = "\n".join(line[4:] for line in COUNTER.splitlines())
    script.write_text(f"#!{sys.executable}\n{text}\n")
    script.chmod(0o755)
    run = run_command(tmp_path, ("./a-script",))
    assert output_of(run) == "4\n"
    assert counted(dict(run.log.ending.thread_times))


def test_a_script_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "folder" / "some-tool"
    script.parent.mkdir()
    script.write_text(
        f"#!{sys.executable}\nimport sys, threading\nthreading.Thread(target=print, args=(sys.argv[1:],)).start()\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)
    assert output_of(run_command(tmp_path, ("some-tool", "-x"))) == "['-x']\n"


def test_pytest_one_test(tmp_path: Path) -> None:
    body = "\n".join(line[4:] for line in COUNTER.replace("print(shared.value)", "").splitlines())
    indented = "\n".join("    " + line for line in body.splitlines())
    indented = indented.replace("before = shared", "before = shared")
    (tmp_path / "test_it.py").write_text(
        f"def test_one():\n{indented}\n    assert shared.value == 4\ndef test_other(): assert 0\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py::test_one")
    run = run_command(tmp_path, command)
    assert "1 passed" in output_of(run)
    times = dict(run.log.ending.thread_times)
    assert sorted(times) == ["0", "0.1", "0.2", "0.3", "0.4"]
    # pytest's own work is not counted: main only starts and joins, from the test's function.
    assert times["0"] < 300
    assert "test_it.py" in run.log.program.files
    for time in range(3, 8):
        failing = run_command(tmp_path, command, triggered(("0.1", time, "0.2")))
        if failing.log.ending.status:
            break
    assert failing.log.ending.status == 1
    signature = signature_of(failing.log.ending)
    assert signature.text.startswith("AssertionError")
    assert "test_it.py" in signature.text


def test_a_test_that_fails_as_expected_is_a_pass(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(
        "import threading, pytest\n@pytest.mark.xfail\ndef test_one():\n"
        "    thread = threading.Thread(target=int)\n    thread.start()\n    thread.join()\n    assert 0\n"
    )
    run = run_command(tmp_path, (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"))
    assert run.log.ending.status == 0
    assert signature_of(run.log.ending).text == "exit status 0"


def test_a_python_of_another_environment_without_replay_dd(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = str(tmp_path / "env" / "bin" / "python")
    found = plainly(tmp_path, python, "-c", "import importlib.util as u; print(u.find_spec('replay_dd'))")
    assert found.stdout == b"None\n", "otherwise this test says nothing"
    write_program(tmp_path, COUNTER)
    run = run_command(tmp_path, (python, "prog.py"), random_walk(17))
    output_of(run)
    assert counted(dict(run.log.ending.thread_times))
    assert run.log.program.executable == python


@pytest.mark.parametrize(
    "command", [("sh", "-c", "echo said; exit 3"), (sys.executable, "-I", "prog.py"), (sys.executable, "-S", "prog.py")]
)
def test_what_is_not_controlled_is_told(command: tuple[str, ...], tmp_path: Path) -> None:
    write_program(tmp_path, "print('said')\nraise SystemExit(3)")
    with pytest.raises(NotControlledError) as error:
        run_target(describe_program(command, directory=tmp_path), Settings(), DEFAULT, time_limit_s=60)
    assert "exit status 3" in error.value.message
    assert "said" in error.value.message


def test_locks_that_a_module_made_before_us(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    (packages,) = (tmp_path / "env" / "lib").glob("python3*/site-packages")
    (packages / "early.pth").write_text("import early\n")
    (packages / "early.py").write_text(
        "import logging, queue, threading\n"
        "class Own:\n    pass\n"
        "own, items, locks = Own(), queue.Queue(1), [threading.Lock(), threading.RLock()]\n"
        "own.lock, own.condition = threading.RLock(), threading.Condition()\n"
    )
    text = """
        import early, logging, sys, threading, time
        def work(number):
            for lock in (early.own.lock, *early.locks):
                with lock:
                    time.sleep(1)
                    logging.warning("a line")
            early.items.put(number)
            with early.own.condition:
                early.own.condition.notify_all()
        logging.basicConfig(stream=sys.stdout)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads: thread.start()
        with early.own.condition:
            early.own.condition.wait(60)
        print(sorted(early.items.get() for _ in threads))
        """
    write_program(tmp_path, text)
    for plan in (DEFAULT, random_walk(4)):
        run = run_command(tmp_path, (str(tmp_path / "env" / "bin" / "python"), "prog.py"), plan)
        assert output_of(run).splitlines() == ["WARNING:root:a line"] * 9 + ["[0, 1, 2]"]
        assert run.log.ending.notes == ()


def test_clocks_that_a_module_kept_before_us(tmp_path: Path) -> None:
    """As defaults of arguments and fields, in classes, tables and closures."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    (packages,) = (tmp_path / "env" / "lib").glob("python3*/site-packages")
    (packages / "early.pth").write_text("import early\n")
    (packages / "early.py").write_text(
        textwrap.dedent(
            """
            import time
            from dataclasses import dataclass, field

            @dataclass
            class Stamp:
                at: float = field(default_factory=time.monotonic)

            def by_default(now=time.monotonic): return now()
            def by_name(*, now=time.monotonic): return now()
            def closed_over():
                now = time.monotonic
                return lambda: now()
            class Timer:
                clock = time.monotonic
                def now(self, clock=time.monotonic): return clock()
            clocks, table, enclosed = [time.monotonic], {"now": time.monotonic}, closed_over()
            """
        )
    )
    text = """
        import early, threading, time
        from dataclasses import dataclass
        @dataclass
        class Later(early.Stamp): pass
        def work():
            time.sleep(1_000_000)
            now = time.monotonic()
            told = (
                early.Stamp().at, Later().at, early.by_default(), early.by_name(), early.Timer.clock(),
                early.Timer().clock(), early.Timer().now(), early.clocks[0](), early.table["now"](), early.enclosed(),
            )
            print([0 <= one - now < 1000 for one in told])
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    write_program(tmp_path, text)
    run = run_command(tmp_path, (str(tmp_path / "env" / "bin" / "python"), "prog.py"), DEFAULT)
    assert output_of(run).strip() == str([True] * 10)
