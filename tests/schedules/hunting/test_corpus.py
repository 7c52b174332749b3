"""A corpus: the next hunt goes on where the last one ended, and claims no more than it may."""

from __future__ import annotations

import random
import shutil
import textwrap
from pathlib import Path

import pytest

from replay_dd.errors.user import CorpusError, LogError, LogVersionError
from replay_dd.schedules.failures.signature import Signature
from replay_dd.schedules.hunting.corpus import Corpus
from replay_dd.schedules.hunting.hunt import Hunt, hunt
from replay_dd.schedules.hunting.memory import FAILS, LOST, PASSES, Memory, PlaceAnchor, read_memory, written
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.program_files import changed_files
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program

pytestmark = pytest.mark.once

SAFE = textwrap.dedent("""\
    import threading

    class Box:
        one = 0
        two = 0

    def put():
        box.one = 1
        box.two = box.one

    def take():
        box.one = box.two
        box.two = 2

    box = Box()
    threads = [threading.Thread(target=one) for one in (put, take)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    """)
RACE = f'{SAFE}assert box.one != 0, "lost"\n'
OPENINGS = 4  # as its threads run different code


class Shop:
    """A program, and hunts of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.corpus = folder / "corpus"
        self.plans: list[Plan] = []

    def write(self, text: str) -> None:
        (self.folder / "program.py").write_text(text)

    def hunt(self, runs: int, *, corpus: str = "corpus", jobs: int = 1, failure: str = "") -> Hunt:
        self.plans = []

        def on_run(number: int, plan: Plan, signature: Signature) -> None:
            self.plans.append(plan)

        return hunt(
            describe_program(("python", "program.py"), directory=self.folder),
            Settings(),
            HuntOptions(runs=runs, jobs=jobs, failure=failure),
            corpus=Corpus(self.folder / corpus),
            listener=HuntListener(on_run=on_run),
        )

    def memory(self, corpus: str = "corpus") -> Path:
        (file,) = (self.folder / corpus).glob("*/hunts.jsonl")
        return file

    @property
    def triggers(self) -> list[object]:
        """The preemptions that the last hunt tried."""
        return [plan.triggers for plan in self.plans if plan.triggers]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    made.write(SAFE)
    return made


@pytest.fixture(scope="module")
def raced_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Shop(tmp_path_factory.mktemp("raced"))
    made.write(RACE)
    found = made.hunt(60)
    assert found.failing is not None
    return made.folder


@pytest.fixture
def raced(raced_once: Path, tmp_path: Path) -> Shop:
    """A program with a race, of which a corpus knows; in another folder than where it was hunted."""
    shutil.copytree(raced_once, tmp_path / "copy")
    return Shop(tmp_path / "copy")


def test_a_hunt_tries_what_the_last_one_did_not(shop: Shop) -> None:
    first = shop.hunt(12)
    tried = shop.triggers
    second = shop.hunt(12)
    assert tried
    assert shop.triggers
    assert not set(tried) & set(shop.triggers)
    assert first.coverage
    assert second.coverage
    assert second.learnt
    assert second.coverage.tried == len(tried) + len(shop.triggers)
    assert second.coverage.orders_seen >= first.coverage.orders_seen
    assert (second.learnt.hunts, second.learnt.runs) == (2, 24)


def test_what_is_exhausted_by_several_hunts_is_what_one_hunt_exhausts(shop: Shop) -> None:
    parts = [shop.hunt(26).coverage for _ in range(3)]
    whole = shop.hunt(78, corpus="other").coverage
    assert whole
    assert all(parts)
    assert parts[0]
    assert parts[0].exhausted == 0
    assert parts[-1]
    assert parts[-1].exhausted >= 1
    single = {triggers for triggers in read_memory(shop.memory()).progress.tried if len(triggers) == 1}
    assert single == {triggers for triggers in read_memory(shop.memory("other")).progress.tried if len(triggers) == 1}


def test_the_number_of_jobs_changes_nothing(shop: Shop) -> None:
    """Plans that were given when the failure was found, but not judged, count as untried."""
    shop.write(RACE)
    one = shop.hunt(40, corpus="one")
    many = shop.hunt(40, corpus="many", jobs=4)
    assert one.failing
    assert one.runs == many.runs
    assert shop.memory("one").read_bytes() == shop.memory("many").read_bytes()


def test_an_edit_makes_claims_begin_anew(shop: Shop) -> None:
    before = shop.hunt(16).coverage
    shop.write(SAFE.replace("box.two = 2", "box.two = 3"))
    found = shop.hunt(4)
    assert before
    assert found.coverage
    assert found.learnt
    assert found.learnt.changed
    assert found.coverage.tried < before.tried
    assert found.coverage.exhausted == 0
    assert found.learnt.dropped > 0, "those with the edited line"
    assert found.learnt.orders_seen > 0


def test_only_what_was_seen_in_the_very_program_counts_as_seen(tmp_path: Path) -> None:
    places = [PlaceAnchor("program.py", "put", text, 0, 1, "LOAD_ATTR") for text in ("one", "two", "three")]
    keys = {place: number for number, place in enumerate(places, 1)}
    now, by_chance, before = (("0.1", places[one], "0.2", places[two]) for one, two in ((0, 1), (0, 2), (1, 2)))
    memory = Memory({}, hunts=2, orders={now, by_chance, before}, current={now, by_chance}, keys=keys)
    memory.progress.by_chance = {(("0.1", 1), ("0.2", 3))}
    (tmp_path / "hunts.jsonl").write_bytes(written(memory))
    found = read_memory(tmp_path / "hunts.jsonl")
    assert found.orders == {now, by_chance, before}
    assert found.progress.orders == {(("0.1", 1), ("0.2", 2))}


def test_after_an_edit_orders_that_were_not_seen_come_first(shop: Shop) -> None:
    shop.hunt(12)
    shop.write("# An edit elsewhere.\n" + SAFE)
    found = shop.hunt(1)
    assert found.learnt
    assert found.learnt.changed
    assert found.learnt.dropped == 0
    program = describe_program(("python", "program.py"), directory=shop.folder)
    shop.write("# Another.\n# Edit elsewhere.\n" + SAFE)
    with Runner(program, Settings()) as runner:
        run = runner.run(Plan("profile"), 60.0)
    session = Corpus(shop.corpus).session(program, Settings(), run, "None ")
    assert session.seen_before(run), "by the texts of lines, wherever they are now"


def test_a_failure_is_tried_first_and_its_repair_is_told(raced: Shop) -> None:
    for program, state in ((RACE, FAILS), ("#\n" + RACE, FAILS), (SAFE, PASSES), (RACE, FAILS)):
        raced.write(program)
        found = raced.hunt(3)
        assert raced.plans[1].label == "the schedule of fail-1.log"
        assert found.learnt
        assert [(one.log, one.found_in, one.state) for one in found.learnt.failures] == [("fail-1.log", 1, state)]
        if program is SAFE:
            assert found.runs == 3, "to try the failure was one of the runs asked for"
        else:
            assert found.passing
            assert found.failing
            assert found.runs == 2
            assert not changed_files(found.failing.program), "it can be replayed"
    assert found.learnt
    assert found.learnt.before == {"fail-1.log": PASSES}


def test_a_failure_whose_code_is_gone_is_lost(raced: Shop) -> None:
    raced.write("import threading\n\nthread = threading.Thread(target=print)\nthread.start()\nthread.join()\n")
    found = raced.hunt(3)
    assert found.learnt
    assert [one.state for one in found.learnt.failures] == [LOST]


def test_other_failures_than_the_one_asked_for_are_left_alone(raced: Shop) -> None:
    found = raced.hunt(3, failure="something else")
    assert found.failing is None
    assert not any(plan.label.startswith("the schedule") for plan in raced.plans)


def test_a_hunt_that_is_terminated_keeps_what_it_has_learnt(shop: Shop) -> None:
    def stop(number: int, plan: Plan, signature: Signature) -> None:
        if number == OPENINGS + 4:
            raise SystemExit(143)

    program = describe_program(("python", "program.py"), directory=shop.folder)
    with pytest.raises(SystemExit):
        hunt(program, Settings(), HuntOptions(runs=20), corpus=Corpus(shop.corpus), listener=HuntListener(on_run=stop))
    memory = read_memory(shop.memory())
    assert (memory.hunts, memory.runs) == (1, OPENINGS + 4)
    assert memory.progress.plans == 3


def test_hunts_at_the_same_time_lose_nothing(shop: Shop) -> None:
    program = describe_program(("python", "program.py"), directory=shop.folder)
    shop.hunt(3)
    with Runner(program, Settings()) as runner:
        run = runner.run(Plan("profile"), 60.0)
    session = Corpus(shop.corpus).session(program, Settings(), run, "None ")
    shop.hunt(6)
    meanwhile = read_memory(shop.memory())
    session.take(run)
    learnt = session.save((), 1, session.progress)
    both = read_memory(shop.memory())
    assert (learnt.hunts, learnt.runs) == (3, 10)
    assert both.progress.tried == meanwhile.progress.tried
    assert both.orders == meanwhile.orders
    assert not {one.triggers for one in both.progress.waiting} & both.progress.tried.keys()


def test_a_memory_is_read_as_it_was_written(raced: Shop) -> None:
    raced.hunt(8, failure="something else")
    memory = read_memory(raced.memory())
    assert memory.progress.waiting
    assert memory.progress.tried
    assert memory.failures
    assert written(memory) == raced.memory().read_bytes()


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b'{"format":"replay-dd corpus","version":2}', LogVersionError),
        (b'{"format":"replay-dd schedule log","version":1}', CorpusError),
        (b"", CorpusError),
        (b'{"format":"replay-dd corpus","version":1}', CorpusError),
        (b'{"format":"replay-dd corpus","version":1}\n{"failure":{"log":"../fail.log"}}\n{"lines":2}\n', CorpusError),
        (
            b'{"format":"replay-dd corpus","version":1}\n{"failure":{"log":"../fail.log","text":"","found_in":1,'
            b'"state":"fails","since":1}}\n{"lines":2}\n',
            CorpusError,
        ),
    ],
)
def test_what_is_no_memory_is_refused(line: bytes, error: type[LogError], tmp_path: Path) -> None:
    (tmp_path / "hunts.jsonl").write_bytes(line)
    with pytest.raises(error):
        read_memory(tmp_path / "hunts.jsonl")


def test_a_folder_whose_mark_is_damaged_is_refused(tmp_path: Path) -> None:
    Corpus(tmp_path)
    (tmp_path / "corpus.json").write_text("{")
    with pytest.raises(CorpusError) as refused:
        Corpus(tmp_path)
    assert refused.value.hint == "Name a new or an empty folder."


def test_a_damaged_memory_is_read_or_refused(shop: Shop) -> None:
    shop.hunt(8)
    whole = shop.memory().read_bytes()
    chance = random.Random(1)
    refused = 0
    for _ in range(300):
        at = chance.randrange(len(whole))
        cut = chance.choice((0, 1, 5))
        damaged = whole[:at] + chance.choice((b"", b"[", b"null", b"-1", b'"')) + whole[at + cut :]
        shop.memory().write_bytes(damaged)
        try:
            read_memory(shop.memory())
        except LogError:
            refused += 1
    assert refused > 100


def test_the_logs_stay_if_a_damaged_memory_is_removed(raced: Shop) -> None:
    raced.memory().unlink()
    found = raced.hunt(5)
    assert found.failing
    assert found.learnt
    assert [(one.log, one.state) for one in found.learnt.failures] == [("fail-1.log", FAILS)]


def test_another_folder_is_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").touch()
    with pytest.raises(CorpusError, match=r"letters\.txt"):
        Corpus(tmp_path)
    (tmp_path / "letters.txt").unlink()
    (tmp_path / ".gitkeep").touch()
    Corpus(tmp_path)
    shutil.copy(tmp_path / "corpus.json", tmp_path / "again")
    Corpus(tmp_path)
