"""X servers: who may connect, and that their sockets go with them, whenever they are ended."""

from __future__ import annotations

import _thread
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay_dd.events.displays import DisplaySupply
from replay_dd.events.log import write_session
from replay_dd.events.x11 import connection
from replay_dd.events.x11.connection import know_cookie
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.server import Server
from replay_dd.experiment.process import LIVE, private_folder
from tests.cli.tool import Workshop, make_workshop
from tests.x11.acts import key
from tests.x11.conftest import SCREEN, numbers_without_server, session_of

HALF_STARTED = """
import os, signal, socket
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_DFL)
os.makedirs("/tmp/.X11-unix", exist_ok=True)
server = socket.socket(socket.AF_UNIX)
server.bind(f"/tmp/.X11-unix/X{os.getpid()}")
server.listen()
Path(__file__).with_name("pid").write_text(str(os.getpid()))
signal.pause()
"""
THEIRS = (b"MIT-MAGIC-COOKIE-1", b"of another server")
CONNECT = "from Xlib import display; display.Display()"


def test_who_does_not_know_the_cookie_may_not_connect(display: PrivateDisplay) -> None:
    mode = stat.S_IMODE(display.authority.stat().st_mode)
    assert (mode, display.authority.parent) == (0o600, display.folder.path)
    stranger = {name: value for name, value in display.environment.items() if name != "XAUTHORITY"}
    for environment, may in ((display.environment, True), (stranger, False)):
        done = subprocess.run([sys.executable, "-c", CONNECT], env=environment, capture_output=True, text=True)
        assert (done.returncode == 0) is may, done.stderr
    assert "Authorization required" in done.stderr


def test_each_display_has_a_cookie_of_its_own(display: PrivateDisplay) -> None:
    with PrivateDisplay(SCREEN, "") as other:
        assert other.authority.read_bytes() != display.authority.read_bytes()


def test_who_gets_the_number_of_a_server_that_has_ended_keeps_its_cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    with PrivateDisplay(SCREEN, "") as display, private_folder() as folder:
        server = Server(SCREEN, folder)
        wait = server.process.wait

        def wait_until_another_has_it(timeout: float | None = None) -> int:
            status = wait(timeout)
            know_cookie(server.name, *THEIRS)
            return status

        monkeypatch.setattr(server.process, "wait", wait_until_another_has_it)
        server.close()
        assert connection._COOKIES.pop(server.name) == THEIRS
        assert display.name in connection._COOKIES
    assert display.name not in connection._COOKIES


@pytest.fixture
def silent_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An Xvfb that has its socket, and neither tells its number nor listens to signals yet."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "Xvfb").write_text(f"#!{sys.executable}\n{HALF_STARTED}")
    (folder / "Xvfb").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    before = numbers_without_server()
    yield folder
    # Somebody else's server may be about to listen.
    until = time.monotonic() + 60
    while (left := numbers_without_server() - before) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left


def wait_until_it_listens(folder: Path) -> None:
    while not (folder / "pid").exists() or not (folder / "pid").read_text():
        time.sleep(0.01)


def test_a_start_that_is_interrupted_leaves_no_socket(silent_server: Path) -> None:
    def interrupt() -> None:
        wait_until_it_listens(silent_server)
        _thread.interrupt_main()

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        PrivateDisplay(SCREEN, "")
    helper.join()


def test_a_supply_that_is_stopped_leaves_no_socket(silent_server: Path) -> None:
    def stop() -> None:
        wait_until_it_listens(silent_server)
        LIVE.kill_all()

    helper = threading.Thread(target=stop)
    helper.start()
    with DisplaySupply(SCREEN, "") as supply, pytest.raises(Exception, match="Xvfb does not start"):
        supply.take()
    helper.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_is_ended_while_its_server_starts_leaves_no_socket(
    silent_server: Path, tmp_path: Path, number: int
) -> None:
    shop: Workshop = make_workshop(tmp_path / "shop")
    shop.variables["PATH"] = os.environ["PATH"]
    write_session(session_of("", actions=(key("a"),)), shop.folder / "session.log")
    process = shop.start("replay", "session.log")
    wait_until_it_listens(silent_server)
    process.send_signal(number)
    process.communicate(timeout=60)
    # After SIGKILL it is the guard that cleans up.
    while shop.processes() or list(shop.temporary.iterdir()):
        time.sleep(0.02)
    shop.check_clean()


def test_gtk_draws_by_itself_unless_told_otherwise(display: PrivateDisplay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GSK_RENDERER", raising=False)
    assert display.environment_for({})["GSK_RENDERER"] == "cairo"
    assert display.environment_for({"GSK_RENDERER": "gl"})["GSK_RENDERER"] == "gl"
    monkeypatch.setenv("GSK_RENDERER", "ngl")
    assert display.environment_for({})["GSK_RENDERER"] == "ngl"
