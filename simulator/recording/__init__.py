"""The steps of one block, how to move among them, and what they say."""
