"""Small dense algebra: rotations, polar decomposition, LDL^T; exp, tanh and sine of our own."""
