"""How yield points are noticed: a chooser, and a back end for each kind of interpreter."""
