"""Experiments with possible repairs: a lock or an order that the scheduler keeps, and whether the failure goes away."""
