"""Contractions of tensors: transpositions and matrix products, planned by predicted time."""
