"""Calls of Python functions: which parts of the arguments make a call fail."""
