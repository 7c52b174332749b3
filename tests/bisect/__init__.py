"""Tests of ``replay_dd/bisect``."""
