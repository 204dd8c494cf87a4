"""Points that follow the coordinates of bodies."""
