"""Small dense algebra: rotations, polar decomposition, LDL^T."""
