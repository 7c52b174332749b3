"""Code changes as failure circumstances: which change between two versions of a program makes it fail."""
