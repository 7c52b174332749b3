"""What happens when the interpreter takes a program apart at its end."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.programs import run_program


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
