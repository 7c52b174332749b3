"""Whatever is wrong with what the user gives, there is one message, a hint, and an exit code of its own."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.tool import RACE, Workshop

pytestmark = pytest.mark.once

READERS: dict[str, Callable[[str], list[str]]] = {
    "replay": lambda log: ["replay", log],
    "show": lambda log: ["show", log],
    "minimize": lambda log: ["minimize", log],
    "schedules": lambda log: ["schedules", log, log],
}


def damaged(race: Workshop, damage: Callable[[bytes], bytes | None]) -> Callable[[Path], None]:
    data = (race.folder / "found" / "fail.log").read_bytes()

    def write(path: Path) -> None:
        changed = damage(data)
        if changed is not None:
            path.write_bytes(changed)

    return write


DAMAGES: dict[str, tuple[Callable[[bytes], bytes | None], str]] = {
    "missing": (lambda data: None, "log-unreadable"),
    "empty": (lambda data: b"", "log-empty"),
    "cut off": (lambda data: data[: len(data) // 2], "log-cut-off"),
    "edited": (lambda data: data.replace(b"prog.py", b"grop.py", 1), "log-edited"),
    "newer": (lambda data: data.replace(b'"version": 1', b'"version": 2', 1), "log-newer"),
    "foreign": (lambda data: b'{"kind": "something else"}\n', "not-a-log"),
    "binary": (lambda data: b"\x7fELF" + bytes(range(256)), "not-a-log"),
}


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("name", DAMAGES)
def test_a_log_that_cannot_be_used(name: str, command: str, race: Workshop, shop: Workshop) -> None:
    damage, slug = DAMAGES[name]
    damaged(race, damage)(shop.folder / "a.log")
    done = shop.run_here(*READERS[command]("a.log"))
    # Replay keeps its statuses below 128 for verdicts.
    assert "hint:" in done.refused(133 if command == "replay" else 5, slug)
    assert done.stdout == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_log_that_may_not_be_read(race: Workshop, shop: Workshop) -> None:
    path = shop.folder / "a.log"
    shutil.copy(race.folder / "found" / "fail.log", path)
    path.chmod(0)
    shop.run_here("show", "a.log").refused(5, "log-unreadable")


@pytest.mark.parametrize("command", ["record", "hunt"])
def test_a_log_that_cannot_be_written_is_told_before_the_first_run(command: str, shop: Workshop) -> None:
    shop.write("open('it-ran', 'w').close()\n")
    shop.run_here(command, "-o", "prog.py/a.log", *shop.program()).refused(5, "output-unwritable")
    assert not (shop.folder / "it-ran").exists()


def test_minimal_logs_that_cannot_be_written_are_told_before_the_first_run(shop: Workshop) -> None:
    shop.write(RACE)
    shop.run("hunt", "-o", "found", *shop.program())
    shop.write("")  # a run would be refused, as it is another program
    for command in (("schedules", "found/pass.log", "found/fail.log"), ("minimize", "found/fail.log")):
        shop.run_here(*command, "-o", "prog.py/a.log").refused(5, "output-unwritable")


@pytest.mark.parametrize(("command", "status"), [("replay", 130), ("show", 2), ("minimize", 2)])
def test_a_program_after_a_recording_is_told_where_it_belongs(command: str, status: int, shop: Workshop) -> None:
    told = shop.run_here(command, "a.log", "--", "python", "prog.py").refused(status, "usage")
    assert "nothing comes after `--`" in told
    assert "replay-dd input FILE" in told


# -- the program -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["record", "hunt"])
@pytest.mark.parametrize("program", ["no-such-program", "./no-such-program", "folder", "./folder", "not-executable"])
def test_no_program(command: str, program: str, shop: Workshop) -> None:
    (shop.folder / "folder").mkdir()
    (shop.folder / "not-executable").write_text("text")
    shop.run_here(command, "-o", "out", "--", program).refused(2, "program-not-found")
    assert not (shop.folder / "out").exists()


@pytest.mark.parametrize("program", ["n" * 5000, "./" + "n" * 300, "/" + "n/" * 3000])
def test_a_program_with_a_name_that_is_too_long(program: str, shop: Workshop) -> None:
    for command in ("record", "hunt", "monkey"):
        shop.run_here(command, "-o", "out", "--", program).refused(2, "program-not-found")
    shop.run_here("record", "--gui", "--display", "new", "-o", "out", "--", program).refused(2, "program-not-found")


@pytest.mark.parametrize("program", ["prog.py", "./prog.py"])
def test_a_python_file_in_the_place_of_a_program(program: str, shop: Workshop) -> None:
    shop.write(RACE)
    said = shop.run_here("record", "-o", "a.log", "--", program).refused(2, "program-not-found")
    assert f"write `python {program}`" in said


def test_a_program_that_cannot_be_executed(shop: Workshop) -> None:
    for name, content in (("text", "no program\n"), ("shebang", "#!/no/such/interpreter\n")):
        path = shop.folder / name
        path.write_text(content)
        path.chmod(stat.S_IRWXU)
        shop.run_here("record", "-o", "a.log", "--", f"./{name}").refused(2, "program-not-found")


@pytest.mark.parametrize(
    "command",
    [("sh", "-c", "true"), ("sh", "-c", "echo said; exit 4"), ("python", "-I", "prog.py"), ("python", "-S", "prog.py")],
)
def test_what_is_no_program_for_us(command: tuple[str, ...], shop: Workshop) -> None:
    shop.write(RACE)
    shop.run("record", "-o", "a.log", "--", *command).refused(2, "not-controlled")
    shop.run("hunt", "-o", "out", "--", *command).refused(2, "not-controlled")


def test_a_command_that_sets_the_path_of_modules_is_told_where_to_set_it(shop: Workshop) -> None:
    shop.write(RACE)
    ran = shop.run("hunt", "-o", "out", "--", "env", "PYTHONPATH=.", "python", "prog.py")
    assert "set it before `replay-dd`" in ran.refused(2, "not-controlled")
    ran = shop.run("hunt", "-o", "out", "--", "python", "-I", "prog.py")
    assert "PYTHONPATH" not in ran.refused(2, "not-controlled")


def test_a_program_that_is_gone_at_replay(shop: Workshop) -> None:
    script = shop.write(f"#!/usr/bin/env python\n{RACE}", "script")
    script.chmod(stat.S_IRWXU)
    assert shop.run("record", "-o", "a.log", "--", "./script").status == 0
    script.unlink()
    shop.run_here("replay", "a.log").refused(130, "program-changed")
    shop.run_here("replay", "--accept-changes", "a.log").refused(130, "program-not-found")


def test_a_working_directory_that_is_gone(shop: Workshop) -> None:
    shop.write(RACE)
    shop.run("record", "-o", "../a.log", *shop.program())
    shop.folder.rename(shop.folder.with_name("elsewhere"))
    shop.folder = shop.folder.with_name("elsewhere")
    done = shop.run("replay", "../a.log")
    assert "Traceback" not in done.stderr
    assert done.status >= 128


@pytest.mark.parametrize("command", ["record", "hunt"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.py",),
        ("-u", "missing.py", "-c", "pass"),
        ("-Wonce", "missing.py"),
        ("-X", "dev", "missing.py"),
        ("-bX", "dev", "missing.py"),
        ("--check-hash-based-pycs", "always", "missing.py"),
        ("--", "missing.py"),
    ],
)
def test_a_missing_script_is_told_before_the_first_run(
    command: str, arguments: tuple[str, ...], shop: Workshop
) -> None:
    """The interpreter would exit with status 2, and that would count as the program's failure."""
    said = shop.run_here(command, "-o", "out", "--", "python", *arguments).refused(2, "program-not-found")
    assert "`missing.py`" in said
    assert not (shop.folder / "out").exists()


@pytest.mark.parametrize(
    "arguments", [("-c", "print('ran')", "missing.py"), ("-m", "prog", "missing.py"), ("-bc", "print('ran')")]
)
def test_a_command_without_a_script_misses_none(arguments: tuple[str, ...], shop: Workshop) -> None:
    shop.write("print('ran')")
    done = shop.run("record", "-o", "a.log", "--", "python", *arguments)
    assert (done.status, done.stdout) == (0, "ran\n"), done.stderr
    done = shop.run("record", "-o", "a.log", "--stdin", "prog.py", "--", "python", "-", "missing.py")
    assert (done.status, done.stdout) == (0, "ran\n"), done.stderr


@pytest.mark.parametrize(
    "text, outcome, replayed",
    [
        ("", "exit status 0", 0),
        ("raise SystemExit(7)", "exit status 7", 1),
        ("syntax error", "SyntaxError", 1),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL", 1),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV", 1),
        ("import os\nos._exit(5)", "exit status 5", 1),
        ("import os\nos._exit(0)", "exit status 0", 0),
        ("import os\nfor d in (1, 2): os.close(d)", "exit status 0", 0),
        ("import os\nos.closerange(0, 256)\nraise SystemExit(3)", "exit status 3", 1),
        ("import sys\nsys.stdout.close()", "exit status 0", 0),
        ("import os\nif os.fork(): os.wait()", "exit status 0", 0),
        ("import os\nos.execvp('true', ['true'])", "replaced or exited without reporting", 125),
        ("import os\nos.execvp('sh', ['sh', '-c', 'exit 6'])", "exit status 6", 1),
        ("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()", "deadlock of the threads 0", 1),
    ],
)
@pytest.mark.parametrize("threads", [False, True])
def test_programs_that_end_in_odd_ways(text: str, outcome: str, replayed: int, threads: bool, shop: Workshop) -> None:
    if threads:
        text = f"import threading\nt = threading.Thread(target=int)\nt.start()\nt.join()\n{text}"
    shop.write(text)
    done = shop.run("record", "-o", "a.log", *shop.program())
    assert done.status == 0
    assert outcome in done.stderr
    assert "replay-dd/" not in done.stderr.replace(str(shop.folder), "")
    again = shop.run("replay", "a.log")
    assert again.status == replayed
    if replayed != 125:
        assert "digest: same" in again.stdout


def test_a_program_that_never_ends(shop: Workshop) -> None:
    shop.write("import ctypes, threading\nthreading.Thread(target=int).start()\nctypes.CDLL(None).pause()")
    done = shop.run("record", "--time-limit", "1", "-o", "a.log", *shop.program())
    done.refused(3, "time-limit")
    assert "still running at the time limit" in shop.run("show", "a.log").stdout
    assert shop.run("replay", "--time-limit", "1", "a.log").status == 125
    hunted = shop.run("hunt", "--runs", "2", "--time-limit", "1", "-o", "out", *shop.program())
    assert hunted.status == 1
    assert "Traceback" not in hunted.stderr


# -- pairs of logs ---------------------------------------------------------------------------------------------------


def test_swapped(race: Workshop) -> None:
    race.run("schedules", "found/fail.log", "found/pass.log").refused(3, "swapped")


def test_the_same_twice(race: Workshop) -> None:
    race.run("schedules", "found/pass.log", "found/pass.log").refused(3, "does-not-fail")
    race.run("schedules", "found/fail.log", "found/fail.log").refused(3, "does-not-pass")
    race.run("minimize", "found/pass.log").refused(3, "does-not-fail")


def test_of_two_programs(race: Workshop, shop: Workshop) -> None:
    shop.write(RACE, "other.py")
    shop.run("record", "-o", "other.log", *shop.program(name="other.py"))
    race.run_here("schedules", shop.folder / "other.log", "found/fail.log").refused(2, "two-programs")


def test_of_two_settings_or_places(race: Workshop, shop: Workshop) -> None:
    shop.write(RACE)
    shop.run("record", "-o", "elsewhere.log", *shop.program())
    told = race.run_here("schedules", shop.folder / "elsewhere.log", "found/fail.log").refused(2, "two-programs")
    assert "settings" in told or "directory" in told


def test_a_program_that_was_changed(race: Workshop, shop: Workshop) -> None:
    shop.write(RACE)
    assert shop.run("hunt", "-o", "found", *shop.program()).status == 0
    shop.write(RACE.replace("all there", "all is there"))
    shop.run_here("replay", "--exact", "found/pass.log").refused(130, "program-changed")
    followed = shop.run("replay", "found/fail.log")
    assert followed.status == 1
    assert "changed: prog.py; 1 switch, all relocated" in followed.stdout
    shop.run_here("schedules", "found/pass.log", "found/fail.log").refused(2, "program-changed")
    shop.run_here("minimize", "found/fail.log").refused(2, "program-changed")
    accepted = shop.run("replay", "--accept-changes", "found/fail.log")
    assert accepted.status == 1
    assert shop.run("schedules", "--accept-changes", "found/pass.log", "found/fail.log").status == 0


def test_a_change_of_behaviour_is_named(shop: Workshop) -> None:
    """The text of the program is the same; what it does depends on a file beside."""
    shop.write("import threading\ndef work():\n    for _ in range(int(open('n').read())): len(threads)\n"
               "threads = [threading.Thread(target=work) for _ in range(2)]\n"
               "for t in threads: t.start()\nfor t in threads: t.join()\n")  # fmt: skip
    (shop.folder / "n").write_text("5")
    assert shop.run("record", "-o", "a.log", *shop.program()).status == 0
    (shop.folder / "n").write_text("6")
    done = shop.run("replay", "a.log")
    assert done.status == 125
    assert "digest: diverged, expected thread 0.1 to yield to 0.2 at its time" in done.stdout
    assert "note: " not in done.stdout


# -- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("--no-such-option",),
        ("record",),
        ("record", "--", "python", "prog.py"),
        ("record", "-o", "a.log"),
        ("record", "-o", "a.log", "--granularity", "fine", "--", "python"),
        ("record", "-o", "a.log", "--time-limit", "0", "--", "python"),
        ("record", "-o", "a.log", "--time-limit", "nan", "--", "python"),
        ("record", "-o", "a.log", "--max-delay", "nan", "--", "python"),
        ("input", "a", "--time-budget", "inf", "--", "false", "{}"),
        ("record", "-o", "a.log", "--stdin", "missing", "--", "python"),
        ("record", "-o", "a.log", "--seed", "x", "--", "python"),
        ("hunt", "--runs", "0", "--", "python"),
        ("hunt", "--strategy", "lucky", "--", "python"),
        ("hunt", "--jobs", "0", "--", "python"),
        ("show",),
        ("show", "a", "b"),
        ("schedules", "a"),
        ("schedules", "a", "b", "--max-tests", "0"),
        ("minimize",),
    ],
)
def test_usage_errors(arguments: tuple[str, ...], shop: Workshop) -> None:
    done = shop.run(*arguments)
    done.refused(2, "usage")
    assert done.stdout == ""


def test_a_misspelt_command_is_guessed(shop: Workshop) -> None:
    assert "Did you mean `hunt`?" in shop.run_here("hutn").refused(2, "usage")
    assert "Did you mean" not in shop.run_here("no-such-command").refused(2, "usage")


def test_without_arguments_help_is_shown(shop: Workshop) -> None:
    assert "Usage: replay-dd" in shop.run().stdout


@pytest.mark.parametrize("arguments", [("replay",), ("replay", "a", "b"), ("replay", "--time-limit", "x", "a")])
def test_usage_errors_of_replay_are_no_verdict(arguments: tuple[str, ...], shop: Workshop) -> None:
    done = shop.run(*arguments)
    done.refused(130, "usage")


def test_another_package_called_recorders(shop: Workshop) -> None:
    (shop.folder / "recorders.py").write_text("")
    shop.variables["PYTHONPATH"] = str(shop.folder)
    told = shop.run("show", "a.log").refused(2, "package-shadowed")
    assert "recorders.py" in told


def test_text_that_cannot_be_encoded(shop: Workshop) -> None:
    shop.write("import threading\nthreading.Thread(target=int).start()\nraise ValueError('\\ud800')")
    for command in (("record", "-o", "a.log"), ("hunt", "--runs", "2", "-o", "out")):
        done = shop.run(*command, *shop.program())
        assert "replay-dd: this is a bug" not in done.stderr
    for command in (("show", "a.log"), ("replay", "a.log"), ("minimize", "a.log")):
        done = shop.run(*command)
        assert "replay-dd: this is a bug" not in done.stderr


def test_source_text_outside_ascii_on_a_terminal_that_cannot_show_it(shop: Workshop) -> None:
    shop.write("import threading\ndef überweisen(): print(len('größe'))\nt = threading.Thread(target=überweisen)\n"
               "t.start()\nt.join()  # fertig – gut\nprint(1)")  # fmt: skip
    assert shop.run("record", "-o", "a.log", *shop.program()).status == 0
    shop.variables["PYTHONIOENCODING"] = "ascii"
    done = shop.run("show", "a.log")
    assert done.status == 0, done.stderr


def test_closed_standard_streams(race: Workshop) -> None:
    for closing in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        done = race.run("show", "found/fail.log", shell=f'"$0" "$@" {closing}; echo "$?" > ../status')
        assert "Traceback" not in done.stderr, closing
        assert (race.folder.parent / "status").read_text() == "0\n", closing


def test_the_json_answer_is_one_object(race: Workshop, tmp_path: Path) -> None:
    done = race.run("schedules", "found/pass.log", "found/fail.log", "--json", "-o", tmp_path)
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stdout.startswith("{")


@pytest.mark.parametrize(
    "arguments",
    [["input", "x", "--", "false"], ["trace", "--", "python", "x.py"], ["changes", "a", "b", "--", "true"]],
    ids=lambda words: words[0],
)
def test_a_working_directory_that_is_gone_is_told(arguments: list[str], shop: Workshop) -> None:
    shop.write("x", name="x")
    (shop.folder / "gone").mkdir()
    words = [str(shop.folder / "x") if word == "x" else word for word in arguments]
    done = shop.run(*words, shell='cd gone && rmdir ../gone && exec "$0" "$@"')
    assert "does not exist any more" in done.refused(2, "usage")
