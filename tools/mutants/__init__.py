"""Mutation testing: small defects put into the code, to see whether the nearest tests notice.

Rules of this package:

* The checkout is never changed: every mutant lives in a copy of it, in the folder for temporary files.
* One mutant is one small change in one place. It is *killed* if a test fails or runs too long, else it has *survived*.
* The nearest tests come first, and the first failure ends a run; only what survives them meets the rest of its room.
* The same sources and options give the same mutants in the same order.

A mutant that means the same as the original (an equivalent one) cannot be killed. A comment `# no mutant: REASON` at
the end of its line leaves the line out.
"""
