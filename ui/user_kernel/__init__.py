"""A user kernel: its text, launch, exercise and verdict."""
