"""User-event sequences: what a person does to a program with windows, replayed, and isolated when the program crashes.

A *raw event* is one X protocol event; an *action* is what a person did: a click, a chord, typed text, a drag.
"""
