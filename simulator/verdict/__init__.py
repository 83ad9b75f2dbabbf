"""What is to be said of a user kernel: whether it is right, and what it costs."""
