"""The circumstance *thread schedules*: record, replay, compare, isolate."""
