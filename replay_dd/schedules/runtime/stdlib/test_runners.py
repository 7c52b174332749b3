"""Test runners: what they do before a test does not decide where the objects of the test stand.

Rules of this module:

* A test runner looks through folders for tests, reads what it kept of its last run, and asks for the width of the
  terminal. Each of these allocates memory, more or less of it as the day has it, before the first thread starts.
* So the program gets unused memory before a module with tests is loaded, before the first test is set up, and before it
  is called.
* The same goes for the random numbers that the test draws.
* Nothing of that happens once threads run: then only the program itself decides where its objects are.
* What plug-ins report at the end may be of all tests that were found, and of several tests more are found than of one.
  So it has no yield points once no other thread is left.
* A run costs what its test costs. At its end pytest looks through all objects there are for garbage, and Hypothesis is
  imported to be asked what it has to tell: for a small test, several times as much as the test.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager

from ..accelerator.own_memory import A_MODULE, FIRST_SETUP, FIRST_TEST, begin_anew, in_own_turn, settle, use_own
from .entropy import begin_tests
from .flat_code import flat, unflat
from .replacing import hide_frames_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..baton.scheduler import Scheduler

_YOUNGER = 1  # generations of objects that were made since the first thread was started, as all garbage was found then

_scheduler: list[Scheduler] = []


def adapt_pytest_loading(scheduler: Scheduler, module: Any) -> None:
    """Adapt how pytest loads modules (``_pytest.pathlib``)."""
    _go_before(scheduler, module, "import_path", A_MODULE)


def adapt_pytest_rewriting(scheduler: Scheduler, module: Any) -> None:
    """Adapt how pytest executes a module that it has compiled in its own way (``_pytest.assertion.rewrite``)."""
    flat_in_own = in_own_turn(flat)

    def execute(code: Any, namespace: dict[str, Any]) -> None:
        if not scheduler.counting and "-packages" not in code.co_filename:
            data = flat_in_own(code)  # where its parts are depends on whether it was compiled just now
            _begin(A_MODULE)
            code = unflat(data)
        exec(code, namespace)

    hide_frames_of(execute)
    module.exec = execute


@contextmanager
def uncounted_if_alone() -> Iterator[None]:
    """Pass no yield points in here, if no other thread is there."""
    thread = _scheduler[0].current if _scheduler and len(_scheduler[0].threads) == 1 else None
    if thread is None:
        yield
        return
    thread.atomic += 1
    try:
        yield
    finally:
        thread.atomic -= 1


def adapt_pytest_running(scheduler: Scheduler, module: Any) -> None:
    """Adapt how pytest runs a test (``_pytest.runner``)."""
    _scheduler[:] = [scheduler]
    _go_before(scheduler, module, "runtestprotocol", FIRST_SETUP)


def adapt_pytest_calling(scheduler: Scheduler, module: Any) -> None:
    """Adapt how pytest calls a function that is a test (``_pytest.python``)."""
    _go_before(scheduler, module.Function, "runtest", FIRST_TEST)


def adapt_pytest_ending(scheduler: Scheduler, module: Any) -> None:
    """Adapt how pytest looks for finalizers that fail (``_pytest.unraisableexception``): among newer objects.

    A copy of a process would copy its whole memory to look at each object.
    """
    real = getattr(module, "gc_collect_harder", None)
    if real is None:
        return  # another version

    def gc_collect_harder(iterations: int) -> None:
        if scheduler.counting and scheduler.collects and iterations:
            gc.collect(_YOUNGER)
        else:
            real(iterations)

    module.gc_collect_harder = gc_collect_harder


def adapt_hypothesis_telling(module: Any) -> None:
    """Adapt what Hypothesis' plug-in tells at the end (``_hypothesis_pytestplugin``): nothing, if it was not used."""
    real = getattr(module, "pytest_terminal_summary", None)
    if real is None:
        return  # another version

    def pytest_terminal_summary(terminalreporter: Any) -> None:
        if "hypothesis" in sys.modules:
            real(terminalreporter)

    module.pytest_terminal_summary = pytest_terminal_summary


def adapt_unittest_loading(scheduler: Scheduler, module: Any) -> None:
    """Adapt how ``unittest`` loads modules (``unittest.loader``)."""
    _go_before(scheduler, module.TestLoader, "_get_module_from_name", A_MODULE)


def adapt_unittest_running(scheduler: Scheduler, module: Any) -> None:
    """Adapt how ``unittest`` runs a test (``unittest.case``)."""
    _go_before(scheduler, module.TestCase, "run", FIRST_SETUP)
    _go_before(scheduler, module.TestCase, "_callTestMethod", FIRST_TEST)


def _go_before(scheduler: Scheduler, owner: Any, name: str, where: int) -> None:
    """Begin anew before each call of a function or method; before the first one only, if that is all it takes."""
    real: Callable[..., Any] | None = getattr(owner, name, None)
    if real is None:
        return  # another version

    def call(*arguments: Any, **named: Any) -> Any:
        if where != A_MODULE:
            setattr(owner, name, real)
        if not scheduler.counting:
            _begin(where)
            if where == FIRST_SETUP:
                begin_tests()
        return real(*arguments, **named)

    call.__name__, call.__doc__ = name, real.__doc__
    setattr(owner, name, call)


def _begin(where: int) -> None:
    use_own(True)
    settle()
    begin_anew(where)
    use_own(False)
