"""Kernels on a real NVIDIA GPU: compiled, verified, timed beside cuBLAS, and recorded."""
