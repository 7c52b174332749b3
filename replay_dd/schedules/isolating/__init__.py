"""Isolates the guilty switch, and minimizes schedules."""
