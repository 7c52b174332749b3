"""The outside world under the scheduler: descriptors, sockets, pipes, file locks, databases."""
