"""A kernel of one's own: its text, launch, exercise and verdict."""
