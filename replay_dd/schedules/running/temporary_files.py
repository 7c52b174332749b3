"""The temporary files that a program has made before its first thread, for each of its copies as it left them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


class TemporaryFiles:
    """What is in a folder, put back as often as needed.

    Args:
        folder: the folder.
        copy: where to keep a copy of its contents; must not exist.

    Raises:
        OSError: something in it cannot be copied.
    """

    def __init__(self, folder: Path, copy: Path) -> None:
        self._folder = folder
        self._copy = copy if any(folder.iterdir()) else None
        if self._copy is not None:
            _check(folder)
            shutil.copytree(folder, self._copy, symlinks=True)

    def forget(self) -> None:
        """Remove the copy."""
        if self._copy is not None:
            shutil.rmtree(self._copy, ignore_errors=True)

    def put_back(self) -> None:
        """Bring the folder back to what it was."""
        if self._copy is None and _is_empty_folder(self._folder):
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._copy is None:
            self._folder.mkdir()
        else:
            shutil.copytree(self._copy, self._folder, symlinks=True, dirs_exist_ok=True)


def _is_empty_folder(path: Path) -> bool:
    try:
        return not os.listdir(path)
    except OSError:
        return False


def _check(folder: Path) -> None:
    for path in folder.rglob("*"):
        if not (path.is_symlink() or path.is_file() or path.is_dir()):
            raise OSError(f"{path} is a special file")
