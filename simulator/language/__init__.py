"""The typed tree of a kernel, C's types, and errors with their span of the text."""
