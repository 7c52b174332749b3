"""What the tool reads of what a run has told."""

from __future__ import annotations

import marshal
from pathlib import Path

from replay_dd.schedules.runtime.channel import MARSHAL_VERSION, read_records, records_in

RECORDS: list[tuple[object, ...]] = [
    ("thread", "0.1", "", 0),
    ("switch", "0", 7, "0.1", False, True, -1, 1 << 31, (1 << 64) - 1, -(1 << 40), False, ()),
    ("access", None, 0.5, "\udc80 \u00e9 \U0001f40d", b"\0\xff", (1, ("two", (3,))), ["a", {"b": frozenset({2})}]),
    ("end", 3, 5, (("0", 2), ("0.1", 1)), ()),
]
TOLD = [marshal.dumps(record, MARSHAL_VERSION) for record in RECORDS]


def test_all_records_are_read_in_order(tmp_path: Path) -> None:
    assert records_in(b"".join(TOLD)) == RECORDS
    (tmp_path / "told").write_bytes(b"".join(TOLD * 2))
    assert read_records(str(tmp_path / "told")) == RECORDS * 2


def test_a_record_that_is_half_written_is_left_out() -> None:
    for length in range(len(TOLD[2])):
        assert records_in(TOLD[0] + TOLD[1] + TOLD[2][:length]) == RECORDS[:2]
