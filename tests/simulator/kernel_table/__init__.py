"""Kernels as people write them, right and wrong, in many habits of naming and of order."""
