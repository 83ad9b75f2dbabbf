"""Executes a typed tree over NumPy arrays, warp by warp, and notifies observers."""
