"""Running tests: processes, oracle, time-outs, searches."""
