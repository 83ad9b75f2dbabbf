"""Exercises: a text, a kernel to mend, and requirements that the simulator checks."""
