"""Instruments of the maintainers, which measure Tilewise and set it beside NVIDIA's tools."""
