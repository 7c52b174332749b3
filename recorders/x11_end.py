"""Whether a program still responds when its recording is ended: perhaps the person gave up because it does not."""

from __future__ import annotations

from replay_dd.events.x11.answers import Answers, Question
from replay_dd.events.x11.display import Display
from replay_dd.events.x11.event_loop import EventLoop
from replay_dd.events.x11.idle import IdleRule
from replay_dd.events.x11.program import RunningProgram
from replay_dd.events.x11.tk_send import TkSend


def responds(program: RunningProgram, answers: Answers, display: Display, limit_s: float) -> bool:
    """Whether a program responds, as a replay would see it; True, too, if it has ended.

    Args:
        program: the program.
        answers: how it shows that it answers.
        display: where its windows are.
        limit_s: how long it may take.
    """
    if not Question(answers).wait(limit_s, program.over):
        return False
    idle = IdleRule(display.connection, [program.tree, *display.trees()], program.over)
    idle.ask = EventLoop(answers, TkSend(display.connection)).ask
    return idle.wait() or program.over() or not Question(answers).stays_busy(limit_s, program.over)
