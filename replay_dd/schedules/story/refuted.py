"""What of a story falls, or becomes careful, when runs speak against it."""

from __future__ import annotations

from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.links import Links
from replay_dd.schedules.story.passes import turned_round
from replay_dd.schedules.story.sentences import without_promise
from replay_dd.schedules.story.story import Story


def as_tried(story: Story, links: Links, *, replaced: bool = False) -> Story:
    """The story; it promises that the run passes the other way round only if that was not refuted.

    If another order was proved to matter, that is what it promises: the passing run may pass for a reason of its own.

    Args:
        story: as it was seen.
        links: what was tried.
        replaced: whether another access stands in the story for one whose order was refuted; its own was not tried.
    """
    refuted = links.tried and not links.proved
    promised = [link for link in links.tried if story.passes == turned_round(link.first, link.second)]
    proved = [link for link in links.tried if link.proved]
    if (promised or replaced) and proved and not any(link.proved for link in promised):
        story = story._replace(passes=turned_round(proved[0].first, proved[0].second), passing=())
    elif any(link.refuted for link in promised):
        story = story._replace(passes="", passing=())
    return story._replace(summary=without_promise(story.summary)) if refuted else story


def is_a_guess(conflict: Conflict, links: Links) -> bool:
    """Whether only accesses nearby stand in for what was not seen, and runs showed that their order decides nothing.

    Args:
        conflict: what the threads did.
        links: what was tried.
    """
    return all_disproved(links) and all(edge.inferred for edge in conflict.edges)


def all_disproved(links: Links) -> bool:
    """Whether runs showed of each order that was tried that it decides nothing.

    Args:
        links: what was tried.
    """
    return bool(links.tried) and all(link.disproved for link in links.tried)


def without_refuted(conflict: Conflict, links: Links) -> Conflict:
    """The conflict without a side that was only inferred and makes no difference, if the other side is proved.

    Args:
        conflict: what the threads did.
        links: what was tried.
    """
    if conflict.left is None or conflict.right is None or len(links.tried) != 2:
        return conflict
    left, right = links.tried
    if conflict.right.inferred and right.refuted and left.proved:
        return conflict._replace(right=None)
    return conflict._replace(left=None) if conflict.left.inferred and left.refuted and right.proved else conflict
