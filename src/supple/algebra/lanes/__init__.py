"""SIMD lanes: a value type of Numba that lowers to an LLVM vector."""
