"""voxel/implicit: lattices under the general solvers: statics, implicit Euler at large steps, modes under tension.

A chain of Bernoulli beams is exact at its nodes: under the weights m g of voxels at distances x_i from the held one,

    tip = sum_i m g x_i² (3 L - x_i) / (6 E I),    I = l⁴/12

A beam supported at both ends and pulled by T has the frequencies of a beam that is also a string,

    f_n = n² pi / (2 L²) sqrt(E I / m') sqrt(1 + T L² / (n² pi² E I))
"""

from __future__ import annotations

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.scene import System
from supple.scene.acting.system_filter import SystemFilter
from supple.scene.state import State
from supple.solvers import ImplicitEuler, solve_statics, vibration_modes
from supple.validation.row import Row, bounded, compare
from supple.validation.voxel.blocks import block, held_system, layer

Array = np.ndarray
CASE = "voxel/implicit"
G = 9.81
LARGER = 200  # implicit steps over the largest explicit one
SIZE = 0.01  # [m]


def residual(body: VoxelBody, held: Array, x: Array) -> float:
    """Forces that do not balance, over the weight: summed here from the links and gravity."""
    f = np.zeros((body.model.voxel_count, 6))
    body.lattice_force.add_force(LocalState(0.0, x, np.zeros_like(f)), f)
    weight = body.model.mass * G
    f[:, 2] -= weight
    f[held] = 0.0
    f[:, 3:] /= SIZE
    return float(np.linalg.norm(f) / np.linalg.norm(weight))


def statics() -> list[Row]:
    """A soft beam that hangs down: does Newton's solution balance? A stiff one: does it bend as beams do?"""
    soft = block((20, 2, 2), size=SIZE, young=1e5)
    held = layer(soft, 0, 0)
    state = solve_statics(held_system(soft, held, gravity=(0, 0, -G)), tolerance=1e-10, load_steps=4)
    x = state.x.reshape(-1, 7)
    sag = float(soft.model.centres[-1, 2] - x[-1, 2]) / (20 * SIZE)
    stiff = block((20, 1, 1), size=SIZE, young=1e9)
    bent_frames = solve_statics(held_system(stiff, [0], gravity=(0, 0, -G)), tolerance=1e-8).x.reshape(-1, 7)
    at, length = SIZE * np.arange(1, 20), 19 * SIZE
    expected = float(np.sum(stiff.model.mass[1:] * G * at**2 * (3 * length - at)) / (6 * 1e9 * SIZE**4 / 12))
    bent = float(stiff.model.centres[-1, 2] - bent_frames[-1, 2])
    return [
        bounded(
            CASE, f"statics, sag {sag:.2f} of the length: forces left", residual(soft, held, x), 1e-8, source="f = 0"
        ),
        compare(CASE, "statics, E = 1 GPa, tip", bent, expected, 1e-4, unit="m", source="beam theory"),
    ]


def large_steps() -> list[Row]:
    """A stiff, straight beam released under gravity, stepped far beyond the explicit limit until it rests."""
    body = block((20, 2, 2), size=SIZE, young=1e9, bond_damping=0.1)
    held = layer(body, 0, 0)
    system = held_system(body, held, gravity=(0, 0, -G))
    rest = solve_statics(system, tolerance=1e-8).x.reshape(-1, 7)
    dt = LARGER * body.stable_step(held=held, safety=1.0)
    solver, state = ImplicitEuler(dt=dt), system.initial_state()
    for _ in range(400):
        solver.step(system, state)
    deflection = float(body.model.centres[-1, 2] - rest[-1, 2])
    value = float(body.model.centres[-1, 2] - state.x.reshape(-1, 7)[-1, 2])
    what = f"implicit Euler, E = 1 GPa, {LARGER} explicit steps each, tip"
    return [compare(CASE, what, value, deflection, 1e-3, unit="m", source="statics")]


def supported(body: VoxelBody, tension: float) -> System:
    """A chain held at both ends but free to bend there, and to move along x at the last; pulled by a force [N]."""
    n = body.model.voxel_count
    load = np.zeros((n, 6))
    load[-1, 0] = tension
    system = held_system(body, [], load=load)
    blocks = np.array([0, 1, 2 * (n - 1)])  # the first's position and rotation, the last's position
    free = np.array([np.zeros((3, 3)), np.diag([0.0, 1.0, 1.0]), np.diag([1.0, 0.0, 0.0])])
    start = np.zeros((3, 3))
    start[0::2] = system.x0.reshape(-1, 7)[[0, -1], :3]
    system.filter = SystemFilter(blocks, free, np.array([0, -1, 7 * (n - 1)]), start, (), ())
    return system


def pulled_frequencies(body: VoxelBody, tension: float) -> tuple[Array, State]:
    """The two lowest frequencies of bending along z [Hz] about the pulled equilibrium, and that state."""
    system = supported(body, tension)
    state = solve_statics(system, tolerance=1e-10) if tension else system.initial_state()
    modes = vibration_modes(system, 12, state=state)
    along_z = np.sum(modes.shapes.reshape(12, -1, 6)[:, :, 2] ** 2, axis=1) * body.model.mass[0]
    along_y = np.sum(modes.shapes.reshape(12, -1, 6)[:, :, 1] ** 2, axis=1) * body.model.mass[0]
    return modes.frequencies[along_z + along_y > 0.5][::2][:2], state


def tension() -> list[Row]:
    """Frequencies of a chain of 40 voxels, at rest and pulled."""
    body = block((40, 1, 1), size=SIZE, young=1e6)
    length, EI, line = 39 * SIZE, 1e6 * SIZE**4 / 12, 1000.0 * SIZE**2
    rows = []
    for share in (0.0, 3.0):
        pull = share * np.pi**2 * EI / length**2
        found, _ = pulled_frequencies(body, pull)
        for n, f in enumerate(found, start=1):
            expected = n**2 * np.pi / (2 * length**2) * np.sqrt(EI / line) * np.sqrt(1 + share / n**2)
            what = f"mode {n} of a supported beam, T = {share:g} pi² E I / L²"
            rows.append(compare(CASE, what, f, expected, 0.01, unit="Hz", source="beam and string"))
    return rows


def run() -> list[Row]:
    """Statics, large steps, modes about a deformed state."""
    return [*statics(), *large_steps(), *tension()]


CASES = {CASE: run}
