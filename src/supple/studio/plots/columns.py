"""The numbers of a row of samples."""

from __future__ import annotations

VECTORS = ("momentum", "angular", "centre")
COLUMNS = ("time", "kinetic", "elastic", "gravity", *(f"{name} {axis}" for name in VECTORS for axis in "xyz"))
"""time [s]; energies [J]: kinetic, stored in bodies and between them, of gravity and of loads; linear [kg m/s] and
angular momentum about the origin [kg m²/s]; centre of mass [m]."""
POINTS, POINT_WIDTH = 4, 4
"""Points that are followed at most, and numbers of each: x, y, z [m], speed [m/s]."""
WIDTH = len(COLUMNS) + POINTS * POINT_WIDTH
