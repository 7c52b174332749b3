"""Who decides where the baton goes: one module for each strategy, one registry of them all."""
