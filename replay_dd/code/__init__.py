"""Program text as a failure circumstance: the parts of a Python program that make a tool fail on it."""
