"""One result model, told in a terminal or as JSON."""
