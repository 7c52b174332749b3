"""Whether all objects of a class share one container, as the class holds it and no object has its own.

``lines = []`` in the body of a class looks like an attribute of each object, and is one list for all of them.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation


def held_by_class_in_words(access: Access, failing: Observation) -> str:
    """What to add to the description of a container that a class holds for its objects; empty if none does.

    Args:
        access: to the container, or to an item of it.
        failing: what the failing run accessed.
    """
    return f", which the class {found} holds for all its objects" if (found := _class_of(access, failing)) else ""


def help_of_class_held(access: Access, failing: Observation) -> str:
    """What would help if the objects were not meant to share it; empty if no class holds it.

    Args:
        access: to the container, or to an item of it.
        failing: what the failing run accessed.
    """
    found = _class_of(access, failing)
    name = _container(access).rpartition(".")[2]
    return f"make `{name}` in `__init__` if each {found} needs its own: the one of the class is shared" if found else ""


def _class_of(access: Access, failing: Observation) -> str:
    """The name of the class through whose objects the container is reached, empty if there is none.

    To read an attribute of an object that only its class has is seen as two accesses of one instruction.
    """
    if access.thing[0] not in ("whole", "item"):
        return ""
    name = _container(access)
    reads: dict[tuple[str, int], list[Access]] = {}
    for one in failing.accesses:
        if one.thing[0] != "attribute" or one.name != name:
            continue
        if one.does != "reads":
            return ""  # it is replaced
        reads.setdefault((one.thread, one.time), []).append(one)
    pairs = [both for both in reads.values() if len(both) == 2 and both[0].thing[1] != both[1].thing[1]]
    if len(pairs) < len(reads) or len({by_class.thing[1] for by_class, _ in pairs}) != 1:
        return ""
    objects = {by_object.thing[1] for _, by_object in pairs}
    return pairs[0][1].holder_type if len(objects) > 1 else ""


def _container(access: Access) -> str:
    """The name of the container that it touches, or whose item it touches."""
    return access.name.partition("[")[0]
