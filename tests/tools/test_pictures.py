"""The pictures of the documents are made from what they show, and are up to date."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from xml.etree import ElementTree

import pytest

import replay_dd
import replay_dd.schedules.runtime
from tests.conftest import PROJECT
from tools import draw_architecture, draw_terminal
from tools.documents import documents
from tools.draw_architecture import LANES, TEST, Floor, house, runtime, schedules

PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<path>[^)]*)\)")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("shot", draw_terminal.SHOTS, ids=lambda shot: shot.picture)
def test_terminal_shots_show_what_their_documents_show(shot: draw_terminal.Shot) -> None:
    there = (PROJECT / shot.picture).read_text(encoding="utf-8")
    assert there == draw_terminal.picture_of(shot), "run `make documents`"


@pytest.mark.parametrize("name", draw_architecture.PICTURES)
def test_pictures_of_the_house_are_those_of_their_tables(name: str) -> None:
    there = (PROJECT / "docs" / "pictures" / name).read_text(encoding="utf-8")
    assert there == draw_architecture.PICTURES[name](), "run `make documents`"


def test_every_room_of_the_house_is_drawn() -> None:
    names = {room.name for floor in house() for room in floor.rooms} - {"recorders"}
    there = {f"replay_dd.{module.name}" for module in pkgutil.iter_modules(replay_dd.__path__)}
    assert there - {"replay_dd.__main__"} == names


@pytest.mark.parametrize(
    ("package", "floors"),
    [(replay_dd.schedules, schedules), (replay_dd.schedules.runtime, runtime)],
    ids=lambda value: value.__name__,
)
def test_every_room_of_schedules_and_of_their_runtime_is_drawn(
    package: ModuleType, floors: Callable[[], tuple[Floor, ...]]
) -> None:
    names = {room.name for floor in floors() for room in floor.rooms}
    there = {f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)}
    # What an older build has left beside its source is no room.
    assert {name for name in there if "._" not in name} == names
    assert len(names) > 10


def test_the_words_of_a_room_stay_within_its_walls() -> None:
    tree = ElementTree.fromstring(draw_architecture.rooms())
    walls = [rect for rect in tree.findall(f"{SVG}rect") if "rx" in rect.attrib]
    assert len(walls) == sum(len(floor.rooms) for floor in (*house(), *schedules(), *runtime()))
    words = [text for text in tree.findall(f"{SVG}text") if text.attrib["font-size"] == "12"]
    for wall in walls:
        left, top, width, height = (float(wall.attrib[name]) for name in ("x", "y", "width", "height"))
        inside = [
            text
            for text in words
            if left <= float(text.attrib["x"]) < left + width and top < float(text.attrib["y"]) < top + height
        ]
        assert inside
        # No font in use is wider than 0.55 of its height on average.
        assert all(float(text.attrib["x"]) + 0.55 * 12 * len(text.text or "") < left + width for text in inside)


def test_the_lanes_of_a_test_exist() -> None:
    assert all(find_spec(lane.name) for lane in LANES)
    assert {number for start, end, _ in TEST for number in (start, end)} == set(range(len(LANES)))


def test_a_terminal_shows_every_line_in_its_column() -> None:
    tree = ElementTree.fromstring(draw_terminal.draw(["$ one <two>", "", "   three & four", "x" * 130]))
    texts = tree.findall(f"{SVG}text")
    assert [text.text for text in texts] == ["$ one <two>", "three & four", "x" * 100, "x" * 30]
    first, third, *_ = (float(text.attrib["x"]) for text in texts)
    column = float(texts[0].attrib["textLength"]) / len("$ one <two>")
    assert third - first == pytest.approx(3 * column, abs=0.1)
    rows = [float(text.attrib["y"]) for text in texts]
    assert rows[1] - rows[0] == 2 * (rows[2] - rows[1])


def test_pictures_are_small_and_say_what_they_show() -> None:
    found = [(page, match) for page in documents() for match in PICTURE.finditer(page.read_text(encoding="utf-8"))]
    shown = {(page.parent / match["path"]).resolve() for page, match in found}
    assert all(len(match["text"]) > 10 for _, match in found)
    assert all(path.stat().st_size < 200_000 for path in shown)
    # What nobody shows is waste.
    assert shown == set((PROJECT / "docs" / "pictures").iterdir())
