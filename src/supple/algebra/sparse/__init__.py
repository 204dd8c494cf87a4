"""Block-sparse matrices, conjugate gradients, preconditioners, direct solver, eigenpairs."""
