"""What stands in for parts of the standard library: locks, threads, signals, time, entropy."""
