"""What ``replay`` of a schedule log tells where the replay is not the recorded run."""

from __future__ import annotations

import pytest

from tests.cli.tool import Workshop


@pytest.mark.once
def test_another_order_of_what_processes_send_is_told_as_a_reason(shop: Workshop) -> None:
    """The first of two answers decides about the way of a thread."""
    shop.write("import os, threading\nend, other_end = os.pipe()\n"
               "if os.fork() == 0:\n    os.write(other_end, open('n', 'rb').read())\n    os._exit(0)\nos.wait()\n"
               "def work():\n    for _ in range(os.read(end, 2)[0] - 48): len(threads)\n"
               "threads = [threading.Thread(target=work)]\n"
               "for t in threads: t.start()\nfor t in threads: t.join()\n")  # fmt: skip
    (shop.folder / "n").write_text("57")
    assert shop.run("record", "-o", "a.log", *shop.program()).status == 0
    assert "note: " not in shop.run("replay", "a.log").stdout
    (shop.folder / "n").write_text("75")
    done = shop.run("replay", "a.log")
    assert (done.status, done.stdout.count("it may arrive in another order")) == (125, 1)
    assert "it may arrive in another order" in shop.run("replay", "--json", "a.log").stdout


@pytest.mark.once
def test_an_edited_program_that_complains_of_something_else_fails_in_another_way(shop: Workshop) -> None:
    program = (
        "import sys, threading\nthread = threading.Thread(target=len, args=([],))\nthread.start()\nthread.join()\n"
        "print('error: no money left', file=sys.stderr)\nsys.exit(1)\n"
    )
    shop.write(program)
    assert shop.run("record", "-o", "a.log", *shop.program()).status == 0
    for edited, status in ((program + "#\n", 1), (program.replace("money", "account"), 125)):
        shop.write(edited)
        assert [shop.run("replay", *how, "a.log").status for how in ([], ["--json"])] == [status] * 2
