"""How places are described to the tool."""

from __future__ import annotations

from pathlib import Path
from types import CodeType

import pytest

from replay_dd.schedules.runtime.points import bytecode
from replay_dd.schedules.runtime.points.place import Place
from replay_dd.schedules.runtime.points.place_record import place_record
from replay_dd.schedules.runtime.points.places import Places


def test_how_an_operation_is_reached_is_not_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looked_at: list[CodeType] = []
    find = bytecode._find_ways
    monkeypatch.setattr(bytecode, "_find_ways", lambda code: looked_at.append(code) or find(code))
    code = compile("\nlock.acquire()\n", "prog.py", "exec")
    places = Places(str(tmp_path), (), (), command_line=False)
    offset = next(start for start in bytecode.points(code, "access") if bytecode.describe(code, start)[0] == 2)
    operation = place_record(places, 7, Place(code, offset, reachable=True))
    assert operation[3:7] == ("prog.py", 2, 1, "<module>")
    assert not looked_at
    instruction = place_record(places, 8, Place(code, offset))
    assert looked_at == [code]
    assert operation[2:8] == instruction[2:8]
    assert place_record(places, 9, Place(code, offset))[2:] == instruction[2:]
    assert looked_at == [code]
