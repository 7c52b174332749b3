"""Executed statements."""
