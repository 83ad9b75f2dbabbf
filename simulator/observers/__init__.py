"""What is found out about a launch: counters, hazards, and witnesses of races."""
