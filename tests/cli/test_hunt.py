"""What `hunt` looks for, and what it says of what it found."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.schemas import checked
from tests.cli.tool import RACE, Done, Workshop

pytestmark = pytest.mark.once

# Every order of the threads but the first fails: at one line, with one message for each order.
ORDERS = """\
import threading


def come(number):
    came.append(number)


came = []
threads = [threading.Thread(target=come, args=(number,)) for number in (1, 2, 3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if came == [2, 1, 3]:
    raise SystemExit(7)
if came != [1, 2, 3]:
    raise ValueError(f"they came as {came}")
"""


def failure_of(done: Done) -> str:
    found = re.search(r"^failure +(.*) \(\d+ of", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout
    return found[1]


def outcome_of(shop: Workshop, log: str) -> str:
    found = re.search(r"^outcome +(.*)$", shop.run("show", log).stdout, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture
def orders(shop: Workshop) -> Workshop:
    shop.write(ORDERS)
    return shop


def test_the_message_is_that_of_the_log_which_was_written(orders: Workshop) -> None:
    """Simplification chooses another run with the same signature."""
    command = ("hunt", "--strategy", "random", "--failure", "ValueError", "-o")
    found = orders.run(*command, "found", "--no-simplify", *orders.program())
    simple = orders.run(*command, "simple", *orders.program())
    assert outcome_of(orders, "found/fail.log") != outcome_of(orders, "simple/fail.log"), "nothing is tested"
    assert failure_of(found) == outcome_of(orders, "found/fail.log")
    assert failure_of(simple) == outcome_of(orders, "simple/fail.log")


def test_the_runs_of_the_simplification_are_told(orders: Workshop) -> None:
    command = ("hunt", "--strategy", "random", "--failure", "ValueError", "-o", "found")
    done = orders.run(*command, *orders.program())
    assert re.search(r"Both found in \d+ runs of about \d+ yield points, and \d+ more to simplify them\.", done.stdout)
    assert "simplify" not in orders.run(*command, "--no-simplify", *orders.program()).stdout


@pytest.mark.parametrize("wanted", ["exit status 7", "as [3, 2, 1]", "as [2, 3, 1]"])
def test_a_hunt_for_one_failure_passes_over_others(wanted: str, orders: Workshop) -> None:
    done = orders.run("hunt", "--strategy", "random", "--failure", wanted, "-o", "found", *orders.program())
    assert done.status == 0, done.stdout
    assert wanted in failure_of(done)
    assert wanted in outcome_of(orders, "found/fail.log"), "simplification keeps to it"
    assert orders.run("replay", "found/fail.log").status == 1


def test_a_hunt_that_met_only_other_failures(orders: Workshop) -> None:
    done = orders.run("hunt", "--runs", "30", "--failure", "deadlock", *orders.program())
    assert done.status == 1
    assert re.search(r"^other        ValueError: they came as .* \(\d+ of 30 runs, \d messages\)$", done.stdout, re.M)
    assert re.search(r"^other        exit status 7 \(\S+:\d+ in \S+\) \(\d+ of 30 runs\)$", done.stdout, re.M)
    assert "No failure with `deadlock` in 30 runs" in done.stdout
    assert re.search(r"hint: other failures: .*ValueError: they came as", done.stdout)
    assert "trace-include" not in done.stdout
    assert (orders.folder / "pass.log").exists()
    assert not (orders.folder / "fail.log").exists()


def test_case_matters(orders: Workshop) -> None:
    done = orders.run("hunt", "--runs", "10", "--failure", "valueerror", *orders.program())
    assert (done.status, "other        ValueError" in done.stdout) == (1, True)


LIBRARY_ONLY = """\
import threading
import weakref

held = weakref.WeakValueDictionary()
threads = [threading.Thread(target=held.get, args=(1,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_where_only_the_library_runs_the_hint_is_to_count_it(shop: Workshop) -> None:
    shop.write(LIBRARY_ONLY)
    assert "--trace-include" in shop.run("hunt", "--runs", "3", *shop.program()).stdout
    # Where the threads do meet in counted code there is nothing to hint at, with a lock or without one.
    harmless = RACE.replace("balance = before + 1", "balance = before * 1").replace("!= 2", "!= 0")
    locked = RACE.replace("def deposit():", "lock = threading.Lock()\n\n\ndef deposit():").replace(
        "    before = account.balance\n    account.balance = before + 1",
        "    with lock:\n        before = account.balance\n        account.balance = before + 1",
    )
    for text in (harmless, locked):
        shop.write(text)
        done = shop.run("hunt", "--runs", "3", *shop.program())
        assert done.status == 1, done.stdout
        assert "hint" not in done.stdout


# -- packages that are counted or not --------------------------------------------------------------------------------


def test_a_misspelt_package_is_noted(shop: Workshop) -> None:
    (shop.folder / "parts").mkdir()
    shop.write("def work():\n    pass\n", "parts/one.py")
    shop.write("import json\nimport threading\nfrom parts.one import work\nthreading.Thread(target=work).start()\n")
    there = ("json", "json.decoder", "prog", "parts", "parts.one", "xml.sax", "xml.sax.never_looked_at", "sys")
    misspelt = ("jason", "json.decodr", "part", "parts.two", "xlm.sax")
    options = [text for name in (*there, *misspelt) for text in ("--trace-include", name)]
    done = shop.run("record", "-o", "a.log", *options, *shop.program())
    assert done.status == 0, done.stderr
    noted = re.findall(r"note +--trace-include or --trace-exclude (\S+): ", done.stderr)
    assert noted == list(misspelt)
    done = shop.run("hunt", "--runs", "2", "--trace-exclude", "jason", *shop.program())
    assert "note         --trace-include or --trace-exclude jason: the run met no such module" in done.stdout


# -- the words of an isolation ---------------------------------------------------------------------------------------


def test_two_operations_of_one_line_are_told_apart(shop: Workshop) -> None:
    shop.write(
        RACE.replace("    account.balance = before + 1", "    account.balance = len('ä') + before; account.late = 1")
    )
    assert shop.run("hunt", "-o", "found", *shop.program()).status == 0
    done = shop.run("schedules", "found/pass.log", "found/fail.log")
    _, answer, after_story = done.stdout.partition("The run FAILS")
    lines = (answer + after_story).splitlines()
    shown = [number for number, line in enumerate(lines) if "len('ä') + before; account.late = 1" in line]
    marks = [lines[number + 1] for number in shown]
    assert [mark.strip() for mark in marks][:2] == ["^ sets an attribute", "^ reads a variable"], done.stdout
    source = lines[shown[0]]
    assert [source[mark.index("^") :].split(" ")[0] for mark in marks[:2]] == ["account.balance", "account.late"]


def test_places_in_different_lines_need_no_marks(shop: Workshop) -> None:
    shop.write(RACE.replace("before = account.balance", "before = account.balance\n    account.early = 1"))
    assert shop.run("hunt", "-o", "found", "--granularity", "line", *shop.program()).status == 0
    assert "^" not in shop.run("schedules", "found/pass.log", "found/fail.log").stdout


def test_tests_that_are_unresolved_are_counted_and_explained(shop: Workshop) -> None:
    shop.write("""
        import threading
        class Shared: step = 0
        def walk():
            for number in range(8):
                Shared.step = number
        def look():
            seen.append(Shared.step)
        seen = []
        threads = [threading.Thread(target=function) for function in (walk, look)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        if seen[0] < 2: raise ValueError("too early")
        if seen[0] < 7: raise SystemExit(7)
        """)
    assert shop.run("hunt", "--failure", "too early", "-o", "found", *shop.program()).status == 0
    command = ("schedules", "found/pass.log", "found/fail.log")
    told = re.search(
        r"^unresolved +(\d+) of these tests neither passed nor showed this failure: "
        r"(\d+) (another failure: exit status 7 \(\S+:\d+ in <module>\))$",
        shop.run(*command).stdout,
        re.MULTILINE,
    )
    assert told is not None
    assert told[1] == told[2] != "0"
    answer = json.loads(shop.run(*command, "--json").stdout)
    assert answer["tests"]["unresolved"] == [{"tests": int(told[1]), "why": told[3]}]


SLOW = """\
import threading
import time


def nap():
    time.sleep(0.34)
    done.append("nap")


def work():
    for _ in range(9):
        done.append("work")


done = []
threads = [threading.Thread(target=nap), threading.Thread(target=work)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert done[-1] == "nap"
"""


def test_a_hunt_whose_time_is_over_has_made_its_first_run(shop: Workshop) -> None:
    shop.write(LIBRARY_ONLY)
    done = shop.run("hunt", "--time-budget", "0.001", *shop.program())
    assert done.status == 1
    assert "No failure in 1 run of about" in done.stdout


def test_runs_in_fresh_processes_are_told_as_what_makes_a_hunt_slow(shop: Workshop) -> None:
    shop.write(LIBRARY_ONLY)
    command = ("--", "sh", "-c", "exec python prog.py 3>data")  # open before the program's first line
    done = shop.run("hunt", "--runs", "4", *command)
    told = "each run is a fresh process, which takes longer than a forked one: it has "
    assert (done.stderr.count(told), done.stdout.count("fresh process")) == (1, 0)
    assert "data open before its first thread" in shop.run("hunt", "--runs", "2", "--json", *command).stdout
    asked_for = shop.run("hunt", "--runs", "2", "--no-fork", *command)
    assert "fresh process" not in asked_for.stdout + asked_for.stderr


def test_a_command_that_hides_how_its_program_ends_is_told_so(shop: Workshop) -> None:
    shop.write(RACE)
    done = shop.run("hunt", "--runs", "4", "--", "sh", "-c", "python prog.py; true")
    assert done.status == 1, done.stderr
    told = "the command ended with exit status 0 instead of ValueError: balance is 1"
    assert told in done.stderr


def test_a_sleep_that_is_too_long_to_end_early_is_told(shop: Workshop) -> None:
    shop.write(SLOW)
    found = shop.run("hunt", "--runs", "30", *shop.program())
    assert found.status == 1, found.stderr
    assert "`--max-delay 0.4`" in found.stdout
    shop.run("hunt", "--runs", "30", "--max-delay", "0.4", *shop.program())
    answer = shop.run("schedules", "pass.log", "fail.log").stdout
    assert "\nThe run FAILS if the sleep of thread 0.1 at prog.py:6 in nap ends" in f"\n{answer}"
    assert "before thread 0.2 goes on at prog.py:1" in answer
    assert "ends 340 ms early" in shop.run("show", "fail.log").stdout


def test_without_sleeps_nothing_is_said_of_them(shop: Workshop) -> None:
    shop.write(SLOW.replace("time.sleep(0.34)", "pass").replace('done[-1] == "nap"', "done"))
    found = shop.run("hunt", "--runs", "3", *shop.program())
    assert found.status == 1, found.stderr
    assert "--max-delay" not in found.stdout


@pytest.mark.parametrize("command", [("-m", "no_such_module"), ("-c", "import no_such_module"), ("prog.py",)])
def test_where_no_thread_started_there_is_no_log_to_write(command: tuple[str, ...], shop: Workshop) -> None:
    shop.write("print(1")
    found = shop.run("hunt", "--", "python", *command)
    assert found.status == 3, found.stderr
    assert "last output" in found.stdout
    assert "fail.log" not in found.stdout
    assert list(shop.folder.glob("*.log")) == []


# A lost update, a deadlock, and a pop from an empty list.
THREE = """\
import threading

one, other = threading.Lock(), threading.Lock()
total = 0
items = [1]


def work(first, second):
    global total
    before = total
    total = before + 1
    with first:
        with second:
            pass
    if items:
        items.pop()


threads = [threading.Thread(target=work, args=locks) for locks in ((one, other), (other, one))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert total == 2, "lost"
"""


def test_keep_going_keeps_a_log_of_each_failure(shop: Workshop) -> None:
    shop.write(THREE)
    done = shop.run("hunt", "--keep-going", "--runs", "90", "--no-simplify", "-o", "found", "--json", *shop.program())
    assert done.status == 0, done.stderr
    answer = checked(done.stdout)
    assert answer["runs"] == 90, "it goes on to the end"
    logs = [answer["files"]["failing"], *(one["log"] for one in answer["further"])]
    assert logs == ["found/fail.log", "found/fail-2.log", "found/fail-3.log"]
    kinds = {outcome_of(shop, log).partition(" ")[0] for log in logs}
    assert kinds == {"deadlock", "AssertionError:", "IndexError"}
    assert shop.run("replay", logs[-1]).status == 1

    one = shop.run("hunt", "--keep-going", "--failure", "lost", "--runs", "30", "--no-simplify", *shop.program())
    assert "fail-2.log" not in one.stdout, "others do not count"


@pytest.mark.parametrize(
    ("written", "works"), [("1m", True), ("90s", True), ("0.5h", True), ("5x", False), ("m", False)]
)
def test_times_have_units(shop: Workshop, written: str, works: bool) -> None:
    shop.write("print()")
    done = shop.run("hunt", "--time-budget", written, *shop.program())
    assert ("is not a time, such as 90" in done.stderr) is not works, done.stderr


def test_a_budget_that_is_over_is_told(shop: Workshop) -> None:
    shop.write(LIBRARY_ONLY)
    done = shop.run("hunt", "--time-budget", "0.001", *shop.program())
    assert done.status == 1
    assert re.search(r"No failure in 1 run of about \d+ yield points, and then time ran out\.", done.stdout)
    told = checked(shop.run("hunt", "--time-budget", "0.001", "--json", *shop.program()).stdout)
    assert told["out_of_time"]
    assert told["failure"] is None


def test_a_corpus_is_told(shop: Workshop) -> None:
    shop.write(RACE)
    command = ("hunt", "--corpus", "known", "-o", "found", "--no-simplify")
    done = shop.run(*command, *shop.program())
    assert re.search(
        r"^corpus +known/\S+/fail-1\.log: a new failure, which the next hunt tries first$", done.stdout, re.M
    )
    done = shop.run(*command, "--json", *shop.program())
    told = checked(done.stdout)
    assert told["failure"] == told["failures"][0]["text"]
    assert [one["state"] for one in told["corpus"]["failures"]] == ["fails"]
    assert told["corpus"]["hunts"] == 2
    (shop.folder / "other").mkdir()
    shop.write("not a corpus", "other/letter")
    assert "letter" in shop.run_here("hunt", "--corpus", "other", *shop.program()).refused(5, "corpus-unusable")


def test_the_default_schedule_is_one_schedule(orders: Workshop) -> None:
    done = orders.run("hunt", "--runs", "5", "--strategy", "default", "--json", *orders.program())
    assert json.loads(done.stdout)["runs"] == 1


def test_a_seed_needs_something_that_is_drawn(orders: Workshop) -> None:
    done = orders.run("hunt", "--strategy", "default", "--seed", "5", *orders.program())
    assert done.status == 2
    assert "`--seed` has no effect" in done.stderr


def test_a_log_of_an_earlier_hunt_is_not_taken_for_one_of_this(orders: Workshop) -> None:
    program = orders.program()
    told = "fail.log is not of this hunt"
    found = orders.run("hunt", "--strategy", "random", "--no-simplify", *program)
    assert found.status == 0
    assert told not in found.stderr
    assert told in orders.run("hunt", "--strategy", "default", *program).stderr
