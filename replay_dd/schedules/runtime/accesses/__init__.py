"""Observing a run: what each access touches, which value it finds or leaves, and under which locks."""
