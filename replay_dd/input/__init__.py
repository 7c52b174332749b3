"""Program input as a failure circumstance: the parts of a file that make a program fail."""
