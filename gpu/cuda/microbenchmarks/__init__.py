"""Microbenchmarks: what a GPU costs and gives at best, measured with kernels made for it."""
