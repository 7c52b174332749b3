"""Libraries that put tasks of their own in the place of threads, as gevent does."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.programs import COUNTER, output_of, run_program, write_program


def test_the_main_thread_is_found_in_the_set_that_threading_keeps(tmp_path: Path) -> None:
    """gevent removes it from there."""
    text = "import threading\nthreading._dangling.remove(threading.main_thread())\nprint(len(threading._dangling))\n"
    assert output_of(run_program(tmp_path, text)) == "0\n"


def test_a_library_that_puts_tasks_in_the_place_of_threads_is_told(tmp_path: Path) -> None:
    tasks = """
        import _thread

        def start_new_thread(function, arguments):
            function(*arguments)

        def patch():
            _thread.start_new_thread = start_new_thread
        """
    write_program(tmp_path / "green", tasks, "thread.py")
    patched = "import _thread, green.thread\ngreen.thread.patch()\n_thread.start_new_thread(print, ('done',))\n"
    run = run_program(tmp_path, patched)
    assert output_of(run) == "done\n"
    note = "green puts tasks of its own in the place of threads, and replay-dd does not switch those"
    assert run.log.ending.notes == (note,)
    assert run_program(tmp_path, COUNTER).log.ending.notes == ()


def test_what_starts_threads_all_the_same_is_not_told(tmp_path: Path) -> None:
    """As the hook of a debugger does."""
    hook = """
        import _thread

        real = _thread.start_new_thread

        def start_new_thread(function, arguments):
            return real(function, arguments)

        _thread.start_new_thread = start_new_thread
        """
    write_program(tmp_path / "hooks", hook, "thread.py")
    text = """
        import _thread, hooks.thread

        ended = _thread.allocate_lock()
        ended.acquire()
        _thread.start_new_thread(ended.release, ())
        ended.acquire()
        print("done")
        """
    run = run_program(tmp_path, text)
    assert (output_of(run), run.log.ending.notes) == ("done\n", ())
