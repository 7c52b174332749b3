"""The world outside under the scheduler: descriptors, sockets, pipes, file locks, databases."""
