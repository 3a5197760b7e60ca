"""From a caller's arguments to a plan or a predicted time."""
