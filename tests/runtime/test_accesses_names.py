"""Names of objects: told only of the object that got them."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

from replay_dd.schedules.runtime.accesses.access import ATTRIBUTE, GLOBAL, ITEM
from replay_dd.schedules.runtime.accesses.names import Names
from tests.schedules.story.programs_explained import explained


class Draft:
    """Something with attributes."""

    def __init__(self) -> None:
        self.parts: list[object] = []
        self.by_name: dict[str, object] = {}


@pytest.fixture
def names() -> Names:
    """Names of objects that the frame of a test works on."""
    made = Names()
    made.begin(sys._getframe())
    return made


def test_a_list_has_its_name_while_the_attribute_leads_to_it(names: Names) -> None:
    draft = Draft()
    names.remember(draft.parts, "Draft.parts", ATTRIBUTE, draft, "parts")
    assert names.name_of(draft.parts, ("local", "parts")) == "Draft.parts"
    parts, draft.parts = draft.parts, []
    assert names.name_of(parts, ("local", "parts")) == "parts"
    assert names.name_of(parts) == "list"


def test_a_name_ends_with_the_object_that_has_the_list(names: Names) -> None:
    """The list lives on here, as another one would at its address."""
    draft = Draft()
    parts = draft.parts
    names.remember(parts, "Draft.parts", ATTRIBUTE, draft, "parts")
    del draft
    assert names.name_of(parts, ("local", "rows")) == "rows"


def test_an_object_that_can_be_referred_to_weakly_keeps_its_name_wherever_it_goes(names: Names) -> None:
    draft = Draft()
    draft.by_name["a"] = one = Draft()
    names.remember(one, "Draft.by_name['a']", ITEM, draft.by_name, "a")
    draft.by_name.clear()
    assert names.name_of(one, ("local", "one")) == "Draft.by_name['a']"


def test_a_name_is_not_that_of_the_next_object_at_its_address(names: Names) -> None:
    one, other = Draft(), Draft()
    names.remember(one, "Shop.draft")
    assert names.name_of(one) == "Shop.draft"
    names._names[id(other)] = names._names[id(one)]  # as if it were at its address; which one is, nobody can choose
    del one
    assert names.name_of(other) == "Draft"


def test_containers_within_containers_have_names_while_all_of_the_way_is_there(names: Names) -> None:
    draft = Draft()
    draft.by_name["rows"] = rows = [[1], [2]]
    names.remember(draft.by_name, "Draft.by_name", ATTRIBUTE, draft, "by_name")
    names.remember(rows, "Draft.by_name['rows']", ITEM, draft.by_name, "rows")
    names.remember(rows[1], "Draft.by_name['rows'][1]", ITEM, rows, 1)
    assert names.name_of(rows[1]) == "Draft.by_name['rows'][1]"
    last = rows.pop()
    assert names.name_of(last) == "list"
    draft.by_name = {}
    assert names.name_of(rows) == "list"


def test_what_was_just_found_has_its_name_in_that_function_alone(names: Names) -> None:
    """As the closure ``tables`` in ``tables["a"].append(1)``: nothing that can be referred to weakly leads to it."""
    tables = {"a": [1]}
    names.remember(tables["a"], "tables['a']", ITEM, tables, "a")
    expression = ("item", ("cell", "tables"), ("constant", "a"))
    assert names.name_of(tables["a"], expression) == "tables['a']"
    assert names.name_of(tables["a"], ("local", "rows")) == "rows"

    def called() -> None:
        names.begin(sys._getframe())
        assert names.name_of(tables["a"], expression) == "list"

    called()


def test_what_has_no_name_is_called_as_the_code_gets_it(names: Names) -> None:
    """As what a property returns, or a thread-local object that cannot be asked."""
    session = ("global", "session")
    assert names.name_of([], ("attribute", session, "cart")) == "session.cart"
    assert names.name_of([], ("attribute", ("attribute", session, "user"), "cart")) == "session.user.cart"
    assert names.name_of([], ("attribute", ("call", session, ()), "cart")) == "list"
    assert names.name_of([], ("item", session, ("constant", 1))) == "list"


def test_variables_of_a_module_lead_to_what_they_hold(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("shop")
    module.rows = []  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shop", module)
    names.remember(module.rows, "rows", GLOBAL, vars(module), "rows")
    assert names.name_of(module.rows) == "rows"
    rows, module.rows = module.rows, []  # type: ignore[attr-defined]
    assert names.name_of(rows) == "list"


def test_locks_inside_of_the_library_are_named_as_what_they_are_in(names: Names) -> None:
    event = threading.Event()
    names.remember(event, "Shop.open")
    assert names.name_of(event._cond) == "Shop.open"  # type: ignore[attr-defined]


PROGRAM = """\
import threading

class Draft:
    def __init__(self):
        self.parts = []
        self.parts.append(0)

def parse(text):
    drafts = [Draft() for _ in range(40)]
    del drafts
    return [text.split() for _ in range(30)]

def work(rows):
    count = int(rows[0])
    rows[0] = str(count + 1)

def start():
    *_, rows = parse("0 1")
    second = threading.Thread(target=work, args=(rows,))
    second.start()
    work(rows)
    second.join()
    assert rows[0] == "2", rows

first = threading.Thread(target=start)
first.start()
first.join()
"""


@pytest.mark.once
def test_a_list_is_not_called_as_one_that_is_gone(tmp_path: Path) -> None:
    """The lists of the drafts were where those of the rows are now."""
    source = tmp_path / "parsed.py"
    source.write_text(PROGRAM)
    folder = tmp_path / "run"
    folder.mkdir()
    explanation, _ = explained(source, folder)
    assert explanation.story is not None
    assert [thing.name for thing in explanation.story.things] == ["rows[0]"]
