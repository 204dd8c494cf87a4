"""Voxel lattices: the link's derivatives and balance, cantilevers of the source, momentum, and a beam's spectrum.

The lattice is a solid with Poisson's ratio zero between the centres of its voxels: the thin beam's free length is 19
voxels. Tip loads are shared by the voxels of the last layer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra import rotations
from supple.algebra.direct import DirectSolver
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.elastic import LatticeForce
from supple.bodies.voxel.mass import CubeMass
from supple.bodies.voxel.sweep import LatticeSweep
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import Scene, System, check_derivatives
from supple.scene.system_filter import SystemFilter
from supple.solvers import solve_statics, vibration_modes
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
SOURCE = "Hiller and Lipson 2012, table 1"
LATTICE = "the lattice's own linear assembly"


def block(shape: tuple[int, int, int], *, size: float = 1e-3, **material: float) -> VoxelBody:
    """A solid block of one material: E = 1 MPa, 1000 kg/m³, undamped unless told."""
    plain = VoxelMaterial(young=1e6, density=1000.0, bond_damping=0.0)
    return VoxelBody(VoxelGrid(np.ones(shape, dtype=int), size), replace(plain, **material))  # type: ignore[arg-type]


def layer(body: VoxelBody, axis: int, index: int) -> Array:
    """Numbers of the voxels in a layer."""
    return np.flatnonzero(body.grid.voxels[:, axis] == index % body.grid.shape[axis])


class TipLoad:
    """Given forces (n, 6) on the voxels."""

    is_load = True

    def __init__(self, forces: Array) -> None:
        self.forces = forces

    def values(self, t: float) -> Array:
        """Forces at a time, on the positions' columns."""
        return np.hstack([self.forces[:, :3], np.zeros((len(self.forces), 4))])

    def energy(self, state: LocalState) -> float:
        """Potential [J]."""
        return -float(np.sum(self.forces[:, :3] * state.x[:, :3]))

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += given forces."""
        f_out += self.forces

    def linearize(self, state: LocalState, *, definite: bool = False) -> TipLoad:
        """No derivatives."""
        return self

    def block_pattern(self) -> tuple[Array, Array]:
        """No blocks."""
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """Nothing."""

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Nothing."""


def held_system(
    body: VoxelBody, held: ArrayLike, *, gravity: ArrayLike = (0, 0, 0), load: Array | None = None
) -> System:
    """A system of one lattice with some voxels held in place and orientation."""
    scene = Scene(gravity=np.asarray(gravity, dtype=float))  # type: ignore[arg-type]
    node = scene.add(body, name="lattice")
    if load is not None:
        scene.add(TipLoad(load), on=node, name="tip load")
    system = scene.compile()
    index = np.asarray(held, dtype=np.int64)
    blocks = np.stack([2 * index, 2 * index + 1], axis=1).ravel()
    at = np.stack([7 * index, np.full(len(index), -1)], axis=1).ravel()
    start = np.zeros((len(blocks), 3))
    start[0::2] = system.x0.reshape(-1, 7)[index, :3]
    system.filter = SystemFilter(blocks, np.zeros((len(blocks), 3, 3)), at, start, (), ())
    return system


def cantilever(shape: tuple[int, int, int], force: float) -> tuple[VoxelBody, System]:
    """A beam along x, first layer held, with a force [N] along -z on the last layer."""
    body = block(shape)
    load = np.zeros((body.model.voxel_count, 6))
    tip = layer(body, 0, -1)
    load[tip, 2] = -force / len(tip)
    return body, held_system(body, layer(body, 0, 0), load=load)


def linear_deflection(system: System) -> Array:
    """Deflection along -z of the linear lattice [m], (n,)."""
    state = system.initial_state()
    lin = system.linearize(system.propagate(0.0, state.x, state.v))
    free = np.ones(system.v_size, dtype=bool)
    free.reshape(-1, 3)[system.filter.blocks] = False
    K = -lin.matrix(stiffness=1.0)[free][:, free]
    d = np.zeros(system.v_size)
    d[free] = DirectSolver(K).solve(lin.force[free]).x
    return -d.reshape(-1, 6)[:, 2]


def nonlinear_deflection(system: System) -> Array:
    """Deflection along -z at equilibrium [m], (n,)."""
    state = solve_statics(system, tolerance=1e-9)
    return system.x0.reshape(-1, 7)[:, 2] - state.x.reshape(-1, 7)[:, 2]


def beams() -> list[Row]:
    """Tip deflections of the source's thin and thick cantilevers."""
    case, rows = "voxel/beams", []
    for name, shape, force, linear, nonlinear, limit in (
        ("thin 20x1x1", (20, 1, 1), 3e-5, 0.8231, 0.8215, 1e-3),
        ("thick 10x5x5", (10, 5, 5), 0.1, 0.5461, 0.5438, 3e-3),
    ):
        body, system = cantilever(shape, force)
        tip = layer(body, 0, -1)
        largest = 1e3 * float(linear_deflection(system).max())
        rows.append(compare(case, f"{name}, linear, largest", largest, linear, 1e-4, unit="mm", source=SOURCE))
        mean = 1e3 * float(nonlinear_deflection(system)[tip].mean())
        rows.append(compare(case, f"{name}, nonlinear, tip mean", mean, nonlinear, limit, unit="mm", source=LATTICE))
    return rows


def random_lattice(seed: int = 0) -> tuple[LatticeForce, Array, Array]:
    """A small lattice of unlike links with rotations of about a radian between voxels, and velocities."""
    rng = np.random.default_rng(seed)
    palette = [
        VoxelMaterial(young=1e6, density=1000, poisson=0.3, bond_damping=0.3),
        VoxelMaterial(young=3e5, density=500, poisson=0.1, bond_damping=0.1),
    ]
    body = VoxelBody(VoxelGrid(rng.integers(1, 3, (3, 2, 2)), 0.01), palette)
    force, n = body.lattice_force, body.model.voxel_count
    links = force.links._replace(
        stiffness=force.links.stiffness * rng.uniform(0.5, 2.0, force.links.stiffness.shape),
        rest=force.links.rest * rng.uniform(0.8, 1.2, len(force.links.rest)),
    )
    x = body.model.rest_frames.copy()
    x[:, :3] += 2e-3 * rng.normal(size=(n, 3))
    x[:, 3:] = rotations.exp(rng.uniform(-0.5, 0.5, size=(n, 3)))
    v = rng.normal(size=(n, 6)) * np.repeat([0.1, 10.0], 3)
    return LatticeForce(links, n, force.unit), x, v


def net_load(x: Array, f: Array) -> tuple[float, float]:
    """Sum of forces and of moments about the origin, each relative to the sum of the sizes of its terms."""
    moments = np.concatenate([rotations.cross(x[:, :3], f[:, :3]), rotations.rotate(x[:, 3:], f[:, 3:])])
    size = np.linalg.norm(f[:, :3], axis=1).sum(), np.linalg.norm(moments, axis=1).sum()
    return float(np.linalg.norm(f[:, :3].sum(axis=0)) / size[0]), float(np.linalg.norm(moments.sum(axis=0)) / size[1])


def link() -> list[Row]:
    """Force, tangent and damping by differences; net force and torque."""
    case = "voxel/link"
    force, x, v = random_lattice()
    rows = [
        bounded(case, name, error, 1e-7, source="central differences")
        for name, error in check_derivatives(force, x, v).errors.items()
    ]
    f = np.zeros_like(v)
    force.add_force(LocalState(0.0, x, v), f)
    net_force, net_torque = net_load(x, f)
    rows.append(bounded(case, "net force", net_force, 1e-13, source="balance"))
    rows.append(bounded(case, "net torque", net_torque, 1e-13, source="balance"))
    return rows


def momentum() -> list[Row]:
    """Drift of the momentum of a free, tumbling, undamped block over 10,000 steps."""
    case = "voxel/momentum"
    body = block((4, 3, 5))
    n = body.model.voxel_count
    rng = np.random.default_rng(1)
    x, v = body.model.rest_frames.copy(), np.zeros((n, 6))
    x[:, :3] += 2e-5 * rng.normal(size=(n, 3))
    spin = np.array([30.0, -20.0, 50.0])
    v[:, :3] = np.array([0.1, -0.05, 0.02]) + np.cross(spin, x[:, :3] - x[:, :3].mean(axis=0))
    v[:, 3:] = spin
    sweep = LatticeSweep.make(body.model)
    sweep.load(x, v)
    mass = CubeMass(body.model.mass, body.model.inertia)
    before = mass.momentum(LocalState(0.0, x, v))
    sweep.advance(body.stable_step(safety=0.5), 10_000)
    sweep.save(x, v)
    after = mass.momentum(LocalState(0.0, x, v))
    drift = np.abs(after - before)
    linear, angular = (float(drift[part].max() / np.linalg.norm(before[part])) for part in (slice(3), slice(3, 6)))
    return [
        bounded(case, "linear momentum, drift", linear, 1e-10, source="conservation"),
        bounded(case, "angular momentum, drift", angular, 1e-10, source="conservation"),
    ]


BEAM_FREQUENCIES = (424.6, 2649.0, 7356.0, 14235.0, 23150.0, 33902.0)  # Hz, E/rho = 1e6 m²/s², 20 voxels of 1 mm


def spectrum() -> list[Row]:
    """Peaks of an undamped beam's ringing against the lattice's eigenfrequencies, within one bin of the transform.

    The explicit step lowers a frequency f as sin(pi f dt) = pi f_lattice dt; this known shift is taken out.
    """
    case = "voxel/spectrum"
    body = block((20, 1, 1), young=1e6, density=1.0)
    modes = vibration_modes(held_system(body, [0]), 20)
    sideways = modes.shapes.reshape(len(modes.shapes), -1, 6)[:, :, 1:3]
    is_bending = body.model.mass[0] * np.sum(sideways**2, axis=(1, 2)) > 0.1  # part of the kinetic energy
    own = modes.frequencies[is_bending][::2][: len(BEAM_FREQUENCIES)]  # each occurs along y and along z
    rows = [
        compare(case, f"lattice eigenfrequency {k + 1}", f, ref, 5e-4, unit="Hz", source="docs/voxels.md")
        for k, (f, ref) in enumerate(zip(own, BEAM_FREQUENCIES))
    ]
    sweep = LatticeSweep.make(body.model, held=[0])
    dt, every, samples = 2.0e-7, 32, 20_000
    x, v = body.model.rest_frames.copy(), np.zeros((20, 6))
    v[-1, 2] = 1e-3
    sweep.load(x, v)
    signal = np.empty(samples)
    for k in range(samples):
        sweep.advance(dt, every)
        signal[k] = sweep.component(2)[-1]
    window = np.hanning(samples)
    power = np.abs(np.fft.rfft((signal - signal.mean()) * window))
    bin_width = 1.0 / (samples * every * dt)
    frequency = np.fft.rfftfreq(samples, every * dt)
    for k, ref in enumerate(own):
        near = np.abs(frequency - ref) < 0.03 * ref
        peak = float(frequency[near][np.argmax(power[near])])
        unshifted = float(np.sin(np.pi * peak * dt) / (np.pi * dt))
        row = bounded(
            case, f"peak {k + 1}, distance in bins", (unshifted - ref) / bin_width, 1.0, unit="bins", source=LATTICE
        )
        rows.append(row)
    return rows


CASES = {
    "voxel/beams": beams,
    "voxel/link": link,
    "voxel/momentum": momentum,
    "voxel/spectrum": spectrum,
}
