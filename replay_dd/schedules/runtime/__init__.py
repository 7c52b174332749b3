"""The deterministic scheduler that is loaded into the target process.

Rules of this package:

* Standard library only, and as little of it as possible: the interpreter of another environment loads it before the
  program, and it must cost milliseconds. It imports nothing of replay-dd outside this folder.
* It never imports ``threading``, ``random`` or any other module that the program might not import itself; such modules
  are patched when the program imports them.
* Exactly one managed thread runs at any time: the one that holds the *baton*. All state of the scheduler is read and
  written with the baton in hand, so nothing here takes a lock for it.
* What the runtime does must depend on the schedule alone: no wall clock, no process id, no address.
"""
