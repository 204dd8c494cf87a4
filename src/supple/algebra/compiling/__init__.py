"""How kernels are compiled, cached and shared by threads."""
