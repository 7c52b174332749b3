"""User-event sequences: records what a person does in a GUI program, replays it, and isolates what makes it crash.

A *raw event* is one X protocol event; an *action* is what a person did: a click, a chord, typed text, a drag.
"""
