"""What this process may use and keep, set and asked for by callers."""
