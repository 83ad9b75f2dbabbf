"""Products of every shape: which kernel is the fastest for one, why, and how near to cuBLAS."""
