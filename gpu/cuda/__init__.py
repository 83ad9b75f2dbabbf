"""What is CUDA's own: its compiler, its libraries, its clock and its counters."""
