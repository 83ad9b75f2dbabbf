"""What NVIDIA's compiler makes of a kernel: machine code by line of its text, without a GPU."""
