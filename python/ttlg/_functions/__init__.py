"""The functions that move the elements of arrays."""
