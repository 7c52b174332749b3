"""Sessions on X11: private displays, players, and what is seen of programs and windows."""
