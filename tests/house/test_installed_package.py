"""What is installed is complete, and it is the installed package that is tested."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import distribution, entry_points
from pathlib import Path

import pytest

import replay_dd
from tests.house.sources import package_folder

OUTSIDE = os.environ.get("REPLAY_DD_TESTED_OUTSIDE")
only_for_make_test = pytest.mark.skipif(
    not OUTSIDE, reason="the package is not installed from a wheel; run `make test`"
)


@only_for_make_test
@pytest.mark.parametrize("package", ["replay_dd", "recorders"])
def test_the_package_of_the_wheel_is_tested(package: str) -> None:
    assert OUTSIDE is not None
    folder = package_folder(package)
    assert folder.is_relative_to(Path(sys.prefix)), f"{package} comes from {folder}"
    assert folder.parent != Path(OUTSIDE)
    assert "site-packages" in folder.parts


@only_for_make_test
def test_the_tests_run_outside_the_checkout() -> None:
    assert OUTSIDE is not None
    assert not Path(__file__).is_relative_to(OUTSIDE)
    assert not Path.cwd().is_relative_to(OUTSIDE)


@only_for_make_test
def test_every_source_file_is_in_the_wheel() -> None:
    assert OUTSIDE is not None
    for package in ("replay_dd", "recorders"):
        checkout = contents(Path(OUTSIDE) / package)
        assert contents(package_folder(package)) == checkout


def contents(folder: Path) -> set[str]:
    left_out = {".pyc", ".so"}
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in left_out)
    return {str(path.relative_to(folder)) for path in files}


@only_for_make_test
def test_the_source_archive_has_all_that_the_repository_has() -> None:
    assert OUTSIDE is not None
    with tarfile.open(os.environ["REPLAY_DD_SOURCE_ARCHIVE"]) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert {"CHANGELOG.md", "Makefile", "tests/conftest.py", "docs/index.md", "demos/run_demo.sh", ".ci/run"} <= names
    assert not [name for name in names if name.endswith((".pyc", ".so"))]
    if (Path(OUTSIDE) / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=OUTSIDE, capture_output=True, text=True, check=True)
        assert not {name for name in listed.stdout.split("\0") if name and (Path(OUTSIDE) / name).exists()} - names


@only_for_make_test
@pytest.mark.once
def test_the_wheel_without_the_accelerator_records_and_replays(tmp_path: Path) -> None:
    wheel = Path(os.environ["REPLAY_DD_PURE_WHEEL"])
    assert wheel.name.endswith("-py3-none-any.whl")
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", environment], check=True)
    (packages,) = (environment / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".so")]
        archive.extractall(packages)
    # Click comes from the environment of this test, after what the wheel brings.
    (packages / "more.pth").write_text(str(package_folder("replay_dd").parent), encoding="utf-8")
    (tmp_path / "program.py").write_text("import threading\nthread = threading.Thread(target=print)\nthread.start()\n")
    python = environment / "bin" / "python"
    for arguments in (("record", "-o", "a.log", "--", str(python), "program.py"), ("replay", "a.log")):
        command = [python, "-m", "replay_dd", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    where = [python, "-c", "import replay_dd; print(replay_dd.__file__)"]
    assert str(packages) in subprocess.run(where, capture_output=True, text=True, check=True).stdout


def test_type_checkers_see_our_types() -> None:
    assert (package_folder("replay_dd") / "py.typed").is_file()
    assert (package_folder("recorders") / "py.typed").is_file()


def test_metadata() -> None:
    installed = distribution("replay-dd")
    assert installed.version == replay_dd.__version__
    assert installed.metadata["Requires-Python"] == ">=3.11"
    wanted = [requirement for requirement in installed.requires or [] if "extra ==" not in requirement]
    assert len(wanted) == 1
    assert wanted[0].startswith("click")


def test_the_description_has_no_links_into_the_checkout() -> None:
    description = distribution("replay-dd").metadata["Description"]
    targets = re.findall(r"\]\(([^)]*)\)", description)
    assert targets
    assert not [target for target in targets if not target.startswith(("https://", "#"))]
    assert "<!--" not in description
    # The README has such links, and what they lead to is still named.
    assert "docs/tutorial/first-race.md" in description


def test_entry_points() -> None:
    (command,) = entry_points(group="console_scripts", name="replay-dd")
    assert command.value == "replay_dd.cli.start:main"
    assert callable(command.load())
    (recorder,) = entry_points(group="replay_dd.recorders", name="threads")
    assert recorder.value == "recorders.threads:ThreadRecorder"
    assert isinstance(recorder.load(), type)


def test_the_command_starts() -> None:
    command = Path(sys.executable).with_name("replay-dd")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert replay_dd.__version__ in done.stdout
