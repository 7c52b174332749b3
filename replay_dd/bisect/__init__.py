"""Finds the commit that introduced a race or deadlock: a bisection with the same schedules at each commit."""
