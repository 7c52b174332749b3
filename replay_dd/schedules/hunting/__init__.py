"""Hunts for failing runs: which schedules to try, and what a hunt learns from each run."""
