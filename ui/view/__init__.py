"""What is looked at: kernel, sizes, what-ifs and step, as an address has them."""
