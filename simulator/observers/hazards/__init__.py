"""Hazards: what no correct kernel does, why it matters, and what is said of it."""
