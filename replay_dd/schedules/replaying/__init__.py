"""Records runs and replays them: exactly, with more observed, or after the program was edited."""
