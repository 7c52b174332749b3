"""Fixtures of sessions, modules and classes are made once for all tests that need the same, where that is safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_plugin.test_hunted_suites import suite

# A hunt notes what it makes where its runs cannot undo it: in a pipe's other end, a file that a program has opened.
NOTING = """
import os, socket, sys, threading, unittest, pytest
from racy import in_threads

def note(what):
    if "_replay_dd_runtime" in sys.modules:
        note_in_hunt(what)

def note_in_hunt(what, open=os.open, write=os.write, close=os.close):
    # By a system call that nobody notices: an effect would be a reason not to copy.
    import ctypes
    libc = ctypes.CDLL(None)
    file = libc.open(os.environ["NOTES"].encode(), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    libc.write(file, what.encode() + b"\\n", len(what) + 1)
    libc.close(file)
"""


def hunted(folder: Path, text: str, *options: str) -> tuple[str, dict[str, int]]:
    """The output of a hunted suite, and how often its hunt has made each fixture."""
    notes = folder / "notes"
    done = suite(folder, NOTING.replace("\\\\", "\\") + text, "--replay-dd=4", *options, NOTES=str(notes))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = notes.read_text().split() if notes.exists() else []
    return done.stdout, {line: lines.count(line) for line in lines}


SHARED = """
@pytest.fixture(scope="session", autouse=True)
def base(tmp_path_factory):
    print("told by base")
    note("session")
    folder = tmp_path_factory.mktemp("base")
    (folder / "file").write_text("as it was")
    yield folder / "file"

@pytest.fixture(scope="module", params=[1, 2])
def number(request, base):
    note(f"module{request.param}")
    own = base.with_name("own")
    own.touch(exist_ok=False)
    yield request.param
    own.unlink()

def use(base):
    assert base.read_text() == "as it was"
    base.write_text("changed")
    in_threads(lambda key: base.read_text())

def test_one(number, base):
    use(base)

def test_two(number, base):
    base.write_text("as it was")  # in the outer run, others have changed it
    use(base)

def test_plain(base):
    base.write_text("as it was")
    in_threads(len)

class TestIt:
    @classmethod
    def setup_class(cls):
        note("setup_class")
        cls.made = True

    @pytest.fixture
    def own(self):
        assert self.made
        note("function")

    def test_three(self, own):
        in_threads(lambda key: self.made)

    def test_four(self, own):
        in_threads(lambda key: self.made)

class TestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        note("setUpClass")
        cls.made = True

    def setUp(self):
        self.again = self.made

    def test_five(self):
        in_threads(lambda key: self.assertTrue(self.again))

    def test_six(self):
        in_threads(lambda key: self.assertTrue(self.again))
"""


@pytest.mark.once
def test_wider_fixtures_are_made_once_for_all_tests_that_need_the_same(tmp_path: Path) -> None:
    told, made = hunted(tmp_path, SHARED.replace('    base.write_text("changed")\n', ""))
    assert "9 tests, 9 with threads, 9 hunted, 0 races found, 36 runs" in told
    assert made == {"session": 1, "module1": 1, "module2": 1, "setup_class": 1, "function": 2, "setUpClass": 1}
    assert "loaded the suite" not in told
    assert "anew" not in told


@pytest.mark.once
def test_what_a_test_changes_in_them_does_not_reach_the_next_one(tmp_path: Path) -> None:
    text = SHARED[: SHARED.index("class TestIt")].replace("params=[1, 2]", "params=[1]")
    text += "def test_again(number, base):\n    base.write_text('as it was')\n    use(base)\n"
    # Only what runs in the hunt sees the file as the fixture has left it.
    text = text.replace("    base.write_text(", "    '_replay_dd_runtime' in sys.modules or base.write_text(")
    told, made = hunted(tmp_path, text.replace(' or base.write_text("changed")', ' and base.write_text("changed")'))
    assert "4 tests, 4 with threads, 4 hunted, 0 races found, 16 runs" in told
    assert "not hunted" not in told
    assert made == {"session": 1, "module1": 1}


@pytest.mark.once
@pytest.mark.parametrize(
    "fixture, why",
    [
        ("    with socket.create_server(('127.0.0.1', 0)) as one:\n        yield one\n", "it has socket open"),
        (
            "    end = threading.Event()\n    threading.Thread(target=end.wait).start()\n    yield\n    end.set()\n",
            "thread",
        ),
        ("    open('written', 'w').close()\n    yield\n", "it wrote written"),
    ],
    ids=["socket", "thread", "file"],
)
def test_what_cannot_be_shared_is_made_for_each_test_and_told_once(fixture: str, why: str, tmp_path: Path) -> None:
    text = f"@pytest.fixture(scope='session')\ndef base():\n    note('session')\n{fixture}"
    text += "def test_one(base):\n    in_threads(len)\ndef test_two(base):\n    in_threads(len)\n"
    told, made = hunted(tmp_path, text)
    assert "2 tests, 2 with threads, 2 hunted, 0 races found, 8 runs" in told
    assert made["session"] > 2
    lines = [line for line in told.splitlines() if "made anew" in line]
    assert len(lines) == 1
    assert lines[0].startswith("2 tests had their session, module or class fixtures made anew")
    assert why in lines[0]


@pytest.mark.once
def test_a_stage_sets_up_nothing_below_it(tmp_path: Path) -> None:
    setup = "def setup_module():\n    from test_it import note\n    note('package')\n"
    (tmp_path / "__init__.py").write_text(setup)
    text = "@pytest.fixture(scope='session', autouse=True)\ndef base():\n    note('session')\n"
    text += "def test_one():\n    in_threads(len)\ndef test_two():\n    in_threads(len)\n"
    _, made = hunted(tmp_path, text)
    assert made == {"session": 1, "package": 2}


@pytest.mark.once
def test_more_stages_than_are_kept_at_a_time(tmp_path: Path) -> None:
    text = "@pytest.fixture(scope='module', params=range(12))\ndef number(request):\n    note(f'{request.param}')\n"
    text += "@pytest.fixture(scope='session', autouse=True)\ndef base():\n    note('session')\n"
    text += "def test_one(number):\n    in_threads(len)\n"
    told, made = hunted(tmp_path, text)
    assert "12 tests, 12 with threads, 12 hunted, 0 races found, 48 runs" in told
    assert made == {"session": 1, **{str(number): 1 for number in range(12)}}


# What stands in the working folder is met by the next run that makes it.
BUSY = """
HUNTED = "_replay_dd_runtime" in sys.modules

@pytest.fixture(scope="SCOPE")
def busy():
    name = "busy" if HUNTED else "busy outside"  # which is there meanwhile
    os.mkdir(name)
    MORE
    yield
    END
    os.rmdir(name)

def test_one(busy):
    in_threads(len)

def test_two(busy):
    in_threads(len)
"""
SERVER = "event = threading.Event(); thread = threading.Thread(target=event.wait); thread.start()"


@pytest.mark.once
@pytest.mark.parametrize(
    "scope, more, end",
    [
        ("function", "", ""),
        ("session", "", ""),
        ("module", SERVER, "event.set(); thread.join()"),
        ("session", "in_threads(len)", ""),
    ],
    ids=["test", "session", "module with a thread", "session with threads that end"],
)
def test_what_a_refused_copy_has_done_is_undone(scope: str, more: str, end: str, tmp_path: Path) -> None:
    text = BUSY.replace("SCOPE", scope).replace("MORE", more).replace("END", end)
    told, _ = hunted(tmp_path, text, "-v")
    assert "2 tests, 2 with threads, 2 hunted, 0 races found, 8 runs" in told
    assert told.count("no failure   ") == 2
    assert "FileExistsError" not in told
    assert "loaded the suite" not in told
    assert not (tmp_path / "busy").exists()


@pytest.mark.once
def test_a_fixture_that_fails_before_its_test_undoes_what_others_did(tmp_path: Path) -> None:
    text = BUSY.replace("SCOPE", "session").replace("MORE", "").replace("END", "")
    text += "\n@pytest.fixture(scope='session', autouse=True)\ndef fails(busy):\n"
    text += "    if HUNTED and not os.path.exists('failed'):\n"
    text += "        open('failed', 'w').close()\n        raise OSError('only the first time')\n"
    told, _ = hunted(tmp_path, text, "-v")
    assert "they end with OSError if they are made before the test" in told
    assert told.count("no failure   ") == 2


@pytest.mark.once
def test_a_suite_that_is_refused_undoes_what_loading_it_did(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os\n"
        "def pytest_configure(config):\n    config.ends = os.pipe()\n    os.mkdir(MADE)\n"
        "def pytest_unconfigure(config):\n    os.rmdir(MADE)\n"
        "import sys\nMADE = 'hunted' if '_replay_dd_runtime' in sys.modules else 'plain'\n"
    )
    told, made = hunted(tmp_path, "def test_one():\n    note('ran')\n    in_threads(len)\n", "-v")
    assert "1 test loaded the suite in each run, which is slower: it cannot be loaded once for all" in told
    assert "last output" not in told  # it has told the reason itself
    assert "no failure   " in told
    assert made == {"ran": 4}
    assert not (tmp_path / "hunted").exists()


@pytest.mark.once
def test_the_run_of_a_refused_copy_counts(tmp_path: Path) -> None:
    text = (
        "def test_one():\n    with socket.socket():\n        note('ran')\n        in_threads(len)\n    note('over')\n"
    )
    told, made = hunted(tmp_path, text)
    assert "1 test, 1 with threads, 1 hunted, 0 races found, 4 runs" in told
    assert made == {"ran": 4, "over": 4}


@pytest.mark.once
def test_a_log_that_the_suite_has_open_serves_all_tests(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import logging\nlogging.basicConfig(filename='suite.log', format='%(message)s', level='INFO')\n"
    )
    text = "import logging\ndef test_one():\n    in_threads(logging.info)\n"
    text += "def test_two():\n    in_threads(logging.info)\n"
    told, _ = hunted(tmp_path, text)
    assert "2 tests, 2 with threads, 2 hunted, 0 races found, 8 runs" in told
    assert "loaded the suite" not in told
    logged = (tmp_path / "suite.log").read_text().splitlines()
    assert logged.count("key") >= 2 * (1 + 4)
