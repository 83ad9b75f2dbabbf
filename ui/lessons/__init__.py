"""Lessons, questions and claims: data of assets/lessons, and what the simulator says of them."""
