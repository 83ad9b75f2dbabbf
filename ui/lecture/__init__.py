"""The lecture: one step, large enough for the back row."""
