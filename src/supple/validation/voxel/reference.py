"""voxel/peer: static beams, a falling block and a clapper that another program, Voxelyze, computed.

Its files (what to compute, and what came out) are looked for as `reference_forces` says; without them the case is
left out. Its rules differ from ours, so the same quantity is measured on both paths:

    touching        it: spheres of 1.25 sizes; ours: of one size. First contact is when the tips come within 1.25
                    sizes, found from both paths by the same extrapolation of the last three records before it; the
                    smallest gap is counted in distances at which the program in question lets voxels touch.
    floor           the same stiffness 2 E l and damping; its damper also pulls a voxel that leaves, ours never.
    steps           its step with critical bond damping is beyond the limit of our damping, which has the couples that
                    balance it: we take quarters of it, and record at the same times.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supple.bodies.voxel import Actuation, Collision, VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Plane
from supple.material.voxel import VoxelMaterial
from supple.validation.reference_forces import reference_file
from supple.validation.row import Row, bounded, compare
from supple.validation.voxel.beams import BEAMS, cantilever, equilibrium
from supple.validation.voxel.spectrum import peak_near, ringing

Array = np.ndarray
CASE = "voxel/peer"
PEER = "Voxelyze @4287e36"
FINER = 4  # our steps in one of theirs
REACH = 1.25  # distance of touching voxels over their mean size, in the other program


class Job(NamedTuple):
    """What to compute (`spec`), what came out, a row a record (`rows`), and our body of it."""

    spec: dict[str, Any]
    rows: Array
    body: VoxelBody

    def number(self, cell: list[int]) -> int:
        """Number of the voxel in a cell."""
        return int(np.flatnonzero((self.body.grid.voxels == cell).all(axis=1))[0])

    @property
    def held(self) -> list[int]:
        """Numbers of the voxels that do not move."""
        return [self.number(cell) for cell in self.spec["fixed_all_dof"]]


def read_job(folder: Path, name: str) -> Job:
    """Read a specification and its result."""
    spec = json.loads((folder / f"{name}.spec.json").read_text())
    rows = np.array(json.loads((folder / f"{name}.traj.json").read_text())["rows"])
    grid = spec["grid"]
    numbers = np.array(grid["data"]).reshape(grid["nz"], grid["ny"], grid["nx"]).transpose(2, 1, 0) + 1
    palette = [
        VoxelMaterial(
            young=m["E"],
            density=m["density"],
            poisson=m["nu"],
            expansion=m["cte"],
            static_friction=m["mu_static"],
            kinetic_friction=m["mu_kinetic"],
            bond_damping=m["zeta_internal"],
            ground_damping=m["zeta_global"],
            contact_damping=m["zeta_collision"],
        )
        for m in spec["materials"]
    ]
    swings = {(m["temperature"]["amplitude"], m["temperature"]["frequency_hz"]) for m in spec["materials"]} - {(0, 0)}
    actuation = Actuation(*swings.pop()) if swings else None
    return Job(spec, rows, VoxelBody(VoxelGrid(numbers, spec["voxel_size"]), palette, actuation=actuation))


def sweep_of(job: Job, **options: Any) -> LatticeSweep:
    """The job's body at rest."""
    return LatticeSweep.make(job.body.model, held=job.held, swing=job.body.swing, **options)


def heights(job: Job) -> Array:
    """Heights of the voxels above where they touch the floor [m], after every step of the other program, (steps, n)."""
    spec = job.spec
    sweep, dt = sweep_of(job, planes=[Plane()]), spec["dt"] / FINER
    found = np.empty((round(float(job.rows[-1, 0]) / spec["dt"]), job.body.model.voxel_count))
    for row in found:
        sweep.advance(dt, FINER, gravity=(0, 0, spec["gravity"]))
        row[:] = sweep.component(2) - 0.5 * spec["voxel_size"]
    return found


def first_below(spec: dict[str, Any], rows: Array) -> int:
    """The step after which the other program's block is below the floor: its last free record, fallen on."""
    lowest = 13  # column of the height of a tracked voxel of the lowest layer
    last = int(np.argmax(rows[:, lowest] < 0)) - 1
    n, z, v = last * spec["record_every"], float(rows[last, lowest]), float(rows[last, 6])
    while z >= 0:
        v += spec["gravity"] * spec["dt"]
        z += v * spec["dt"]
        n += 1
    return n


def drop_block(folder: Path) -> list[Row]:
    """First contact, bounce and rest of a block that falls on the floor."""
    job = read_job(folder, "drop_block")
    spec, rows = job.spec, job.rows
    l, path = spec["voxel_size"], heights(job)
    theirs, ours = first_below(spec, rows), 1 + int(np.argmax(path.min(axis=1) < 0))
    up = int(np.argmax(rows[:, 6] > 0.1))  # the first record on the way up
    turn = up + int(np.argmax(rows[up:, 6] < 0))  # free flight in between
    their_apex = float(rows[turn, 3] + rows[turn, 6] ** 2 / (2 * abs(spec["gravity"])))
    centre = path.mean(axis=1)
    bounced = ours + int(np.argmax(path[ours:].min(axis=1) > 0.1 * l))
    landed = bounced + int(np.argmax(path[bounced:].min(axis=1) < 0))
    our_apex, rest, their_rest = float(centre[bounced:landed].max()), float(centre[-1]), float(rows[-1, 3])
    name = "falling block"
    return [
        bounded(CASE, f"{name}, first contact, off in steps", ours - theirs, 1.0, unit="steps", source=PEER),
        compare(CASE, f"{name}, bounce", our_apex - rest, their_apex - their_rest, 0.1, unit="m", source=PEER),
        bounded(CASE, f"{name}, rest, off in voxels", (rest - their_rest) / l, 0.02, unit="voxels", source=PEER),
    ]


def contact_time(t: Array, distance: Array) -> float:
    """When a distance over its touching value comes to 1: the parabola through the last three records before it."""
    k = int(np.argmax(distance < 1.05))
    fit = np.polynomial.Polynomial.fit(t[k - 3 : k], distance[k - 3 : k] - 1.0, 2)
    later = [float(r.real) for r in fit.roots() if abs(r.imag) < 1e-12 and r.real > t[k - 1]]
    return min(later, default=float("nan"))


def clap(folder: Path) -> list[Row]:
    """First contact of two arms that bend towards each other, and how near their tips come."""
    job = read_job(folder, "clapper")
    spec, rows = job.spec, job.rows[:-1]  # the last record is off the beat
    tips = [job.number(cell) for cell in spec["tracked_voxels"][:2]]
    sweep, swing = sweep_of(job, collision=Collision()), job.body.swing
    assert swing is not None
    x, v = job.body.model.rest_frames.copy(), np.zeros((job.body.model.voxel_count, 6))
    ours = [np.linalg.norm(x[tips[1], :3] - x[tips[0], :3])]
    for _ in rows[1:]:
        sweep.advance(spec["dt"] / FINER, spec["record_every"] * FINER)
        sweep.save(x, v)
        ours.append(np.linalg.norm(x[tips[1], :3] - x[tips[0], :3]))
    t = rows[:, 0]
    size = np.array([swing.sizes(time)[tips].mean() for time in t])
    our_distance, their_distance = np.array(ours) / size, np.linalg.norm(rows[:, 14:17] - rows[:, 11:14], axis=1) / size
    our_time, their_time = contact_time(t, our_distance / REACH), contact_time(t, their_distance / REACH)
    gap, their_gap = float(our_distance.min()), float(their_distance.min()) / REACH
    return [
        compare(CASE, "clapper, tips within 1.25 sizes", our_time, their_time, 0.05, unit="s", source=PEER),
        compare(CASE, "clapper, smallest gap over touching", gap, their_gap, 0.05, unit="-", source=PEER),
    ]


def beams(folder: Path) -> list[Row]:
    """Largest deflections of the loaded cantilevers, and the peaks of the thin one's ringing."""
    rows = []
    for name, shape, force, _, (_, limit), _ in BEAMS:
        result = json.loads((folder / f"static_{name.replace(' ', '_')}.result.json").read_text())
        body, system = cantilever(shape, force)
        largest = 1e3 * float((body.model.centres - equilibrium(system)[:, :3])[:, 2].max())
        expected = result["max_deflection_z_mm"]
        rows.append(compare(CASE, f"{name}, largest deflection", largest, expected, limit, unit="mm", source=PEER))
    peaks = json.loads((folder / "vibration_peaks.json").read_text())["vibration_20x1x1_rho1"]["peaks_hz"]
    for k, f in enumerate(peaks):
        own = peak_near(ringing(0.01), f)
        rows.append(compare(CASE, f"peak {k + 1}, bond damping 0.01", own, f, 0.01, unit="Hz", source=PEER))
    return rows


def run() -> list[Row]:
    """All of it."""
    folder = reference_file(CLAPPER).parent
    return [*beams(folder), *drop_block(folder), *clap(folder)]


CLAPPER = "voxel/clapper.traj.json"
CASES = {CASE: run}
NEEDS = {CASE: CLAPPER}
