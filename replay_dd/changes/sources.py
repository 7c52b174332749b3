"""Finds the versions that a user names: folders, archives, git revisions, releases from the package index.

Rules of this module:

* Nothing that a user has is changed: revisions and archives are unpacked into a private folder.
* An archive never writes outside of that folder, and nothing of it is run; but to download a source release, pip asks
  the release itself what it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from replay_dd.changes.tree import Tree, read_tree
from replay_dd.errors.user import VersionError

PIP = "pip:"
SDIST = "sdist:"
_ZIP = (".zip", ".whl", ".egg")
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_HIGHEST_RATIO = 1000  # of unpacked to packed size; what deflate can reach
_LEAST_LIMIT = 100_000_000
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")


@dataclass(frozen=True)
class Version:
    """A version of a program.

    Attributes:
        name: as the user named it.
        tree: its files.
        repository: the git repository that it is a revision of, if it is one.
        revision: the full name of the commit, or empty.
    """

    name: str
    tree: Tree
    repository: Path | None = None
    revision: str = ""


def is_range(text: str) -> bool:
    """Whether this names two revisions, as in ``v1.2..v1.3``."""
    return ".." in text and ".." not in text.split("/") and not os.path.exists(text)


def open_version(name: str, folder: Path) -> Version:
    """Find a version.

    Args:
        name: a folder, an archive, a git revision, ``pip:REQUIREMENT``, or ``sdist:REQUIREMENT`` for its source.
        folder: an empty folder to unpack it in.

    Raises:
        VersionError: it cannot be found, unpacked or read.
    """
    path = Path(name)
    if name.startswith(PIP):
        return Version(name, _downloaded(name.removeprefix(PIP), folder))
    if name.startswith(SDIST):
        return Version(name, _downloaded(name.removeprefix(SDIST), folder, "--no-binary", ":all:"))
    if path.is_dir():
        return Version(name, read_tree(path.resolve()))
    # A repository without a work tree has a file of the name HEAD.
    if path.is_file() and path.name != "HEAD":
        return Version(name, _unpacked(path, folder))
    repository = repository_here()
    if repository is None:
        raise VersionError(f"There is no folder or archive {name}, and no git repository here.")
    revision = commit_named(repository, name)
    if revision is None:
        what = f"{name} is neither a file, a folder, nor a revision of the git repository {repository}"
        if is_shallow(repository):
            raise VersionError(f"{what}, which is a shallow clone.", "Fetch the rest: `git fetch --unshallow`.")
        raise VersionError(f"{what}.")
    return Version(name, checked_out(repository, revision, folder), repository, revision)


# -- git ---------------------------------------------------------------------------------------------------------------


def repository_here() -> Path | None:
    """The git repository of the working directory, which may be one without a work tree."""
    told = git(None, "rev-parse", "--absolute-git-dir")
    return work_tree_here() or (None if told is None else Path(told.strip()))


def work_tree_here() -> Path | None:
    """The top of the work tree of the working directory; None where there is none.

    Where only ``GIT_DIR`` is set, git takes any working directory for the top, also one inside of the work tree.
    """
    told = git(None, "rev-parse", "--show-toplevel")
    folder = git(None, "rev-parse", "--absolute-git-dir")
    if told is None or folder is None:
        return None
    top, above = Path(told.strip()), Path(folder.strip()).parent
    is_set = "GIT_WORK_TREE" in os.environ or git(None, "config", "core.worktree") is not None
    inside = "GIT_DIR" in os.environ and Path(folder.strip()).name == ".git" and top.is_relative_to(above)
    return above if inside and not is_set else top


def commit_named(repository: Path, name: str) -> str | None:
    """The full name of a commit."""
    # Otherwise a name that begins with a dash would be an option.
    told = git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return None if told is None else told.strip()


def is_shallow(repository: Path) -> bool:
    """Whether a git repository has only the end of its history."""
    return (git(repository, "rev-parse", "--is-shallow-repository") or "").strip() == "true"


def _git_folder(repository: Path) -> Path:
    told = git(repository, "rev-parse", "--absolute-git-dir")
    return repository if told is None else Path(told.strip())


def git(repository: Path | None, *arguments: str) -> str | None:
    """What git prints; None if there is no git, or it fails."""
    done = _git(repository, *arguments)
    return done.stdout if done is not None and done.returncode == 0 else None


def checked_out(repository: Path, revision: str, folder: Path) -> Tree:
    """The files of a commit, written to a folder; the work tree and the index of the repository stay as they are.

    Raises:
        VersionError: git cannot write them.
    """
    # Not `git archive`, which leaves out what the project keeps from its archives.
    target = folder / "files"
    target.mkdir()
    own = {
        "GIT_DIR": str(_git_folder(repository)),
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_WORK_TREE": str(target),
    }
    for arguments in (("read-tree", revision), ("checkout-index", "--all", "--force")):
        done = _git(target, *arguments, variables=own)
        if done is None or done.returncode != 0:
            told = "git is not installed" if done is None else done.stderr.strip()
            raise VersionError(f"The revision {revision[:12]} cannot be checked out: {told}.")
    return read_tree(target)


def _git(
    repository: Path | None, *arguments: str, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str] | None:
    """Run git; None if there is none."""
    # Run in another folder, it must find what is named from this one.
    named = {name: os.path.abspath(os.environ[name]) for name in _PLACES if os.environ.get(name)}
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=repository,
            env={**os.environ, **named, **(variables or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except OSError:
        return None


# -- archives ----------------------------------------------------------------------------------------------------------


def _unpacked(archive: Path, folder: Path) -> Tree:
    target = folder / "files"
    target.mkdir()
    name = archive.name.lower()
    try:
        if name.endswith(_ZIP):
            _unzip(archive, target)
        elif name.endswith(_TAR):
            with tarfile.open(archive) as tar:
                _check_size(sum(member.size for member in tar), archive)
                tar.extractall(target, filter="data")
        else:
            raise VersionError(f"{archive} is not an archive of a known kind.")
    except (tarfile.FilterError, ValueError) as error:
        raise VersionError(f"The archive {archive} would write outside its folder: {error}.") from error
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, RuntimeError) as error:  # RuntimeError: it is encrypted
        raise VersionError(f"The archive {archive} cannot be unpacked: {error}.") from error
    except OSError as error:
        raise VersionError(f"The archive {archive} cannot be unpacked: {error.strerror or error}.") from error
    return read_tree(_root_of(target))


def _unzip(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        _check_size(sum(member.file_size for member in packed.infolist()), archive)
        for member in packed.infolist():
            parts = PurePosixPath(member.filename)
            if parts.is_absolute() or ".." in parts.parts:
                raise ValueError(member.filename)
        packed.extractall(target)


def _check_size(size: int, archive: Path) -> None:
    if size > max(_HIGHEST_RATIO * archive.stat().st_size, _LEAST_LIMIT):
        raise VersionError(f"The archive {archive} would unpack to {size:,} bytes.")


def _root_of(folder: Path) -> Path:
    """Source archives have one folder for all."""
    inside = list(folder.iterdir())
    packages = {"__init__.py", "__init__.pyi"}
    if len(inside) == 1 and inside[0].is_dir() and not packages & {entry.name for entry in inside[0].iterdir()}:
        return inside[0]
    return folder


def _downloaded(requirement: str, folder: Path, *options: str) -> Tree:
    """A release from the user's package index, without what it depends on; of a source release, pip asks its build."""
    if requirement.startswith("-") or not requirement.strip():
        raise VersionError(f"`{requirement}` is not a release of a package.")
    packed = folder / "packed"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, *options, "--dest", str(packed), requirement],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    found = list(packed.iterdir()) if packed.is_dir() else []
    if done.returncode != 0 or len(found) != 1:
        told = next((line for line in reversed(done.stderr.splitlines()) if line.startswith("ERROR")), "pip failed")
        raise VersionError(f"{requirement} cannot be downloaded: {told.removeprefix('ERROR: ').rstrip('.')}.")
    return _unpacked(found[0], folder)
