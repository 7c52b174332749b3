"""Archives, whose files are left out and reduced, and which are written anew for each test."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from replay_dd.experiment.ending import Oracle
from replay_dd.input.archives import opened
from replay_dd.input.reduce import reduce_input
from replay_dd.input.target import Target
from replay_dd.report.input_test import input_test

pytestmark = pytest.mark.once

FILES = {f"stock/{name}.txt": "".join(f"{number}\n" for number in range(30)) for name in ("pen", "ink", "cap")}
FILES["stock/ink.txt"] += "7x\n"
READ = {
    "zip": "z = zipfile.ZipFile(data); texts = [z.read(name) for name in z.namelist()]",
    "tar": "t = tarfile.open(fileobj=data); texts = [t.extractfile(m).read() for m in t if m.isfile()]",
    "gz": "texts = [gzip.open(data).read()]",
}
PROGRAM = """\
import gzip, io, sys, tarfile, zipfile
data = io.BytesIO({read})
{texts}
for text in texts:
    for line in text.split():
        assert line.isdigit(), "no number"
"""


def zipped(files: dict[str, str], *, folders: tuple[str, ...] = ()) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in folders:
            archive.mkdir(name)
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


def tarred(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text), 0o640
            archive.addfile(info, io.BytesIO(text.encode()))
        archive.addfile(_folder("empty"))
    return made.getvalue()


def _folder(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE
    return info


def target_for(kind: str, *, on_stdin: bool = False) -> Target:
    read = "sys.stdin.buffer.read()" if on_stdin else "open(sys.argv[1], 'rb').read()"
    program = PROGRAM.format(read=read, texts=READ[kind])
    return Target((sys.executable, "-c", program, *([] if on_stdin else ["{}"])), f"shop.{kind}")


@pytest.mark.parametrize(
    ("kind", "content", "on_stdin"),
    [
        ("zip", zipped(FILES, folders=("stock",)), False),
        ("zip", zipped(FILES), True),
        ("tar", tarred(FILES), False),
        ("tar", gzip.compress(tarred(FILES), mtime=0), False),
        ("tar", bz2.compress(tarred(FILES)), True),
        ("tar", lzma.compress(tarred(FILES)), False),
        ("gz", gzip.compress(FILES["stock/ink.txt"].encode(), mtime=0), False),
    ],
    ids=["zip", "zip on stdin", "tar", "tar.gz", "tar.bz2 on stdin", "tar.xz", "gz"],
)
def test_one_file_with_one_character_is_left_of_an_archive(kind: str, content: bytes, on_stdin: bool) -> None:
    data, target = opened(content, target_for(kind, on_stdin=on_stdin), Oracle())
    assert target.packing is not None
    assert not target.is_folder
    found = reduce_input(data, target)
    (left,) = target.packing.files(found.failing)
    assert (left.path, found.failing[slice(*left.body)]) == ("shop" if kind == "gz" else "stock/ink.txt", b"x")
    assert found.isolation.verified
    assert any("written anew" in note for note in found.notes)


def test_the_same_files_make_the_same_archive_with_their_permissions() -> None:
    for content in (zipped(FILES), tarred(FILES), gzip.compress(tarred(FILES), mtime=0)):
        kind = "zip" if content[:2] == b"PK" else "tar"
        data, target = opened(content, target_for(kind), Oracle())
        made = target.given(data)
        assert target.given(data) == made
        assert opened(made, target_for(kind), Oracle())[0] == data
    with tarfile.open(fileobj=io.BytesIO(made)) as archive:
        assert {info.name: info.mode for info in archive if info.isfile()} == dict.fromkeys(FILES, 0o640)
        assert [info.name for info in archive if info.isdir()] == ["empty"]


def damaged() -> bytes:
    content = bytearray(zipped(FILES))
    content[60] ^= 255
    return bytes(content)


def twice() -> bytes:
    made = io.BytesIO(zipped(FILES))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(made, "a") as archive:
        archive.writestr("stock/ink.txt", "7x\n")
    return made.getvalue()


@pytest.mark.parametrize(
    "make",
    [damaged, twice, lambda: zipped({}), lambda: b"\x1f\x8bno archive", lambda: b"BZh"],
    ids=["damaged", "twice", "empty", "gz", "bz2"],
)
def test_what_cannot_be_read_whole_is_not_opened(make: Callable[[], bytes]) -> None:
    content, target = make(), target_for("zip")
    assert opened(content, target, Oracle()) == (content, target)


def test_an_archive_stays_as_it_is_if_the_program_fails_on_how_it_was_written() -> None:
    program = "import sys; assert b'stock' not in open(sys.argv[1], 'rb').read(), 'compressed'"
    ways = "import sys, zipfile; assert all(i.compress_type == 0 for i in zipfile.ZipFile(sys.argv[1]).infolist())"
    for text, is_opened in ((program, True), (ways, False)):
        target = Target((sys.executable, "-c", text, "{}"), "shop.zip")
        assert (opened(zipped(FILES), target, Oracle())[1] is not target) == is_opened


def test_large_archives_are_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither those that are large as they are, nor those that unpacked files would be."""
    large = {"large.txt": "x" * 5_000}
    packed = zipped(large), gzip.compress(tarred(large), mtime=0)
    assert max(map(len, packed)) < 1_000
    for content in (*packed, tarred(large)):
        target = target_for("zip" if content[:2] == b"PK" else "tar")
        assert opened(content, target, Oracle())[1] is not target
        with monkeypatch.context() as patch:
            patch.setattr("replay_dd.input.archives._LARGEST", 1_000)
            assert opened(content, target, Oracle()) == (content, target)


def test_the_written_test_holds_the_archive(tmp_path: Path) -> None:
    data, target = opened(zipped(FILES), target_for("zip"), Oracle())
    found = reduce_input(data, target)
    text = input_test([(found.failing, found.first)], target, Oracle(), tmp_path / "test_shop.py")
    scope: dict[str, object] = {"__file__": str(tmp_path / "test_shop.py"), "__name__": "test_shop"}
    exec(compile(text, "test_shop.py", "exec"), scope)
    test = scope["test_shop_zip"]
    assert callable(test)
    with pytest.raises(AssertionError):
        test(tmp_path)
    assert zipfile.ZipFile(tmp_path / "shop.zip").read("stock/ink.txt") == b"x"
