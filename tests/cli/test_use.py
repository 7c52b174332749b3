"""What the commands say and how they end in normal use."""

from __future__ import annotations

import importlib.resources
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from replay_dd.cli.main import COMMANDS
from tests.cli.tool import RACE, READ, WRITE, Workshop

PASS, FAIL = "found/pass.log", "found/fail.log"


def test_record_tells_what_it_wrote_and_lets_the_program_speak(shop: Workshop) -> None:
    shop.write(RACE)
    done = shop.run("record", "-o", "a.log", *shop.program())
    assert (done.status, done.stdout) == (0, "all there\n")
    assert "recorded in a.log" in done.stderr
    assert re.search(r"outcome +exit status 0", done.stderr)
    assert re.search(r"reproduced +yes", done.stderr)
    assert [path.name for path in shop.folder.iterdir() if path.suffix == ".log"] == ["a.log"]


@pytest.mark.parametrize("options", [("--strategy", "random"), ("--strategy", "pct", "--seed", "3"), ("--no-verify",)])
def test_record_with_options(options: tuple[str, ...], shop: Workshop) -> None:
    shop.write(RACE)
    assert shop.run("record", *options, "-o", "folder/a.log", *shop.program()).status == 0
    shown = shop.run("show", "folder/a.log")
    assert ("not tried" in shown.stdout) == (options == ("--no-verify",))
    if options[0] == "--strategy":
        assert f"strategy {options[1]}" in shown.stdout
    assert shop.run("replay", "folder/a.log").status in (0, 1)


@pytest.mark.parametrize("granularity", ["sync", "gil", "line", "access"])
def test_each_granularity_records_and_replays(granularity: str, shop: Workshop) -> None:
    shop.write(RACE)
    shop.run("record", "--granularity", granularity, "-o", "a.log", *shop.program())
    done = shop.run("replay", "a.log")
    assert done.status == 0
    assert done.stdout.splitlines() == ["all there", "outcome: exit status 0", "digest: same"]


def test_hunt_finds_both_and_says_what_next(race: Workshop) -> None:
    done = race.run("hunt", "-o", "found-again", "--jobs", "1", *race.program())
    assert done.status == 0
    assert "ValueError: balance is 1 (prog.py:20 in <module>)" in done.stdout
    assert "replay-dd schedules found-again/pass.log found-again/fail.log" in done.stdout
    assert "Traceback" not in done.stderr
    for name in ("pass.log", "fail.log"):
        one, other = ((race.folder / folder / name).read_text().splitlines() for folder in ("found", "found-again"))
        switches = [[line for line in lines if '"switch"' in line] for lines in (one, other)]
        assert switches[0] == switches[1], "the answer does not depend on the number of jobs"


@pytest.mark.once
def test_hunt_without_a_failure(shop: Workshop) -> None:
    shop.write("import threading\nthreading.Thread(target=int).start()")
    done = shop.run("hunt", "--runs", "4", *shop.program())
    assert done.status == 1
    assert "No failure in 4 runs" in done.stdout
    assert "not a proof" in done.stdout
    assert (shop.folder / "pass.log").exists()
    assert not (shop.folder / "fail.log").exists()


@pytest.mark.once
def test_hunt_tells_that_it_called_finalizers(shop: Workshop) -> None:
    shop.write("import threading, weakref\nthreading.Thread(target=int).start()")
    assert "Garbage was collected in 3 runs" in shop.run("hunt", "--runs", "12", *shop.program()).stdout


@pytest.mark.once
def test_hunt_without_a_pass(shop: Workshop) -> None:
    shop.write("import threading\nthreading.Thread(target=int).start()\nraise SystemExit(3)")
    done = shop.run("hunt", "--runs", "4", *shop.program())
    assert done.status == 3
    assert "No run passed in 4 runs" in done.stdout
    assert not (shop.folder / "pass.log").exists()


@pytest.mark.once
@pytest.mark.parametrize(("text", "status"), [("pass", 1), ("raise SystemExit(3)", 3)])
def test_hunt_where_there_is_nothing_to_vary(text: str, status: int, shop: Workshop) -> None:
    shop.write(text)
    done = shop.run("hunt", *shop.program())
    assert done.status == status
    assert "only one schedule" in done.stdout


def test_replay_of_pass_and_fail(race: Workshop) -> None:
    passed = race.run("replay", PASS)
    assert (passed.status, passed.stdout.splitlines()[0]) == (0, "all there")
    for _ in range(3):
        failed = race.run("replay", FAIL)
        assert failed.status == 1
        assert "outcome: ValueError: balance is 1 (prog.py:20 in <module>)" in failed.stdout
        assert "digest: same" in failed.stdout


@pytest.mark.once
def test_show_draws_lanes(race: Workshop) -> None:
    done = race.run("show", FAIL)
    assert done.status == 0
    assert "outcome      ValueError: balance is 1" in done.stdout
    assert "●" in done.stdout
    plain = race.run("show", "--ascii", FAIL)
    assert plain.stdout.isascii()
    race.variables["PYTHONIOENCODING"] = "ascii"
    try:
        encoded = race.run("show", FAIL)
    finally:
        del race.variables["PYTHONIOENCODING"]
    assert (encoded.status, encoded.stdout) == (0, plain.stdout)


def isolated(race: Workshop, tmp_path: Path, *options: str) -> dict[str, Any]:
    done = race.run("schedules", PASS, FAIL, "--json", "-o", tmp_path, *options)
    assert done.status == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    check_schema(answer)
    return answer


def check_schema(answer: object) -> None:
    schema = importlib.resources.files("replay_dd.report") / "isolation.schema.json"
    jsonschema.validate(answer, json.loads(schema.read_text(encoding="utf-8")))


def test_schedules_answers_with_json(race: Workshop, tmp_path: Path) -> None:
    answer = isolated(race, tmp_path)
    assert (answer["format"], answer["circumstance"], answer["goal"]) == ("replay-dd isolation", "schedules", "isolate")
    assert answer["proof"] == {
        "holds": True,
        "failing": {"failed": 3, "runs": 3},
        "passing": {"failed": 0, "runs": 3},
    }
    differences, tests = answer["deltas"]["before"], answer["tests"]["run"]
    assert tests <= math.ceil(math.log2(differences)) + 4 if differences > 1 else tests <= 4
    switch = answer["answer"]["switch"]
    place = switch["place"]
    assert (place["file"], place["function"], place["line"]) == ("prog.py", "deposit", WRITE)
    assert switch["gil_reachable"] is False, "this interpreter does not look between reading and writing"
    assert switch["thread"] in ("0.1", "0.2")
    assert race.run("replay", answer["files"]["passing"]).status == 0
    assert race.run("replay", answer["files"]["failing"]).status == 1


@pytest.mark.once
def test_minimize_answers_with_json(race: Workshop, tmp_path: Path) -> None:
    done = race.run("minimize", FAIL, "--json", "-o", tmp_path / "minimal.log")
    assert done.status == 0, done.stderr
    answer = json.loads(done.stdout)
    check_schema(answer)
    assert (answer["circumstance"], answer["goal"], answer["proof"]["holds"]) == ("schedule", "simplify", True)
    (choice,) = answer["answer"]["choices"]
    assert answer["deltas"]["words"] == ["thread {thread} to {to} at its yield point {time}".format(**choice)]
    assert answer["answer"]["choices"][0]["thread"] in ("0.1", "0.2")
    assert race.run("replay", answer["files"]["failing"]).status == 1


def test_schedules_does_not_depend_on_the_jobs(race: Workshop, tmp_path: Path) -> None:
    answers = [isolated(race, tmp_path, "--jobs", jobs) for jobs in ("1", "4")]
    for answer in answers:
        # Runs that were made ahead are among all runs and in the cost, and nowhere else.
        del answer["tests"]["seconds"], answer["tests"]["runs"], answer["answer"]["cost"]
    assert answers[0] == answers[1]


def test_schedules_in_words(race: Workshop, tmp_path: Path) -> None:
    done = race.run("schedules", PASS, FAIL, "-o", tmp_path)
    assert done.status == 0
    assert "The run FAILS if thread" in done.stdout
    assert "It PASSES if thread" in done.stdout
    assert RACE.splitlines()[WRITE - 1].strip() in done.stdout
    assert f"prog.py:{WRITE} in deposit" in done.stdout
    assert "equal digests" in done.stdout
    assert f"replay-dd replay {tmp_path / 'minimal-fail.log'}" in done.stdout
    assert READ < WRITE


def test_the_end_of_a_with_is_not_taken_for_its_beginning(shop: Workshop) -> None:
    """It stands at the first line of the statement, but the lines of its body do not lie before it."""
    shop.write("""
        import threading
        class Shared: one = two = 0
        lock = threading.Lock()
        def write():
            with lock:
                Shared.one += 1
                Shared.two += 1
        def read():
            seen.append((Shared.one, Shared.two))
        seen = []
        threads = [threading.Thread(target=function) for function in (write, read)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert seen != [(1, 0)]
        """)
    hunted = shop.run("hunt", "-o", "found", *shop.program())
    assert hunted.status == 0, hunted.stdout
    isolated = shop.run("schedules", "found/pass.log", "found/fail.log").stdout
    assert "instead\n         6  with lock:\n" in isolated, isolated
    assert "The code between" not in isolated


def test_a_search_that_is_stopped_gives_the_best_so_far(race: Workshop, tmp_path: Path) -> None:
    done = race.run("schedules", PASS, FAIL, "-o", tmp_path, "--json", "--max-tests", "1")
    answer = json.loads(done.stdout)
    if not answer["complete"]:
        assert answer["proof"]["holds"] is False
    assert race.run("replay", answer["files"]["failing"]).status == 1


@pytest.mark.once
def test_minimize(race: Workshop, tmp_path: Path) -> None:
    done = race.run("minimize", FAIL, "-o", tmp_path / "m.log")
    assert done.status == 0
    assert done.stdout.startswith("The only choice of this schedule is needed for the failure.\n")
    assert race.run("replay", tmp_path / "m.log").status == 1


def test_what_was_not_under_control_is_told_with_each_answer(shop: Workshop) -> None:
    shop.write(
        RACE.replace("if account", "os.wait() if os.fork() else os._exit(0)\nif account").replace(
            "import", "import os,", 1
        )
    )
    hunted = shop.run("hunt", "-o", "found", *shop.program())
    isolated = shop.run("schedules", "found/pass.log", "found/fail.log")
    note = "the program forked; only its first process is under control"
    assert (hunted.stdout.count(f"note         {note}"), isolated.stdout.count(f"note         {note}")) == (1, 1)
    assert json.loads(shop.run("schedules", "--json", "found/pass.log", "found/fail.log").stdout)["notes"] == [note]


@pytest.mark.once
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_minimize_draws_in_ascii_where_it_must(encoding: str, race: Workshop, tmp_path: Path) -> None:
    race.variables["PYTHONIOENCODING"] = encoding
    try:
        done = race.run("minimize", FAIL, "-o", tmp_path / "m.log")
    finally:
        del race.variables["PYTHONIOENCODING"]
    assert done.status == 0, done.stderr
    assert done.stdout.isascii(), done.stdout
    assert "\\u" not in done.stdout


def test_standard_input_is_recorded_and_given_again(shop: Workshop) -> None:
    shop.write(
        "import sys, threading\nt = threading.Thread(target=lambda: print(sys.stdin.read()))\nt.start()\nt.join()"
    )
    (shop.folder / "input").write_text("from a file")
    for options, stdin, expected in (
        (("--stdin", "input"), None, "from a file"),
        (("--stdin", "-"), b"from a pipe", "from a pipe"),
        ((), b"a pipe that nobody asked for", ""),
    ):
        done = shop.run("record", *options, "-o", "a.log", *shop.program(), stdin=stdin)
        assert (done.status, done.stdout) == (0, expected + "\n")
        assert shop.run("replay", "a.log").stdout.splitlines()[0] == expected
    done = shop.run("record", "-o", "a.log", *shop.program(), shell='"$0" "$@" < input')
    assert done.stdout == "from a file\n"


def test_runs_in_a_fresh_copy_do_not_see_each_other(shop: Workshop) -> None:
    shop.write(
        """
        import os, threading
        assert not os.path.exists("made"), "seen"
        thread = threading.Thread(target=lambda: open("made", "w").close())
        thread.start()
        thread.join()
        """
    )
    assert shop.run("record", "--fresh-copy", "-o", "../a.log", *shop.program()).status == 0
    assert not (shop.folder / "made").exists()
    assert shop.run("replay", "../a.log").status == 0
    without = shop.run("record", "-o", "../b.log", *shop.program())
    assert "a replay diverged" in without.stderr


def test_no_colour_where_nobody_looks(shop: Workshop) -> None:
    assert "\x1b" not in shop.run("replay", "missing.log").stderr


@pytest.mark.once
@pytest.mark.parametrize("command", ["record", "hunt", "replay", "show", "schedules", "minimize"])
def test_help(command: str, shop: Workshop) -> None:
    done = shop.run(command, "--help")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: replay-dd {command}")


@pytest.mark.once
def test_a_reader_that_goes_away_is_no_error(race: Workshop) -> None:
    done = race.run("show", FAIL, shell='"$0" "$@" | head -1; echo ${PIPESTATUS[0]}')
    lines = done.stdout.splitlines()
    assert lines[0].startswith("command")
    assert lines[1] == "0"
    assert done.stderr == ""
    gone = race.run("show", FAIL, shell='"$0" "$@" | true; echo ${PIPESTATUS[0]}')
    assert (gone.stdout, gone.stderr) == ("0\n", "")
    # 1 would mean: failed as recorded.
    verdict = race.run("replay", PASS, shell='"$0" "$@" | true; echo ${PIPESTATUS[0]}')
    assert verdict.stdout == "128\n"


def test_every_command_loads_without_the_extras() -> None:
    """Who installs replay-dd alone has neither a browser's driver nor X11's library."""
    text = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('playwright', 'Xlib', 'pyautogui')))\n"
        "from replay_dd.cli.main import COMMANDS, cli\n"
        "print([cli.get_command(None, name).name for name in COMMANDS])\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "'schedules'" in done.stdout


@pytest.mark.once
def test_a_hunt_of_a_program_without_threads_tells_why_it_fails(shop: Workshop) -> None:
    shop.write("import sys\nsys.exit('no configuration')")
    done = shop.run("hunt", *shop.program())
    assert done.status == 3
    assert "last output  no configuration" in done.stdout
    assert "there is nothing to vary" in done.stdout
    assert "the order in which tasks of an event loop go on" in done.stdout


@pytest.mark.parametrize("limit", [("--max-tests", "1"), ("--time-budget", "0.000001")])
def test_a_minimization_stops_with_the_best_so_far(limit: tuple[str, str], race: Workshop, tmp_path: Path) -> None:
    hunted = race.run("hunt", "--no-simplify", "--strategy", "random", "-o", tmp_path, *race.program())
    assert hunted.status == 0, hunted.stderr
    done = race.run("minimize", tmp_path / "fail.log", *limit, "--json")
    assert done.status == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["stopped_by"] == {"--max-tests": "tests", "--time-budget": "time"}[limit[0]]
    assert race.run("replay", answer["files"]["failing"]).status == 1


def test_a_usage_error_names_the_help_that_there_is(shop: Workshop) -> None:
    for name in COMMANDS:
        said = shop.run_here(name, "--no-such-option").refused(130 if name in ("replay", "verify-fix") else 2, "usage")
        assert f"hint: See `replay-dd {name} --help`." in said
    assert "hint: See `replay-dd --help`." in shop.run_here("--no-such-option").refused(2, "usage")
