"""Plots: figures of runs, of modes and of studies of error, by matplotlib (extra `render`): `supple.plot`."""

from supple.exports.plot.convergence import convergence
from supple.exports.plot.energies import energies
from supple.exports.plot.modes import modes
from supple.exports.plot.motion import spectra, trajectories

__all__ = ["convergence", "energies", "modes", "spectra", "trajectories"]
