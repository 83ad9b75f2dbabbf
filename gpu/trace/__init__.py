"""A kernel by the GPU's own clock: the cycles of each phase of a block, and where it ran."""
