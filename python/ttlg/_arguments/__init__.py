"""What callers write, read and checked: dtypes, sizes in bytes, shapes and strides."""
