"""What happened and when it does not, in a sentence each."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from replay_dd.schedules.observed.observation import Access, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.came_back import put_back
from replay_dd.schedules.story.conflict import Conflict, Edge, expired_in, one_thing, used_unready
from replay_dd.schedules.story.dropped_lock import dropped_lock_in_words
from replay_dd.schedules.story.edges import adds, empties, replaces_container, takes_out
from replay_dd.schedules.story.missed_state import missed_state_in_words
from replay_dd.schedules.story.outside_loop import in_words as call_outside_in_words
from replay_dd.schedules.story.parts import parts_in_words
from replay_dd.schedules.story.permits import in_words as extra_permit_in_words
from replay_dd.schedules.story.request_reply import exchange_in_words, receives, sends
from replay_dd.schedules.story.same_file import same_file_in_words
from replay_dd.schedules.story.shared_context import in_words as shared_context_in_words
from replay_dd.schedules.story.story import called_at
from replay_dd.schedules.story.timers import late_cancel_in_words
from replay_dd.schedules.story.woken_in_vain import woken_in_vain_in_words
from replay_dd.schedules.story.words import listed, short_file, with_article

_OTHER_WAY = "; the other way round it passes."
_ENDS = {  # what a method that takes a thing away has done to it
    "cancel": "cancelled it",
    "clear": "emptied it",
    "close": "closed it",
    "shutdown": "shut it down",
    "stop": "stopped it",
    "terminate": "ended it",
}


def without_promise(summary: str) -> str:
    """A summary that does not say how it ends the other way round, as that was tried and not proved.

    Args:
        summary: what happened.
    """
    return summary.replace(_OTHER_WAY, ".")


def summary_of(kind: str, conflict: Conflict, proved: Collection[Access] = ()) -> str:
    """What happened, in a sentence or two.

    Args:
        kind: in the field's words.
        conflict: what the threads did.
        proved: accesses whose order is proved to matter: of several changes by the others, one of these is named.
    """
    right, left = conflict.right, conflict.left
    edge = right or left
    if edge is None:
        return ""
    if kind == kinds.EXTRA_PERMIT:
        return extra_permit_in_words(conflict)
    if kind == kinds.SHARED_CONTEXT:
        return shared_context_in_words(conflict)
    if kind == kinds.OUTSIDE_LOOP:
        return call_outside_in_words(conflict)
    if conflict.fault == kinds.MISSED_STATE:
        return missed_state_in_words(conflict)
    if conflict.fault == kinds.LATE_CANCEL:
        return late_cancel_in_words(conflict)
    if conflict.fault == kinds.DROPPED_LOCK:
        return dropped_lock_in_words(conflict)
    if conflict.fault == kinds.WAIT_WITHOUT_LOOP:
        return woken_in_vain_in_words(conflict)
    if right is None or left is None or kind == kinds.CONCURRENT_USE:
        return _of_one_edge(kind, conflict, edge)
    if kind == kinds.ABA and conflict.outdated is not None:
        return _came_back(conflict, left.access, right.access, conflict.outdated)
    if kind == kinds.CHECK_THEN_ACT and right.access.writes and _made_twice(left, right):
        return _stored_twice(conflict.thread, right)
    one, first, then = conflict.thread, left.access, right.access
    change = _proved_change([left, right], proved) or _change(right) or _change(left) or right.others[-1]
    if kind == kinds.CHECK_THEN_ACT and not one_thing(first, then):
        change = _proved_change([left], proved) or _change(left) or change  # what it has seen, not what it does then
    other, between = change.thread, at(change)
    twice = (
        f"Thread {one} goes through {then.name} ({at(then)}) while thread {other} changes it ({between})."
        if then.does == "iterates"
        else f"Thread {one} looks at {then.name} twice ({at(first)}, {at(then)}), and thread {other} changes it in "
        f"between ({between})."
    )
    saved = kinds.saved_before(conflict) or first
    looks = right.others[0 if one_thing(first, then) else -1]
    undoes = kinds.rollback_by_others(conflict) or change
    them = "it" if first.thing == then.thing else "them"
    sentences = {
        kinds.ROLLED_BACK: f"Thread {one} changes {first.name} ({at(first)}), and thread {undoes.thread} rolls back "
        f"({at(undoes)}) before thread {one} is done ({at(then)}). If both use one connection, that undoes the "
        "change.",
        kinds.SAVE_AND_RESTORE: f"Thread {one} replaces {then.name} ({at(first)}) until it puts back what it has "
        f"saved ({at(then)}); thread {looks.thread} uses it in between ({at(looks)}), and finds what is not for it."
        if looks.reads and not looks.writes and first.writes
        else f"Thread {one} saves {then.name} ({at(saved)}), replaces it and puts it back "
        f"({at(then)}); thread {other} stores there, too, before it is put back ({between}).",
        kinds.LOST_UPDATE: f"Thread {one} goes through {first.name} ({at(first)}) and then replaces it ({at(then)}); "
        f"what thread {other} has changed there in between ({between}) is lost."
        if replaces_container(left, right)
        else f"Thread {one} reads {first.name} ({at(first)}) and then replaces it by {then.new.text} ({at(then)}), "
        f"whatever is there by then; thread {other} has changed it in between ({between})."
        if empties(then)
        else f"Thread {one} computes what it stores ({at(then)}) from what it has read before "
        f"({at(first)}); what thread {other} has stored in between ({between}) is lost.",
        kinds.UPDATE_AND_READ: f"Thread {one} changes {first.name} ({at(first)}) and reads it again ({at(then)}); "
        f"thread {other} changes it in between ({between}), so thread {one} does not see its own value.",
        kinds.MIXED_REPLIES: exchange_in_words(first, then, left.others[0]),
        kinds.OVERWRITTEN: same_file_in_words(conflict)
        or f"What thread {one} has stored ({at(first)}) is replaced by thread {other} ({between}) "
        f"before it is used ({at(then)}).",
        kinds.NON_REPEATABLE_READ: twice,
        kinds.CHANGED_IN_LOOP: twice,
        kinds.WAIT_WITHOUT_LOOP: f"Thread {one} acts ({at(then)}) on what it has seen before its wait ({at(first)}); "
        f"thread {other} has changed it before the wait was over ({between}). It must look again: `while`, not `if`.",
        kinds.CHECK_THEN_ACT: f"What thread {one} has seen ({at(first)}) no longer holds when it acts on it "
        f"({at(then)}): thread {other} has changed it in between ({between}).",
        kinds.TORN_UPDATE: parts_in_words(first, then, change, (at(first), at(then), at(change)))
        or _mixed(one, first, then, change)
        or f"Thread {one} changes {_both(first, then)} in two steps; thread {looks.thread} "
        + (f"changes {them} in between ({at(looks)})." if looks.changes else _sees_first(looks)),
        kinds.TOO_SOON: f"Thread {looks.thread} looks at {then.name} ({at(looks)}) before thread {one} is done with "
        f"it ({at(then)}).",
        kinds.INCOMPLETE: f"Thread {one} stores {first.name} ({at(first)}) and completes it only then: {then.name} "
        f"({at(then)}); thread {looks.thread} uses it in between ({at(looks)}).",
        kinds.TORN_READ: f"Thread {one} takes from {_both(first, then)} in two steps; thread {other} takes in between "
        f"({between}) what would have come next."
        if receives(first) and receives(then)
        else f"Thread {one} reads {_both(first, then)} one after the other; thread {other} changes them "
        f"in between ({between}).",
    }
    if kind == kinds.INVALIDATED and kinds.is_of_found(first, then):
        return _used_after(left, then, change)
    return sentences.get(kind) or _of_one_edge(kind, conflict, right)


def _of_one_edge(kind: str, conflict: Conflict, edge: Edge) -> str:
    """What happened, where one access of the interrupted thread is enough to tell it."""
    own, one = edge.access, conflict.thread
    last = edge.others[-1]
    other = _change(edge) or last
    running = kinds.asked_while_running(conflict)
    if running is not None:
        asks, inside = running
        return (
            f"Thread {asks.thread} asks {asks.name} for its next ({at(asks)}) while thread {inside.thread} is still "
            f"inside it ({at(inside)}); only one thread at a time can."
        )
    expired = expired_in(conflict) or last
    if kind == kinds.MISSED_NOTIFICATION and own.detail.startswith("clear("):
        return (
            f"Thread {one} clears {own.name} ({at(own)}) after thread {last.thread} has set it ({at(last)}), and "
            "waits for it again."
        )
    soon = kinds.looked_too_soon(conflict)
    if kind == kinds.TOO_SOON and soon is not None:
        look, added = soon
        return (
            f"Thread {look.thread} looks at {look.name} ({at(look)}) before thread {added.thread} is done with it "
            + (f"({at(added)}).")
        )
    if conflict.inside is not None:
        package = own.place.file.partition("/")[0].removesuffix(".py")
        there = f"{short_file(conflict.inside.file)}:{conflict.inside.line}"
        shared = f"one {own.holder_type}" if own.thing[0] == "attribute" else own.name
        return (
            f"Thread {one} has not come back from its call of {package} ({there}) when thread {last.thread} calls it, "
            f"too ({at(edge.others[0])}): both work on {shared} at a time, and no lock keeps them apart."
        )
    if conflict.looked is not None and not conflict.fault:
        return _both_went_on(conflict.looked, last, own)
    if conflict.since is not None:
        return (
            f"Thread {one} passes {short_file(conflict.since.file)}:{conflict.since.line} and stores {own.name} "
            f"({at(own)}) only then; thread {last.thread} looks at it in between ({at(last)}) and does not see that."
        )
    unready = used_unready(conflict)
    if kind == kinds.TOO_EARLY and unready is not None:
        shown = own if conflict.left is None or own.thing != unready.thing else conflict.left.access
        return (
            f"Thread {one} stores {shown.name} ({at(shown)}) before it is ready; thread {unready.thread} misses "
            f"{unready.name} in it ({at(unready)})"
            f"{'.' if shown is own else f', which thread {one} sets only then ({at(own)}).'}"
        )
    if kind == kinds.INVALIDATED and other.new.type == "bool":
        return (
            f"Thread {one} finds {own.name} {own.old.text} ({at(own)}), as thread {other.thread} has set it "
            f"({at(other)}) since thread {one} last looked."
        )
    sentences = {
        kinds.LEFT_OVER: f"Thread {one} finds {own.name} as it has left it in an earlier call ({at(own)}; stored at "
        f"{at(last)}). Each thread has its own, which lasts as long as the thread; in the passing run, "
        "no call has left anything there.",
        kinds.TOO_EARLY: f"Thread {last.thread} uses {own.name} ({at(last)}) before thread {one} has set it "
        f"({at(own)}){', which it no longer comes to' if conflict.never else ''}.",
        kinds.INVALIDATED: f"Thread {one} uses {own.name} ({at(own)}) after thread {other.thread} has "
        f"{_taken_away(other)} ({at(other)})."
        + ("" if expired is last else f" Before that, its time-out expires ({at(expired)})."),
        kinds.MISSED_NOTIFICATION: f"Thread {last.thread} notifies before thread {one} waits; nothing wakes "
        "it any more.",
        kinds.EARLY_TIMEOUT: f"The time-out of thread {expired.thread} ({at(expired)}) expires before thread {one} is "
        f"done ({at(own)}).",
    }
    return sentences.get(kind) or _order(conflict)


def _taken_away(access: Access) -> str:
    if access.does == "stores" and access.new.text == "None":
        return "set it to None"
    method = access.detail.partition("(")[0] if access.does == "calls" else ""
    if method == "clear" and access.holder_type == "Event":
        return "cleared it"
    return _ENDS.get(method, "taken it away")


def _change(edge: Edge) -> Access | None:
    """The last change that the others make."""
    return next((other for other in reversed(edge.others) if other.writes), None)


def _proved_change(edges: Iterable[Edge], proved: Collection[Access]) -> Access | None:
    """The last change by the others whose order is proved to matter; None if none is."""
    found = [other for edge in edges for other in edge.others if other.writes and other in proved]
    return max(found, key=lambda other: other.number, default=None)


def _both(first: Access, then: Access) -> str:
    if first.name == then.name:
        return f"{first.name} ({listed(dict.fromkeys((at(first), at(then))))})"
    return f"{first.name} ({at(first)}) and {then.name} ({at(then)})"


def _sees_first(looks: Access) -> str:
    return f"looks in between ({at(looks)}) and sees only the first."


def _mixed(thread: str, first: Access, then: Access, other: Access) -> str:
    """That what two threads send or write gets mixed; empty if they do something else."""
    if not all(sends(one) for one in (first, then, other)):
        return ""
    return (
        f"Thread {thread} writes to {_both(first, then)} in two steps; thread {other.thread} writes there in between "
        f"({at(other)}), so that their parts are mixed."
    )


def at(access: Access) -> str:
    """Where it is made; what an installed package does, where the program's own code calls it."""
    call = called_at(access) or access.place
    return f"{short_file(call.file)}:{call.line}"


def _order(conflict: Conflict) -> str:
    """Which order fails."""
    edge = conflict.right or conflict.left
    if edge is None:
        return ""
    own = f"thread {conflict.thread} {in_short(edge.access)}"
    other = f"thread {edge.others[0].thread} {in_short(edge.others[0])}"
    first, then = (other, own) if conflict.right is not None else (own, other)
    return f"{first[0].upper()}{first[1:]} before {then}{_OTHER_WAY}"


def other_order(first: Access, then: Access) -> str:
    """That the failure takes another order, too, as a sentence.

    Args:
        first: what must come first.
        then: what must come after it.
    """
    return (
        f" It takes another order, too: thread {first.thread} {in_short(first)} before thread {then.thread} "
        f"{in_short(then)}."
    )


def _stored_twice(thread: str, right: Edge) -> str:
    stored = next(other for other in right.others if other.does == "stores")
    found = "nothing" if stored.old.is_missing else stored.old.text
    return (
        f"Threads {thread} and {stored.thread} both found {found} there, and both stored; what thread {stored.thread} "
        f"has stored ({at(stored)}) is lost when thread {thread} stores ({at(right.access)})."
    )


def _both_went_on(looked: Access, other: Access, acted: Access) -> str:
    found = "nothing" if looked.old.is_missing else looked.old.text or f"the same {looked.old.type}"
    seen = f"{found} in {looked.name}"
    if looked.does == "checks" and found in ("True", "False"):
        seen = f"{looked.name} {'there' if found == 'True' else 'missing'}"
    whole = acted.thing[0] == "whole"
    does = "stores there"
    if acted.does == "deletes" or takes_out(acted):
        does = "takes from it" if whole else "takes it away"
    elif adds(acted):
        does = "adds to it" if whole else "adds it"
    return (
        f"Threads {looked.thread} and {other.thread} both found {seen} ({at(looked)}), and both "
        f"went on; thread {acted.thread} {does} ({at(acted)}) only after thread {other.thread} has looked."
    )


def _came_back(conflict: Conflict, look: Access, again: Access, outdated: Access) -> str:
    """That a thread takes a thing for unchanged, as it finds the same value there again."""
    replaced, restored = put_back(conflict)
    changes = [one for one in conflict.stretch if one.does == "stores" and one.thing == outdated.thing]
    return (
        f"Thread {look.thread} finds in {again.name} ({at(again)}) what it had found there before ({at(look)}), and "
        f"takes it for unchanged. But thread {replaced.thread} has replaced it in between ({at(replaced)}) and put it "
        f"back ({at(restored)}), and has changed {outdated.name} ({at(changes[-1])}): what thread {look.thread} had "
        f"read there ({at(outdated)}) and now stores is out of date."
    )


def _used_after(left: Edge, use: Access, change: Access) -> str:
    """That a thread uses an object which is no longer where it found it."""
    found = left.access
    taken = _change(left) or change
    does = "replaced it" if taken.does == "stores" else "taken it out"
    changed = f"thread {change.thread} has changed it" if change.thread != taken.thread else "changed it"
    also = "" if change == taken else f" and {changed} ({at(change)})"
    uses = "changes" if use.writes else "uses"
    return (
        f"Thread {found.thread} finds {with_article(found.old.type)} in {found.name} ({at(found)}), but {uses} it "
        f"({at(use)}) only after thread {taken.thread} has {does} there ({at(taken)}){also}."
    )


def _made_twice(left: Edge, right: Edge) -> bool:
    stores = [other for other in right.others if other.does == "stores"]
    if right.access.does != "stores" or not stores:
        return False
    found, seen = stores[0].old, left.access.old
    if left.access.does == "reads" and seen.is_known and not _is_nothing_yet(seen):
        return False  # it read something else, or what the class holds for all instances
    return _is_nothing_yet(found)


def _is_nothing_yet(value: Value) -> bool:
    return value.is_missing or value.text in ("None", "False")


def in_short(access: Access) -> str:
    """An access in a few words, such as ``stores Account.balance (bank.py:14)``."""
    does, name = access.does, access.name
    if does == "calls":
        method = access.detail.partition("(")[0]
        words = f"{method if ' ' in method else f'calls {method}'}() of {name}"  # or it asks for a call
    elif access.thing[0] == "file":
        words = f"calls {does}() of {name}"
    elif does == "deletes" and access.is_weak:
        words = f"lets go of {name}"
    elif does == "iterates":
        words = f"takes the next item of {name}"
    else:
        words = f"{does} {name}"
    return f"{words} ({at(access)})"
