"""`python -m tools.mutants` on a small made-up project: what it mutates, what it chooses, and what it tells."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tools.mutants.choice import Project, changed_lines, named_files, nearest_tests, room_of
from tools.mutants.mutations import mutants_of

PRICE = """\
def price(count, each):
    if count >= 10:
        return count * each - 5
    return count * each
"""
# Does not look at the edge: with `count > 10` it passes as well.
TESTS = """\
from shop.goods.price import price

def test_few():
    assert price(2, 3) == 6

def test_many():
    assert price(20, 3) == 55
"""


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    for path, text in {
        "pyproject.toml": '[tool.mutants]\npackages = ["shop"]\n[tool.pytest.ini_options]\npythonpath = ["."]\n'
        'addopts = ["--import-mode=importlib"]\n',
        "shop/__init__.py": "",
        "shop/goods/__init__.py": "",
        "shop/goods/price.py": PRICE,
        "tests/goods/test_price.py": TESTS,
        "tests/test_whole.py": "import shop.goods\n\ndef test(): assert shop.goods\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Begin")
    return Project(root, ("shop",))


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True)


def run(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.mutants", "--root", str(project.root), *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=240)


def state(project: Project) -> dict[str, tuple[bytes, int]]:
    files = (path for path in project.root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.once
def test_survivors_are_told_and_the_checkout_stays_as_it_is(shop: Project) -> None:
    before = state(shop)
    done = run(shop, "shop/goods", "--jobs", "2")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines() == [
        "shop/goods/price.py:2: comparison",
        "    -    if count >= 10:",
        "    +    if count > 10:",
        "shop/goods/price.py:2: constant",
        "    -    if count >= 10:",
        "    +    if count >= 11:",
        "9 mutants: 7 killed (0 by the time limit), 2 survived (22.2%)",
    ]
    assert state(shop) == before


@pytest.mark.once
def test_status_0_once_a_test_looks_there(shop: Project) -> None:
    with (shop.root / "tests/goods/test_price.py").open("a") as tests:
        tests.write("\ndef test_the_edge():\n    assert (price(9, 3), price(10, 3)) == (27, 25)\n")
    done = run(shop, "shop/goods/price.py", "--jobs", "2")
    assert (done.returncode, done.stdout) == (0, "9 mutants: 9 killed (0 by the time limit), 0 survived (0.0%)\n")


def test_what_changed_is_mutated_unless_something_is_named(shop: Project) -> None:
    assert "No mutants" in run(shop).stdout
    module = shop.root / "shop/goods/price.py"
    module.write_text(PRICE.replace("- 5", "- 6"))
    assert changed_lines(shop, "HEAD") == {Path("shop/goods/price.py"): {3}}
    listed = run(shop, "--list").stdout
    assert {line.split(": ")[0] for line in listed.splitlines() if ": " in line} == {"shop/goods/price.py:3"}
    (shop.root / "shop/new.py").write_text("a = 1\nb = 2\n")
    assert changed_lines(shop, "HEAD")[Path("shop/new.py")] == {1, 2}


@pytest.mark.once
def test_a_mutant_that_never_ends_is_killed(shop: Project) -> None:
    loop = "def price(count, each):\n    total = 0\n    while count > 0:\n        total += each\n        count -= 1\n"
    (shop.root / "shop/goods/price.py").write_text(loop + "    return total\n")
    (shop.root / "tests/goods/test_price.py").write_text(TESTS.replace("55", "60"))
    git(shop.root, "commit", "-qam", "Count")
    (shop.root / "shop/goods/price.py").write_text(loop.replace("-= 1", "-= 1  # each") + "    return total\n")
    done = run(shop, "--jobs", "2")
    assert done.returncode == 0, done.stdout
    assert done.stdout == "2 mutants: 2 killed (1 by the time limit), 0 survived (0.0%)\n"


@pytest.mark.once
def test_tests_that_fail_by_themselves_are_no_measure(shop: Project) -> None:
    (shop.root / "tests/goods/test_price.py").write_text(TESTS.replace("55", "56"))
    done = run(shop, "shop/goods/price.py")
    assert (done.returncode, done.stdout) == (3, "")
    assert "tests fail without any mutant" in done.stderr


@pytest.mark.once
def test_wrong_names_are_a_wrong_use(shop: Project) -> None:
    done = run(shop, "shop/bads")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mutants: shop/bads has no modules of shop\n"
    assert run(shop, "--since", "nowhere").returncode == 2


def test_tests_that_name_or_import_the_module_are_near(shop: Project) -> None:
    module = Path("shop/goods/price.py")
    (shop.root / "tests/test_other.py").write_text("from shop.goods import price\n")
    (shop.root / "tests/test_price_list.py").write_text("")
    near = [str(path) for path in nearest_tests(shop, module)]
    assert near == ["tests/goods/test_price.py", "tests/test_price_list.py", "tests/test_other.py"]
    assert room_of(shop, module) == Path("tests/goods")
    assert room_of(shop, Path("shop/house/goods/price.py")) == Path("tests/goods")
    assert room_of(shop, Path("shop/new.py")) is None
    assert named_files(shop, ["shop/goods"]) == [Path("shop/goods/__init__.py"), module]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b", {"a <= b"}),
        ("(a) not  in (b)", {"(a) in (b)"}),
        ("a is not b", {"a is b"}),
        ("a < b == c", {"a <= b == c", "a < b != c"}),
        ("a + b", {"a - b"}),
        ("ä << (ö)", {"ä >> (ö)"}),
        ("a += b", {"a -= b"}),
        ("'a' + b", set()),
        ("a and b and c", {"a or b and c", "a and b or c"}),
        ("-a", {"a"}),
        ("not a", {"a"}),
        ("min(a)", {"max(a)", "pass"}),
        ("a = all(b)", {"a = any(b)"}),
        ("a = 1.5", {"a = 2.5"}),
        ("a = False", {"a = True"}),
        ("a: Literal[1] = b", set()),
        ("if a: b", {"if (not (a)): b"}),
        ("if a == b: c", {"if a != b: c"}),
        ("while True: b", {"while False: b"}),
        ("[a for a in b if c]", {"[a for a in b if (not (c))]"}),
        ("def a(): return b", {"def a(): return None"}),
        ("def a() -> bool: return b", {"def a() -> bool: return not (b)"}),
        ("def a(): return None", set()),
        ("a(b, 1)", {"pass", "a(b, 2)"}),
        ("@a(1)\ndef b(): pass", set()),
        ("a = 1  # no mutant: any number will do", set()),
        ("a = 1  # no mutant:", {"a = 2  # no mutant:"}),
        ("if TYPE_CHECKING: a = 1", set()),
        ("if __name__ == '__main__': main()", set()),
        ("a = (b\n  +\n  c)", {"a = (b\n  -\n  c)"}),
    ],
)
def test_what_is_mutated(before: str, after: set[str]) -> None:
    assert {mutant.apply(before) for mutant in mutants_of(before)} == after
