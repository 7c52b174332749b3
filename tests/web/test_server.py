"""The server of a flow's pages is started for each playback, and nothing of it is left."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from replay_dd.errors.program import ServerFailedError
from replay_dd.web.browser import WebBrowser
from replay_dd.web.failure import SERVER_ERROR
from replay_dd.web.flow import Flow
from replay_dd.web.minimize import minimize
from replay_dd.web.player import Limits, Playback, play
from replay_dd.web.server import Server
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
    looks = []

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
        assert running.last_words == "KeyError: 0"
        assert running.report() is None
        _get(f"{address}/add")
        assert running.report() is None


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
