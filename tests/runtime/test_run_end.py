"""What happens when the interpreter takes a program apart at its end."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from replay_dd.schedules.failures.signature import signature_of
from tests.runtime.programs import run_command, run_program

FAILING = """
    import threading, unittest

    class Cases(unittest.TestCase):
        def test_it(self):
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
            self.assertEqual(1, 2)
    """


@pytest.mark.parametrize("module", ["unittest", "pytest"])
def test_the_exception_of_a_unit_test_is_known(module: str, tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(dedent(FAILING))
    run = run_command(tmp_path, (sys.executable, "-m", module, "test_cases.py"))
    assert signature_of(run.log.ending).text == "AssertionError: 1 != 2 (test_cases.py:9 in Cases.test_it)"


@pytest.mark.parametrize("module", ["unittest", "pytest"])
def test_the_exception_of_a_part_of_a_test_is_known(module: str, tmp_path: Path) -> None:
    if module == "pytest" and pytest.version_tuple < (9,):
        pytest.skip("this pytest runs no part of a test after one that has failed")
    failing = "            with self.subTest(number=1):\n                self.assertEqual(1, 2)\n"
    text = dedent(FAILING.replace("            self.assertEqual(1, 2)\n", failing))
    (tmp_path / "test_cases.py").write_text(text)
    run = run_command(tmp_path, (sys.executable, "-m", module, "test_cases.py"))
    assert signature_of(run.log.ending).text == "AssertionError: 1 != 2 (test_cases.py:10 in Cases.test_it)"


def test_a_test_that_is_expected_to_fail_is_no_failure(tmp_path: Path) -> None:
    text = "import pytest" + dedent(FAILING).replace("    def test_it", "    @pytest.mark.xfail\n    def test_it")
    (tmp_path / "test_cases.py").write_text(text)
    run = run_command(tmp_path, (sys.executable, "-m", "pytest", "test_cases.py"))
    assert signature_of(run.log.ending).text == "exit status 0"


_IGNORED = "ignore::pytest.PytestUnhandledThreadExceptionWarning"


@pytest.mark.parametrize(
    ("filters", "failed"),
    [
        ((), True),
        ((_IGNORED,), False),
        (("ignore:Exception in thread told",), False),
        (("ignore:Exception in thread other",), True),
        ((_IGNORED, "default:Exception in thread told"), True),  # the last mark of a test comes first
        (("ignore::DeprecationWarning",), True),
    ],
)
def test_an_exception_of_a_thread_of_which_pytest_does_not_warn(
    filters: tuple[str, ...], failed: bool, tmp_path: Path
) -> None:
    marks = "".join(f"@pytest.mark.filterwarnings({one!r})\n" for one in reversed(filters))
    text = f"""
import threading, pytest

{marks}def test_it():
    thread = threading.Thread(target=int, args=("no number",), name="told")
    thread.start()
    thread.join()
"""
    (tmp_path / "test_it.py").write_text(text)
    run = run_command(tmp_path, (sys.executable, "-m", "pytest", "test_it.py"))
    assert signature_of(run.log.ending).failed == failed, signature_of(run.log.ending).text


def test_the_configuration_of_pytest_tells_it_not_to_warn(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nfilterwarnings = error\n  {_IGNORED}\n")
    text = "import threading\ndef test_it():\n    thread = threading.Thread(target=int, args=('no number',))\n"
    (tmp_path / "test_it.py").write_text(text + "    thread.start()\n    thread.join()\n")
    run = run_command(tmp_path, (sys.executable, "-m", "pytest", "test_it.py"))
    assert not signature_of(run.log.ending).failed


def test_what_is_left_in_the_buffer_of_a_file_is_written_at_the_end(tmp_path: Path) -> None:
    text = """
        import threading

        def work():
            global file
            file = open("data", "w")
            file.write("buffered")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    run_program(tmp_path, text)
    assert (tmp_path / "data").read_text() == "buffered"
