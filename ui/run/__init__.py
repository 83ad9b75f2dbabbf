"""Views computed and kept: kernels run, scenes drawn, what pages ask for."""
