"""Loaded into the program whose input is reduced: the standard library only, and nothing else of the house.

``site/sitecustomize.py`` is found by the program's interpreter, and loads the rest by its place.
"""
