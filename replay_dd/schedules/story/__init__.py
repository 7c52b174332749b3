"""The story of an isolated switch: what the threads did to each other, from two observed runs."""
