"""The Step page's parts: its state, address, controls, hazards, scene and files."""
