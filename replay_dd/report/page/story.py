"""The story in words, and how each part of it is known: seen, inferred or tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from replay_dd.report.hang import threads_as_text
from replay_dd.report.page.chain import chain_part
from replay_dd.report.page.markup import Child, Markup, cut, tag
from replay_dd.report.page.parts import section, text
from replay_dd.report.page.tried import links_part, tried_part
from replay_dd.report.source import source_line
from replay_dd.schedules.model import Program
from replay_dd.schedules.observed.observation import StackFrame
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.story import Step, Story, Turn, path_of

_LONGEST = 400
SEEN, INFERRED, TRIED = "seen", "inferred", "tried"
_MEANS = {
    SEEN: "when both final runs were repeated",
    INFERRED: "concluded from what was seen",
    TRIED: "by experiment: the scheduler alone kept this, in the same schedules with and without",
}


def story_section(explanation: Explanation, program: Program) -> Markup:
    """The story, or why there is none.

    Args:
        explanation: the story.
        program: the program, for its source lines.
    """
    story = explanation.story
    if story is None:
        return section("story", "The story", tag("p", f"There is none: {cut(explanation.why_not, _LONGEST)}."))
    seen = list(_hang(story, program))
    seen.append(tag("ol", [_turn(turn, program) for turn in story.turns], class_="turns") if story.turns else None)
    if story.passes:
        seen.append(tag("p", tag("b", "It passes "), f"{cut(story.passes, _LONGEST)}:"))
        seen.append(tag("ol", [_passing(thread, step) for thread, step in story.passing], class_="passing"))
    seen += chain_part(explanation.chain, program)
    if story.locks:
        seen.append(tag("p", tag("b", "Locks: "), cut("; ".join(story.locks), 5 * _LONGEST), "."))
    seen += [tag("p", f"{wait[0].upper()}{cut(wait[1:], _LONGEST)}.") for wait in story.waits if wait]
    parts = [_known(SEEN, seen)]
    inferred = list(story.inferred)
    if story.help:
        inferred.append(f"would help: {story.help}")
    if story.hang is not None and story.hang.verdict.help:
        inferred.append(f"would help: {story.hang.verdict.help}")
    if inferred:
        parts.append(_known(INFERRED, [tag("ul", [tag("li", cut(line, _LONGEST)) for line in inferred])]))
    tried = [*tried_part(explanation.tried), *links_part(explanation.links)]
    if tried:
        parts.append(_known(TRIED, tried))
    return section("story", "The story", tag("div", parts, class_="known"))


def title_of(story: Story) -> str:
    """What the story is about."""
    things = " and ".join(cut(thing.name, 120) for thing in story.things)
    return f"{'Race' if story.hang is None else 'Deadlock'}{f' on {things}' if things else f': {story.kind}'}"


def _hang(story: Story, program: Program) -> Iterator[Child]:
    """The threads of a deadlock, with what each holds and waits for, and their stacks."""
    if story.hang is None:
        return
    yield text(threads_as_text(story.hang.hang, story.hang.verdict, program))
    if story.hang.led_by:
        yield tag("p", tag("b", "What leads there: "), cut(story.hang.led_by, _LONGEST))


def _known(kind: str, children: Iterable[Child]) -> Markup:
    return tag(
        "div",
        tag("h3", tag("span", kind, class_="badge"), tag("span", _MEANS[kind], class_="means")),
        children,
        class_=kind,
    )


def _turn(turn: Turn, program: Program) -> Markup:
    way = _way(turn.path)
    there = way
    half = len(turn.steps) // 2
    steps: list[Child] = []
    for number, step in enumerate(turn.steps):
        if turn.left_out and number == half:
            steps.append(tag("li", f"… {turn.left_out:,} more accesses to it …", class_="gap"))
        before, there = there, _way(path_of(step.access))
        if there != before:
            steps.append(tag("li", f"in {cut(there, _LONGEST)}", class_="way"))
        steps.append(tag("li", *_step(step, program)))
    return tag(
        "li",
        tag("p", tag("b", f"Thread {turn.thread}"), tag("span", f" in {cut(way, _LONGEST)}", class_="way")),
        tag("ul", steps),
        tag("p", cut(turn.then, _LONGEST), class_="then") if turn.then else None,
    )


def _way(path: Sequence[StackFrame]) -> str:
    """The functions on the way to an access."""
    return " > ".join(frame.function for frame in path) or "its start"


def _step(step: Step, program: Program) -> Iterator[Child]:
    place = step.access.place
    yield tag("span", f"{place.file.rpartition('/')[2]}:{place.line}", class_="at")
    source = source_line(place, program)
    if source:
        yield tag("code", cut(source, 200), class_="source")
    yield tag("span", cut(step.words, _LONGEST), class_="does")
    if step.mark:
        yield tag("span", f"({step.mark})", class_="mark")


def _passing(thread: str, step: Step) -> Markup:
    place = step.access.place
    return tag(
        "li",
        tag("b", thread),
        tag("span", f"{place.file.rpartition('/')[2]}:{place.line}", class_="at"),
        tag("span", cut(step.words, _LONGEST), class_="does"),
    )
