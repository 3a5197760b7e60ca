"""What this process finds on its machine, and the files that keep what it measured there."""
