"""Whether a shared variable need not be shared, as each thread reads only what it has stored there itself.

A request, a job or a message sets it, and later steps of the same one read it. A lock from the first step to the last
would make them wait for each other, if anything of the program's own encloses both; what they need is a value each.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation

_VARIABLES = ("global", "attribute", "cell", "item")


def own_value_in_words(stored: Access, passing: Observation) -> str:
    """What would help where each thread needs a value of its own; empty if the threads tell each other something.

    Args:
        stored: what a thread has stored, and another one replaced.
        passing: what the passing run accessed.
    """
    own: dict[str, Access] = {}
    readers = set()
    for one in passing.accesses:
        if one.name != stored.name or one.thing[0] not in _VARIABLES or one.thing[2] != stored.thing[2]:
            continue
        if one.does == "stores":
            own[one.thread] = one
        elif one.reads:
            last = own.get(one.thread)
            if last is None or not last.new.is_known or not one.old.same(last.new):
                return ""
            readers.add(one.thread)
        else:
            return ""
    if len(readers) < 2:
        return ""
    return (
        f"give each thread its own {stored.name}, as a local variable, an argument, an attribute of "
        "`threading.local()` or a context variable: in the passing run, each reads only what it has stored there itself"
    )
