"""The server of a flow's pages is started for each playback, and nothing of it is left."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from replay_dd.errors.program import ServerFailedError
from replay_dd.experiment.crash_report import Report
from replay_dd.experiment.crash_reports import crash_reports
from replay_dd.web.browser import WebBrowser
from replay_dd.web.failure import SERVER_ERROR
from replay_dd.web.flow import Flow
from replay_dd.web.minimize import minimize
from replay_dd.web.player import Limits, Playback, play
from replay_dd.web.server import RunningServer, Server
from tests.web.flows import click, flow

# Keeps what is added, in memory and in a file; fails at the sum if there are two.
SERVER = """
import http.server, os, pathlib, sys, traceback
kept = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            if self.path == "/add":
                kept.append(1)
                with open("kept.txt", "a") as file:
                    file.write("1")
            elif self.path == "/leave":
                os._exit(3)
            elif self.path == "/sum":
                total()
        except Exception:
            traceback.print_exc()
        there = pathlib.Path("kept.txt").read_text() if os.path.exists("kept.txt") else ""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(
            f"<!doctype html><p>{len(kept)} {len(there)}</p><a id=home href=/>Home</a> "
            "<a id=add href=/add>Add</a> <a id=sum href=/sum>Sum</a> <a id=leave href=/leave>Leave</a>".encode()
        )
    def log_message(self, *arguments):
        pass
def total():
    if len(kept) == 2:
        raise ValueError(f"{len(kept)} are too many")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def address(unused_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the server will answer; we are in its folder."""
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return f"http://127.0.0.1:{unused_port}"


@pytest.fixture
def command(unused_port: int) -> str:
    return f"'{sys.executable}' server.py {unused_port}"


def _get(address: str) -> str:
    with urlopen(address) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("here", [False, True])
def test_a_server_forgets_unless_it_works_in_the_folder_itself(
    address: str, command: str, tmp_path: Path, here: bool
) -> None:
    server = Server(command, here=here)
    for number in range(2):
        with server.running(flow(f"{address}/")):
            assert "<p>1 " + ("2" if here and number else "1") in _get(f"{address}/add")
        with pytest.raises(OSError, match="refused"):
            _get(address)
    assert (tmp_path / "kept.txt").exists() == here


@pytest.mark.parametrize(
    "command, said",
    [
        ("echo ready; echo 'Error: no database' >&2; exit 4", "ended with status 4 before it answered.*no database"),
        ("kill -9 $$", "was killed by signal 9 before it answered at 127"),
        ("no-such-server", "ended with status 127"),
    ],
)
def test_a_server_that_does_not_start_is_told(address: str, command: str, said: str) -> None:
    with pytest.raises(ServerFailedError, match=said), Server(command).running(flow(f"{address}/")):
        pass


def test_a_host_that_cannot_be_looked_up_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ServerFailedError, match=r"ended with status 0 before it answered at \.\.:80"):
        with Server("true").running(flow("http://../")):
            pass


def test_a_server_that_ended_is_told_though_another_answers(
    address: str, unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[tuple[str, int]] = []

    def answers(place: tuple[str, int]) -> bool:
        if looks:
            time.sleep(0.5)  # meanwhile, the server ends
        looks.append(place)
        return len(looks) == 2

    monkeypatch.setattr("replay_dd.web.server._answers", answers)
    with pytest.raises(ServerFailedError, match="ended with status 4 before it answered"):
        with Server("exit 4").running(flow(f"{address}/")):
            pass


def test_what_a_server_says_while_it_starts_is_no_failure(address: str, command: str) -> None:
    raising = "import traceback\ntry:\n    {}[0]\nexcept KeyError:\n    traceback.print_exc()\n"
    Path("server.py").write_text(f"{raising}{SERVER}", encoding="utf-8")
    with Server(command).running(flow(f"{address}/")) as running:
        assert running.last_words == "KeyError: 0 (server.py:3 in <module>)"
        assert running.reports() == []
        _get(f"{address}/add")
        assert running.reports() == []


def _raised(name: str, message: str) -> str:
    frames = f'  File "/x/shop.py", line 3, in {name}\n    {name}()\n'
    return f"Traceback (most recent call last):\n{frames}ValueError: {message}\n"


CAME_OF_IT = "\nDuring handling of the above exception, another exception occurred:\n\n"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    (tmp_path / "output").touch()
    return tmp_path / "output"


@pytest.fixture
def ended() -> subprocess.Popen[bytes]:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process


@pytest.fixture
def says(output: Path, ended: subprocess.Popen[bytes]) -> Callable[[str], list[str]]:
    """What is reported when the server has written more."""
    running = RunningServer(ended, output, None)

    def told(more: str) -> list[str]:
        with output.open("a", encoding="utf-8") as file:
            file.write(more)
        return [report.words for report in running.reports()]

    return told


def test_all_reports_between_two_looks_are_told_in_order(says: Callable[[str], list[str]]) -> None:
    two = f"GET /a\n{_raised('a', 'one')}GET /b\n{_raised('b', 'two')}GET /c\n"
    assert says(two) == ["ValueError: one (shop.py:3 in a)", "ValueError: two (shop.py:3 in b)"]
    assert says("") == says("GET /d\n") == []
    assert says(_raised("a", "one")) == ["ValueError: one (shop.py:3 in a)"]


def test_what_came_of_an_exception_is_one_report_with_it(says: Callable[[str], list[str]]) -> None:
    both = f"{_raised('a', 'one')}{CAME_OF_IT}{_raised('b', 'two')}"
    assert says(both + _raised("a", "one")) == ["ValueError: two (shop.py:3 in b)", "ValueError: one (shop.py:3 in a)"]


def test_a_report_that_is_being_written_is_told_once_and_whole(output: Path, ended: subprocess.Popen[bytes]) -> None:
    text = _raised("a", "one")
    for place in range(1, len(text)):
        output.write_text("", encoding="utf-8")
        running = RunningServer(ended, output, None)
        found = []
        for part in (text[:place], text[place:], "GET /a\n"):
            with output.open("a", encoding="utf-8") as file:
                file.write(part)
            found += running.reports()
        assert [report.words for report in found] == ["ValueError: one (shop.py:3 in a)"]


def test_what_was_searched_is_not_searched_again(
    says: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []

    def search(output: bytes) -> tuple[list[Report], int]:
        searched.append(len(output))
        return crash_reports(output)

    monkeypatch.setattr("replay_dd.web.server.crash_reports", search)
    for _ in range(20):
        says("GET /\n" * 5_000)
    says("")
    assert len(searched) == 20
    assert max(searched) < 2 * 30_000 + (1 << 16)


def test_a_server_that_once_fails_to_start_is_started_again(
    address: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay_dd.web.server._PAUSE_S", 0.0)
    marks = tmp_path.parent / f"{tmp_path.name}-fails"
    server = Server(f"if [ -e {marks} ]; then rm {marks}; exit 5; fi; exec {command}")
    marks.touch()
    with pytest.raises(ServerFailedError, match="status 5"), server.running(flow(f"{address}/")):
        pass  # it has never started before
    with server.running(flow(f"{address}/")):
        pass
    marks.touch()
    with server.running(flow(f"{address}/")):
        assert "<p>1 1" in _get(f"{address}/add")


def test_another_program_that_takes_the_port_is_no_server(address: str, unused_port: int) -> None:
    """The server finds its port taken a moment after it was started, and ends."""
    taking = f"import socket; socket.create_server(('127.0.0.1', {unused_port}))"
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", unused_port))
        asked = threading.Event()

        def answers(place: tuple[str, int]) -> bool:
            if asked.is_set():
                taken.listen()
                return True
            asked.set()
            return False

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("replay_dd.web.server._answers", answers)
            patch.setattr("replay_dd.web.server._END_LIMIT_S", 0.0)
            with pytest.raises(ServerFailedError, match=r"ended with status 1.*in use"):
                with Server(f"'{sys.executable}' -c \"{taking}\"").running(flow(f"{address}/")):
                    pass


def test_a_server_that_never_answers_is_told(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("replay_dd.web.server.START_LIMIT_S", 0.1)
    with pytest.raises(ServerFailedError, match=r"does not answer at 127\.0\.0\.1:"):
        with Server("sleep 60").running(flow(f"{address}/")):
            pass


def test_nobody_else_may_answer(address: str, command: str, unused_port: int) -> None:
    with socket.create_server(("127.0.0.1", unused_port)):
        with pytest.raises(ServerFailedError, match="before the server was started") as error:
            with Server(command).running(flow(f"{address}/")):
                pass
    assert "Stop it" in str(error.value.hint)


@pytest.mark.parametrize("page", ["data:text/html,x", "http://127.0.0.1:99999999/"])
def test_a_page_without_a_server_is_told(page: str) -> None:
    with pytest.raises(ServerFailedError, match="no address of a server"), Server("true").running(flow(page)):
        pass


@pytest.fixture
def playing(browser: WebBrowser, command: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Flow], Playback]:
    monkeypatch.setattr(browser, "_server", Server(command))
    return lambda whole: play(whole, browser, limits=Limits(settle_s=0))


def test_what_the_server_reports_is_a_failure(playing: Callable[[Flow], Playback], address: str) -> None:
    adding, counting = click("#add"), click("#sum")
    playback = playing(flow(f"{address}/", adding, adding, counting, click("#home"), counting))
    assert [failure.kind for failure in playback.failures] == [SERVER_ERROR] * 2
    first, second = playback.failures
    line = 1 + SERVER.splitlines().index('        raise ValueError(f"{len(kept)} are too many")')
    assert first.summary == f"server error: ValueError: 2 are too many (server.py:{line} in total)"
    assert (first.step, second.step) == (4, 6)
    assert first.same(second)
    assert playing(flow(f"{address}/", adding, counting)).failures == ()


def test_the_end_of_the_server_is_a_failure(playing: Callable[[Flow], Playback], address: str) -> None:
    playback = playing(flow(f"{address}/", click("#leave")))
    assert [failure.summary for failure in playback.failures] == ["server error: the server ended with status 3"]


def test_a_search_starts_the_server_for_each_run(
    playing: Callable[[Flow], Playback], browser: WebBrowser, address: str
) -> None:
    steps = [click("#add"), click("#home"), click("#home"), click("#add"), click("#sum")]
    found = minimize(flow(f"{address}/", *steps), browser, settle_s=0, repeat=1)
    assert found.kept == (0, 1, 2, 5, 6)
    assert found.failure.kind == SERVER_ERROR
    assert found.notes == ()
