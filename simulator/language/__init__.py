"""The typed tree of a kernel, C's types, and errors with their place in the text."""
