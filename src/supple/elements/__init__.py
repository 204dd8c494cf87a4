"""Finite elements: shape functions, elastic laws, element forces and tangents, mass."""
