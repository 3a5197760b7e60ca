"""The order of the loops (COMET, transpose page), measured."""
