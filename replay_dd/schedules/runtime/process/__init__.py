"""The process: how its run ends, how it is forked, which number it has."""
