"""Points and surfaces of a tree."""
