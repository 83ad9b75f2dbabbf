"""Reads what a file's host code says of its kernels' launches; host code is never run."""
