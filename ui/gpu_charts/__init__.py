"""Charts, tables and sentences of the GPU page, made from the numbers of a run."""
