"""Benchmarks: ``make bench``, or ``python -m tests.benchmarks NAME ...``. No timing stands in a test."""
