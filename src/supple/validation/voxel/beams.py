"""voxel/beams: cantilevers of the source, linear and at equilibrium, beside the direct stiffness method.

The lattice is a solid with Poisson's ratio zero between the centres of its voxels: the thin beam's free length is 19
voxels. Tip loads are shared by the voxels of the last layer. The nonlinear thick beam deflects by 0.539 mm (lowest
layer) to 0.551 mm (highest); the source gives one number, 0.538 mm, and does not say of which voxel. The mean of the
tip is compared with it within that span, 2.2 %.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.algebra.sparse.direct import DirectSolver
from supple.bodies.voxel import VoxelBody
from supple.scene import System
from supple.solvers import solve_statics
from supple.validation.figure import GREY, INK, make_figure, save_figure
from supple.validation.row import Row, compare
from supple.validation.voxel.blocks import block, held_system, layer

Array = np.ndarray
CASE = "voxel/beams"
DIRECT = "Hiller and Lipson 2012, table 1, direct stiffness"
PUBLISHED = "Hiller and Lipson 2012, table 1, mass/spring"
ENERGY = "another implementation of the link"
BEAMS = (
    # name, shape, force [N], direct stiffness [mm], equilibrium [mm] and limit, published [mm] and limit
    ("thin 20x1x1", (20, 1, 1), 3e-5, 0.8231, (0.8215, 1e-3), (0.822, 1e-3)),
    ("thick 10x5x5", (10, 5, 5), 0.1, 0.5461, (0.5438, 3e-3), (0.538, 0.022)),
)


def cantilever(shape: tuple[int, int, int], force: float) -> tuple[VoxelBody, System]:
    """A beam along x, first layer held, with a force [N] along -z on the last layer."""
    body = block(shape)
    load = np.zeros((body.model.voxel_count, 6))
    tip = layer(body, 0, -1)
    load[tip, 2] = -force / len(tip)
    return body, held_system(body, layer(body, 0, 0), load=load)


def linear_motion(system: System) -> Array:
    """Displacements [m] and rotations [rad] of the linear lattice, (n, 6)."""
    state = system.initial_state()
    lin = system.linearize(system.propagate(0.0, state.x, state.v))
    free = np.ones(system.v_size, dtype=bool)
    free.reshape(-1, 3)[system.filter.blocks] = False
    K = -lin.matrix(stiffness=1.0)[free][:, free]
    d = np.zeros(system.v_size)
    d[free] = DirectSolver(K).solve(lin.force[free]).x
    return d.reshape(-1, 6)


def equilibrium(system: System) -> Array:
    """Frames at equilibrium, (n, 7)."""
    return solve_statics(system, tolerance=1e-9).x.reshape(-1, 7)


def beams() -> list[Row]:
    """Tip deflections of the source's thin and thick cantilevers."""
    rows = []
    for name, shape, force, linear, (nonlinear, limit), (published, apart) in BEAMS:
        body, system = cantilever(shape, force)
        largest = 1e3 * float(-linear_motion(system)[:, 2].min())
        mean = 1e3 * float((body.model.centres - equilibrium(system)[:, :3])[layer(body, 0, -1), 2].mean())
        tip = f"{name}, nonlinear, tip mean"
        rows += [
            compare(CASE, f"{name}, linear, largest", largest, linear, 1e-4, unit="mm", source=DIRECT),
            compare(CASE, tip, mean, nonlinear, limit, unit="mm", source=ENERGY),
            compare(CASE, tip, mean, published, apart, unit="mm", source=PUBLISHED),
        ]
    return rows


def draw_side(ax: Any, body: VoxelBody, x: Array, *, title: str) -> Any:
    """The outermost slice of voxels as squares in the plane (x, z), coloured by deflection [mm]."""
    from matplotlib.collections import PolyCollection

    side = layer(body, 1, 0)
    half = 0.5 * body.grid.voxel_size
    corners = half * np.array([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)], dtype=float)
    squares = np.stack([x[side, :3] + rotations.rotate(x[side, 3:], np.tile(c, (len(side), 1))) for c in corners], 1)
    deflection = 1e3 * (body.model.centres[side, 2] - x[side, 2])
    rest = np.stack([body.model.centres[side] + c for c in corners], 1)
    ax.add_collection(PolyCollection(list(1e3 * rest[:, :, [0, 2]]), facecolor="none", edgecolor=GREY, linewidth=0.3))
    shown = PolyCollection(
        list(1e3 * squares[:, :, [0, 2]]), array=deflection, cmap="viridis", edgecolor="white", lw=0.4
    )
    shown.set_clim(0.0, deflection.max())
    ax.add_collection(shown)
    ax.autoscale_view()
    ax.set_aspect("equal")
    ax.set_title(title, fontsize=10, loc="left")
    ax.set_xlabel("x [mm]", fontsize=9)
    ax.set_ylabel("z [mm]", fontsize=9)
    return shown


def picture(path: Path) -> None:
    """The deflected lattices beside the direct stiffness method, as in [HL12, figure 4], and the tips' layers."""
    figure, axes = make_figure(11.0, 5.0, rows=2, columns=2, heights=(0.45, 1.0))
    for row, (name, shape, force, *_) in zip(axes, BEAMS):
        body, system = cantilever(shape, force)
        d, x = linear_motion(system), equilibrium(system)
        straight = np.hstack([body.model.centres + d[:, :3], rotations.exp(d[:, 3:])])
        tip = layer(body, 0, -1)
        for ax, frames, method in ((row[0], straight, "direct stiffness, linear"), (row[1], x, "lattice, nonlinear")):
            mean = 1e3 * float((body.model.centres - frames[:, :3])[tip, 2].mean())
            shown = draw_side(ax, body, frames, title=f"{name}, {method}: tip {mean:.4f} mm")
        figure.colorbar(shown, ax=list(row), label="deflection [mm]", pad=0.01, aspect=12)
    figure.suptitle("Cantilevers of voxels of 1 mm, E = 1 MPa; grey: at rest", fontsize=11, color=INK)
    save_figure(figure, path)


CASES = {CASE: beams}
PICTURES = {CASE: picture}
