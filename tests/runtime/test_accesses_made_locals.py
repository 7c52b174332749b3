"""Thread-local objects whose class has an ``__init__``: what is seen of them, and that observing never runs it."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import run_program

pytestmark = pytest.mark.once

PROGRAM = """
    import threading

    class Context(threading.local):
        limit = 3

        def __init__(self, tenant):
            made.append(threading.current_thread().name)
            self.reset(tenant)

        def reset(self, tenant):
            self.tenant = tenant

        @property
        def name(self):
            return self.tenant.title()

    def sets():
        context.tenant = "acme"
        context.tenant
        context.limit
        context.name

    def looks():
        context.tenant
        context.name

    made = []
    context = Context("public")
    for work in (sets, looks):  # the second thread may have the number of the first one
        thread = threading.Thread(target=work, name=work.__name__)
        thread.start()
        thread.join()
    print(made)
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    run = run_program(tmp_path_factory.mktemp("work"), PROGRAM, Plan(observed={"": (0, 1 << 62)}))
    assert run.output == b"['MainThread', 'sets', 'looks']\n"
    return [one for one in run.accesses.accesses if one.thing[0] == "local"]


def test_what_a_thread_has_is_seen_once_its_init_has_run(seen: list[Access]) -> None:
    told = [(one.thread, one.place.function, one.does, one.old.text, one.new.text) for one in seen]
    assert told == [
        ("0.1", "sets", "stores", "?", "'acme'"),
        ("0.1", "Context.reset", "stores", "nothing", "'public'"),
        ("0.1", "sets", "reads", "'acme'", "?"),
        ("0.1", "Context.name", "reads", "'acme'", "?"),
        ("0.2", "looks", "reads", "?", "?"),
        ("0.2", "Context.reset", "stores", "nothing", "'public'"),
        ("0.2", "Context.name", "reads", "'public'", "?"),
    ]
    assert {one.holder_type for one in seen} == {"Context"}
    assert len({one.thing for one in seen}) == 2, "one for each thread"
