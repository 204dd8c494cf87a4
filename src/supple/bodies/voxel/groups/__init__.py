"""Rigid cells of a lattice: which belong together, how they move as one, how they are joined."""
