"""Finds the commit since which threads can fail: a bisection with the same schedules at each commit."""
