"""How long the steps of a lattice may be: its damping in stages, and windows that stand for a large one."""
