"""The rows of two runs: what they share, what differs, who holds what, and what is left out."""

from __future__ import annotations

from replay_dd.report.page.excerpt import alone, side_by_side
from replay_dd.report.page.rows import ACCESS, END, GAP, SWITCH, Rows, rows_of
from replay_dd.schedules.model import Switch
from tests.report.observed import KEPT, LOST, access, run, switch, takes


def words(rows: Rows) -> list[str]:
    return [f"{row.thread} {row.words}" for row in rows.rows]


def test_two_runs_are_the_same_up_to_the_switch() -> None:
    failing, passing, common = side_by_side(
        rows_of(*LOST, lit=LOST[0].switches[0]), rows_of(*KEPT, lit=KEPT[0].switches[0])
    )
    assert common == 1
    assert words(failing) == [
        *("0.1 reads 0", "0.1 stops in line 2", "0.2 reads 0", "0.2 stores 4", "0.2 ends", "0.1 stores 4"),
        "0.1 exit status 0",
    ]
    assert [row.kind for row in failing.rows][-1] == END
    assert [row.lit for row in failing.rows].index(True) == common
    assert words(passing)[:3] == ["0.1 reads 0", "0.1 stores 4", "0.1 ends"]


def test_an_access_says_what_it_finds_in_the_other_run() -> None:
    failing, passing, _ = side_by_side(rows_of(*LOST), rows_of(*KEPT))
    assert {f"{row.thread} {row.words}": row.other for row in failing.rows if row.other} == {
        "0.2 reads 0": "reads 4",
        "0.2 stores 4": "stores 8",
    }
    assert {row.words: row.other for row in passing.rows if row.other} == {"reads 4": "reads 0", "stores 8": "stores 4"}


def test_each_row_has_the_value_and_what_threads_have_seen() -> None:
    values = [dict(row.values)["total"] for row in rows_of(*LOST).rows if row.kind == ACCESS]
    assert values == [
        ("0", {"0.1": "0"}),
        ("0", {"0.1": "0", "0.2": "0"}),
        ("4", {"0.1": "0", "0.2": "4"}),
        ("4", {"0.1": "4", "0.2": "4"}),
    ]


def test_variables_of_two_modules_are_told_apart_by_their_files() -> None:
    other = access(2, "0.1", "reads", "5", thing=("global", 2, "total"), holder_type="shop/state.py")
    rows = rows_of(*run([], [access(1, "0.1", "reads", "0"), other]), names=["total"]).rows
    assert list(dict(rows[-1].values)) == ["total", "total of shop/state.py"]


def test_locks_are_held_until_the_thread_has_them_no_longer() -> None:
    log, seen = run(
        [switch("0.1", 4, "0.2")],
        [
            takes(1, "0.1"),
            access(2, "0.1", "reads", "0", held=(9,)),
            access(3, "0.1", "stores", "1"),
            takes(5, "0.2"),
            access(6, "0.2", "reads", "1", held=(9,)),
        ],
    )
    rows = rows_of(log, seen)
    assert [dict(row.held) for row in rows.rows] == [
        *({"0.1": (9,)}, {"0.1": (9,)}, {}, {}, {"0.2": (9,)}, {"0.2": (9,)}, {"0.2": (9,)})
    ]
    assert rows.rows[0].words == "takes guard"
    assert dict(rows.rows[0].values)["guard"] == ("held by 0.1", {})


def test_a_thread_that_has_to_wait_says_for_which_lock() -> None:
    log, seen = run(
        [switch("0.1", 2, "0.2"), switch("0.2", 4, "0.1", forced=True)],
        [takes(1, "0.1"), access(3, "0.2", "wants", thing=("lock", 9, ""), name="guard")],
    )
    assert words(rows_of(log, seen))[2:] == ["0.2 waits for guard", "0.1 exit status 0"]


def test_a_thread_that_waits_for_ever_says_who_has_the_lock() -> None:
    log, seen = run(
        [switch("0.1", 2, "0.2")],
        [
            takes(1, "0.1"),
            access(3, "0.2", "wants", thing=("lock", 9, ""), name="guard"),
            access(4, "0.2", "wants", thing=("lock", 77, ""), name="inner"),
        ],
    )
    called = {("0.1", "prog.py", 1): "the.guard"}
    assert words(rows_of(log, seen, called=called))[2:3] == ["0.2 waits for the.guard, which 0.1 holds"]


def test_a_lock_that_is_got_is_taken_and_not_waited_for() -> None:
    wants = access(1, "0.1", "wants", thing=("lock", 9, ""), name="guard")
    assert words(rows_of(*run([], [wants, takes(2, "0.1")])))[:1] == ["0.1 takes guard"]


def test_a_thread_that_has_ended_holds_nothing() -> None:
    log, seen = run([switch("0.1", 2, "0.2", forced=True, ended=True)], [takes(1, "0.1")])
    assert [dict(row.held) for row in rows_of(log, seen).rows] == [{"0.1": (9,)}, {}, {}]


def test_without_an_observation_there_are_the_switches() -> None:
    assert [row.kind for row in alone(rows_of(LOST[0])).rows] == [SWITCH, SWITCH, END]


def test_only_what_threads_share_is_followed() -> None:
    mine = access(1, "0.1", "stores", "3", name="mine", thing=("global", 1, "mine"))
    log, seen = run([], [mine, *LOST[1].accesses[1:]])
    assert "mine" not in rows_of(log, seen).things


def test_a_long_run_shows_what_surrounds_the_switch() -> None:
    many = [access(number, "0.1", "stores", str(number)) for number in range(1, 2_001)]
    rest = [access(number, "0.2", "reads", "2000") for number in range(2_001, 2_003)]
    lit = switch("0.1", 1_500, "0.2")
    log, seen = run([lit, switch("0.2", 1_501, "0.1")], many + rest)
    shown = alone(rows_of(log, seen, lit=lit))
    assert len(shown.rows) < 300
    assert any(row.lit for row in shown.rows)
    assert shown.before > 1_000
    left_out = [int(row.words.partition(" ")[0].replace(",", "")) for row in shown.rows if row.kind == GAP]
    rest_of_them = [row for row in shown.rows if row.kind != GAP]
    assert shown.before + sum(left_out) + len(rest_of_them) == len(rows_of(log, seen, lit=lit).rows)


def test_what_the_story_tells_is_never_left_out() -> None:
    many = [access(number, "0.1", "stores", str(number)) for number in range(1, 2_001)]
    lit = switch("0.1", 10, "0.2")
    log, seen = run([lit, switch("0.2", 11, "0.1")], many)
    shown = alone(rows_of(log, seen, names=["total"], lit=lit, told=[1_234, 1_900]))
    assert {"stores 1234", "stores 1900", "stores 2000"} <= {row.words for row in shown.rows}
    assert len(shown.rows) < 100


def test_of_many_threads_those_with_the_most_to_show_get_lanes() -> None:
    switches = [switch("0", number, f"0.{number}") for number in range(1, 40)]
    shown = alone(rows_of(*run(switches)))
    assert len(shown.lanes) == 8
    assert "0" in shown.lanes
    assert shown.other_threads == 40 - 8


def test_many_switches_in_a_row_are_one_gap() -> None:
    there = [switch("0", number, "0.1") for number in range(2, 20)]
    log, seen = run(there, [access(1, "0.1", "reads", "0"), access(30, "0.2", "stores", "4")])
    rows = rows_of(log, seen).rows
    assert [row.kind for row in rows] == [ACCESS, SWITCH, GAP, SWITCH, ACCESS, END]
    assert rows[2].words == "16 more switches"
    lit: Switch = there[7]
    assert sum(row.lit for row in rows_of(log, seen, lit=lit).rows) == 1, "but never the one that matters"
