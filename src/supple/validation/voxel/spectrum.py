"""voxel/spectrum: the ringing of a thin beam against the eigenfrequencies of its chain of links.

A beam of 20 voxels of 1 mm with E/rho = 1e6 m²/s² is held at its first voxel and struck at its tip. The reference is
the matrix of [HL12, eq. 7] for bending in a plane, assembled here for a chain with lumped m and I = m l²/6. Without
damping the peaks lie within one bin of the transform; with a bond damping of 0.01 within 1 %. The explicit step lowers
a frequency f as sin(pi f dt) = pi f_lattice dt; this known shift is taken out.

The two columns of the source's table 2 are swapped: the one printed as "mass/spring" is its own eq. 41 with a length of
20 mm, to 0.1 %, and only after a swap does the simulation predict the lower frequencies, as the source's text says.
The column printed as "analytical" is then the source's simulation. It is 8 % below a chain of 19 links (20 voxels, the
first held), and 1.2 % above one of 20 links: that is the beam it must have had.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.solvers import vibration_modes
from supple.validation.figure import COLOURS, GREY, INK, make_figure, save_figure
from supple.validation.row import Row, bounded, compare
from supple.validation.voxel.blocks import block, held_system

Array = np.ndarray
CASE = "voxel/spectrum"
CHAIN = "eq. 7 of Hiller and Lipson 2012, assembled for a chain"
TABLE = "Hiller and Lipson 2012, table 2, column printed as '{}': the columns are swapped"
MODES = 6
YOUNG, DENSITY, SIZE = 1e6, 1.0, 1e-3
PRINTED_ANALYTICAL = (389.0, 2428.0, 6749.0, 13070.0, 21260.0, 31180.0)  # [Hz]
PRINTED_MASS_SPRING = (404.0, 2531.0, 7087.0, 13890.0, 22960.0, 34290.0)  # [Hz]
ROOTS = (1.8751041, 4.6940911, 7.8547574, 10.9955407, 14.1371684, 17.2787595)  # cos(k) cosh(k) = -1
DT, EVERY, SAMPLES = 2.0e-7, 32, 20_000  # 0.128 s


class Ringing(NamedTuple):
    """frequency (k,) [Hz] and size (k,) of the tip's transform; bin_width [Hz]."""

    frequency: Array
    size: Array
    bin_width: float


def chain_frequencies(links: int) -> Array:
    """The lowest bending frequencies [Hz] of a chain of links, held at one end, by [HL12, eq. 7]."""
    l, m = SIZE, DENSITY * SIZE**3
    b1, b2, b3 = YOUNG * l, YOUNG * l**2 / 2, YOUNG * l**3 / 6
    link = np.array([[b1, b2, -b1, b2], [b2, 2 * b3, -b2, b3], [-b1, -b2, b1, -b2], [b2, b3, -b2, 2 * b3]])
    K = np.zeros((2 * links + 2, 2 * links + 2))
    for k in range(links):
        K[2 * k : 2 * k + 4, 2 * k : 2 * k + 4] += link
    M = np.diag(np.tile([m, m * l**2 / 6], links))
    return np.sqrt(eigh(K[2:, 2:], M, eigvals_only=True)[:MODES]) / (2 * np.pi)


def beam_frequencies(length: float) -> Array:
    """[HL12, eq. 41] for a length [m]: w = K_n sqrt(E I / (m' L⁴)), in Hz."""
    return np.array(ROOTS) ** 2 * np.sqrt(YOUNG * SIZE**2 / (12 * DENSITY)) / length**2 / (2 * np.pi)


def lattice_frequencies() -> Array:
    """The lowest bending frequencies [Hz] of the lattice's own tangent."""
    body = block((20, 1, 1), size=SIZE, young=YOUNG, density=DENSITY)
    modes = vibration_modes(held_system(body, [0]), 20)
    sideways = modes.shapes.reshape(len(modes.shapes), -1, 6)[:, :, 1:3]
    is_bending = body.model.mass[0] * np.sum(sideways**2, axis=(1, 2)) > 0.1  # part of the kinetic energy
    return modes.frequencies[is_bending][::2][:MODES]  # each occurs along y and along z


@cache
def ringing(bond_damping: float) -> Ringing:
    """The transform of the height of the beam's tip after a blow."""
    body = block((20, 1, 1), size=SIZE, young=YOUNG, density=DENSITY, bond_damping=bond_damping)
    sweep = LatticeSweep.make(body.model, held=[0])
    x, v = body.model.rest_frames.copy(), np.zeros((20, 6))
    v[-1, 2] = 1e-3
    sweep.load(x, v)
    signal = np.empty(SAMPLES)
    for k in range(SAMPLES):
        sweep.advance(DT, EVERY)
        signal[k] = sweep.component(2)[-1]
    size = np.abs(np.fft.rfft((signal - signal.mean()) * np.hanning(SAMPLES)))
    return Ringing(np.fft.rfftfreq(SAMPLES, EVERY * DT), size, 1.0 / (SAMPLES * EVERY * DT))


def peak_near(found: Ringing, frequency: float) -> float:
    """The largest peak within 3 % of a frequency, the shift by the explicit step taken out [Hz].

    Between bins it lies where the parabola through three logarithms has its top.
    """
    near = np.flatnonzero(np.abs(found.frequency - frequency) < 0.03 * frequency)
    k = int(near[np.argmax(found.size[near])])
    a, b, c = np.log(found.size[k - 1 : k + 2])
    peak = float(found.frequency[k]) + found.bin_width * float(0.5 * (a - c) / (a - 2 * b + c))
    return float(np.sin(np.pi * peak * DT) / (np.pi * DT))


def spectrum() -> list[Row]:
    """Eigenfrequencies, peaks with and without damping, and the source's two columns."""
    rows = []
    chain = chain_frequencies(19)
    for k, (f, ref) in enumerate(zip(lattice_frequencies(), chain)):
        rows.append(compare(CASE, f"lattice eigenfrequency {k + 1}", f, ref, 1e-6, unit="Hz", source=CHAIN))
    free, damped = ringing(0.0), ringing(0.01)
    for k, ref in enumerate(chain):
        bins = (peak_near(free, ref) - ref) / free.bin_width
        rows.append(bounded(CASE, f"undamped peak {k + 1}, off in bins", bins, 1.0, unit="bins", source=CHAIN))
    for k, ref in enumerate(chain):
        f = peak_near(damped, ref)
        rows.append(compare(CASE, f"peak {k + 1}, bond damping 0.01", f, ref, 0.01, unit="Hz", source=CHAIN))
    for k, (f, ref) in enumerate(zip(beam_frequencies(20e-3), PRINTED_MASS_SPRING)):
        source = TABLE.format("mass/spring")
        rows.append(compare(CASE, f"mode {k + 1}, eq. 41 with L = 20 mm", f, ref, 1e-3, unit="Hz", source=source))
    for k, (f, ref) in enumerate(zip(chain_frequencies(20), PRINTED_ANALYTICAL)):
        source = TABLE.format("analytical")
        rows.append(compare(CASE, f"mode {k + 1}, chain of 20 links", f, ref, 0.015, unit="Hz", source=source))
    return rows


def picture(path: Path) -> None:
    """The spectrum of the tip, as [HL12, figure 5], with the chain's frequencies and the source's two columns."""
    figure, axes = make_figure(11.0, 6.0)
    ax = axes[0, 0]
    folded = f" (small lines: modes above {0.5e-3 / (EVERY * DT):.0f} kHz, folded)"
    for colour, zeta, note in ((GREY, 0.0, folded), (COLOURS[0], 0.01, "")):
        found = ringing(zeta)
        shown = (found.frequency > 100) & (found.frequency < 40_000)
        size = found.size[shown] / found.size.max()
        ax.semilogy(
            1e-3 * found.frequency[shown], size, color=colour, lw=1.1, label=f"tip, bond damping {zeta:g}{note}"
        )
    top = 8.0
    for values, colour, style, label in (
        (chain_frequencies(19), INK, ":", "chain of 19 links: 20 voxels, the first held"),
        (PRINTED_ANALYTICAL, COLOURS[1], "-", "table 2, printed as analytical (the source's simulation)"),
        (PRINTED_MASS_SPRING, COLOURS[3], "--", "table 2, printed as mass/spring (eq. 41, L = 20 mm)"),
    ):
        ax.vlines(1e-3 * np.array(values), 1e-9, top, color=colour, ls=style, lw=1.1, label=label)
    ax.set(xlim=(0, 38), ylim=(3e-8, top), xlabel="frequency [kHz]", ylabel="size of the transform, largest 1")
    ax.set_title("Ringing of a beam of 20 voxels, E/rho = 1e6 m²/s²", fontsize=11, loc="left")
    ax.legend(fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, frameon=False)
    save_figure(figure, path)


CASES = {CASE: spectrum}
PICTURES = {CASE: picture}
