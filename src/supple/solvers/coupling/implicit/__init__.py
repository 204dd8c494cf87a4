"""Implicit bodies in a scene with other kinds: a part whose velocities stay unknowns of one matrix."""
