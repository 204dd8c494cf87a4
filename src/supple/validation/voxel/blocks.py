"""Voxel lattices: the link's derivatives and balance, and the momentum of a free block; bodies for the other cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.elastic import LatticeForce
from supple.bodies.voxel.mass import CubeMass
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import Scene, System, check_derivatives
from supple.scene.acting.system_filter import SystemFilter
from supple.validation.row import Row, bounded

Array = np.ndarray


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
    sweep.advance(body.stable_step(safety=0.5, staged=False), 10_000)
    sweep.save(x, v)
    after = mass.momentum(LocalState(0.0, x, v))
    drift = np.abs(after - before)
    linear, angular = (float(drift[part].max() / np.linalg.norm(before[part])) for part in (slice(3), slice(3, 6)))
    return [
        bounded(case, "linear momentum, drift", linear, 1e-10, source="conservation"),
        bounded(case, "angular momentum, drift", angular, 1e-10, source="conservation"),
    ]


CASES = {"voxel/link": link, "voxel/momentum": momentum}
