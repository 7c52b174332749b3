"""The baton: one scheduler that decides who runs, and all that it needs to know."""
