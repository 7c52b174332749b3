"""Runs programs under the runtime, in processes of their own or forked, and reads what they tell."""
