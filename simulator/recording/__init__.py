"""The steps of one block, and how to move among them."""
