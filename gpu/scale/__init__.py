"""One product over several GPUs of a host: the plan, its execution through CuPy, its figures."""
