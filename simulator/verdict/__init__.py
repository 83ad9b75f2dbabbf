"""What is to be said of a kernel of one's own: whether it is right, and what it costs."""
