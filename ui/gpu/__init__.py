"""Runs on a GPU, here or of a cluster, and of whole grids: jobs, turns, results."""
