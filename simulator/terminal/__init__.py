"""What `python -m simulator` is made of: options, arguments, and reports as text."""
