"""Which Pythons are brought, and where they are kept: tools/get_pythons.py."""

from __future__ import annotations

import fcntl
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools import get_pythons
from tools.get_pythons import CHECKOUT, COMPILED, PACKAGED, CannotGet, folder_of, get, interpreter_of

pytestmark = pytest.mark.once

WORKS = "#!/bin/sh\nexit 0\n"
LACKS_A_LIBRARY = """\
#!/bin/sh
case "$*" in *_ssl*) echo 'libssl.so.3: cannot open shared object file'; exit 1;; esac
"""


@pytest.fixture
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The versions that were brought, in order, each as a script that takes Python's place."""
    versions: list[str] = []

    def bring(version: str) -> None:
        versions.append(version)
        put(version, WORKS)

    monkeypatch.setattr(get_pythons, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(get_pythons, "FOLDER", tmp_path / "build")
    monkeypatch.setattr(get_pythons, "bring", bring)
    return versions


def put(version: str, text: str) -> None:
    program = interpreter_of(version)
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(text)
    program.chmod(0o755)


@pytest.mark.parametrize("version", [*PACKAGED, *COMPILED])
def test_it_is_brought_once(version: str, brought: list[str]) -> None:
    assert get(version) == get(version) == interpreter_of(version)
    assert brought == [version]


@pytest.mark.parametrize("version", [*PACKAGED, *COMPILED])
def test_it_is_brought_anew_when_the_machine_has_other_libraries(version: str, brought: list[str]) -> None:
    put(version, LACKS_A_LIBRARY)
    assert get(version).read_text() == WORKS
    assert brought == [version]


def test_what_does_not_work_when_it_is_brought_is_told(brought: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get_pythons, "bring", lambda version: put(version, LACKS_A_LIBRARY))
    with pytest.raises(CannotGet, match=r"libssl\.so\.3"):
        get("3.14t")


def test_a_version_that_nobody_knows_is_told(brought: list[str]) -> None:
    with pytest.raises(CannotGet, match=r"known are 3\.14, "):
        get("3.99")
    assert brought == []


def test_a_folder_that_cannot_be_made_is_told(brought: list[str], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises(CannotGet, match="cache"):
        get("3.14t")


@pytest.mark.parametrize("version", [*PACKAGED, *COMPILED])
def test_nobody_else_brings_anything_there_meanwhile(
    version: str, brought: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bring = get_pythons.bring

    def bring_and_look(version: str) -> None:
        with (folder_of(version).parent / "lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        bring(version)

    monkeypatch.setattr(get_pythons, "bring", bring_and_look)
    get(version)
    assert brought == [version]


def test_what_somebody_else_has_brought_meanwhile_is_taken(brought: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def wait_for_somebody_else(folder: Path) -> Iterator[None]:
        put("3.14t", WORKS)
        yield

    monkeypatch.setattr(get_pythons, "alone_in", wait_for_somebody_else)
    get("3.14t")
    assert brought == []


def test_what_is_compiled_is_kept_for_all_checkouts_until_the_way_to_compile_it_changes(tmp_path: Path) -> None:
    def folder_in_checkout(name: str, text: str) -> Path:
        script = tmp_path / name / "get_pythons.py"
        script.parent.mkdir()
        script.write_text(text)
        folder: Path = runpy.run_path(str(script))["folder_of"]("3.14t")
        return folder

    source = Path(get_pythons.__file__).read_text()
    assert not folder_of("3.14t").is_relative_to(CHECKOUT)
    assert folder_in_checkout("same", source) == folder_of("3.14t")
    assert folder_in_checkout("changed", source.replace("-O1", "-O2")) != folder_of("3.14t")


def test_what_others_release_anew_stays_in_the_checkout() -> None:
    assert all(folder_of(version).is_relative_to(CHECKOUT / "build") for version in PACKAGED)
