"""Loaded into the traced program: the standard library only, and nothing else of the house.

``start.py`` is run by the program's interpreter, and loads the others under a name of their own.
"""
