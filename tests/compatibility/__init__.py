"""Programs that nobody here wrote, under the scheduler: CPython's own tests, and packages from the index."""
