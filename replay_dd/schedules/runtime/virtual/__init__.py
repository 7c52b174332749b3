"""Locks and orders that the scheduler keeps although the program has none: experiments with possible repairs."""
