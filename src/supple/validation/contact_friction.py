"""Friction of every two kinds of bodies, and of each on a floor: a flat block on a slab that is held from below.

    holds       tan a = 0.99 mu_s: it does not creep
    slides      tan a = 1.01 mu_s, with g (sin a - mu cos a)
    slows down  on the level, with mu g

The slope grows step by step, as gravity leans: a block that is put on a slope falls into the springs of its contacts.
What is put on at once acts up to twice as it swings, so that no step is more than half of what is left to the limit.
The block is a third as high as long, so that it does not tip. Particles are balls, which do not turn; on each other one
ball lies on the top of another of ten metres, since beds of balls interlock. mu_s is the same as mu where voxels touch
bodies, which have one coefficient there; else it is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.floating import FloatingBody
from supple.bodies.layered import LayeredBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeBody
from supple.bodies.voxel import VoxelBody
from supple.contact import Contact, Floor
from supple.geometry import TetMesh, VoxelGrid, box_tets
from supple.material.voxel import VoxelMaterial
from supple.modal import ElasticSolid
from supple.scene import Scene
from supple.scene.slots import Slot
from supple.solvers import Partitioned
from supple.validation.contact_kinds import DENSITY, KINDS, RUBBER, SIDE, G, momenta
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
HIGH = SIDE / 3  # of the block
BALL = 10.0  # radius of the ball below a ball [m]
DT, SPEED = 0.002, 0.6
ONE, STATIC, KINETIC = 0.5, 0.6, 0.4
LEANING = (0.25, 0.5, 0.75, 0.87, 0.93, 0.96, 0.98)
"""Parts of the slope that is held, in which it grows to 0.99 of it."""
PAIRS = [*(("floor", kind) for kind in KINDS), *combinations_with_replacement(KINDS, 2)]
"""Who lies below whom."""


def tets(size: tuple[float, float, float], cells: tuple[int, int, int]) -> TetMesh:
    """A box whose upper face has its middle at the origin."""
    mesh = box_tets(size=size, cells=cells)
    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    return TetMesh(mesh.nodes - (*(low + high)[:2] / 2, high[2]), mesh.tets)


def voxels(count: tuple[int, int, int]) -> VoxelBody:
    """Voxels below the origin."""
    grid = VoxelGrid(np.ones(count, dtype=int), HIGH, origin=-HIGH * np.array([count[0] / 2, count[1] / 2, count[2]]))
    return VoxelBody(grid, VoxelMaterial(1e6, density=DENSITY, bond_damping=1.0))


def balls(count: tuple[int, int, int]) -> Particles:
    """Balls below the origin, with springs to their neighbours."""
    lines = [HIGH * (np.arange(n) - 0.5 * (n - 1)) for n in count[:2]] + [-HIGH * (np.arange(count[2]) + 0.5)]
    X = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
    near = np.linalg.norm(X[:, None] - X[None], axis=2) < 2.3 * HIGH
    springs = np.argwhere(np.triu(near, 1))
    return Particles(X, DENSITY * HIGH**3, radius=HIGH / 2, springs=springs, stiffness=1e5, damping=20.0)


def domain(mesh: TetMesh, held: Array) -> TreeBody:
    """A tree of one domain."""
    kind = DomainTemplate("one", mesh, RUBBER, 8, held=held)
    return TreeBody(DomainTree({"one": kind}, [Domain("one")]), stiffness_damping=0.005)


def block(kind: str) -> Any:
    """A block below the origin."""
    size, mesh = (SIDE, SIDE, HIGH), tets((SIDE, SIDE, HIGH), (3, 3, 1))
    made: dict[str, Callable[[], Any]] = {
        "rigid": lambda: RigidBody.box(size, density=DENSITY),
        "fem": lambda: FemBody(mesh, RUBBER),
        "floating": lambda: FloatingBody.from_solid(ElasticSolid(mesh, RUBBER), modes=8),
        "voxel": lambda: voxels((3, 3, 1)),
        "tree": lambda: domain(mesh, np.zeros(0, dtype=np.int64)),
        "particles": lambda: balls((3, 3, 1)),
        "layered": lambda: LayeredBody.from_mesh(tets(size, (3, 3, 2)), RUBBER, core=lambda X: X[:, 2] > -0.6 * HIGH),
    }
    return made[kind]()


def slab(kind: str) -> tuple[Any, Any]:
    """A slab below the origin, twice as wide, and what of it is fixed."""
    size = (2 * SIDE, 2 * SIDE, SIDE / 2)
    mesh = tets(size, (6, 6, 2))
    low = np.flatnonzero(_is_low(mesh.nodes))
    made: dict[str, Callable[[], tuple[Any, Any]]] = {
        "rigid": lambda: (RigidBody.box(size, density=DENSITY), True),
        "fem": lambda: (FemBody(mesh, RUBBER), _is_low),
        "floating": lambda: (
            FloatingBody.from_solid(ElasticSolid(mesh, RUBBER), modes=8, fixed=low, origin=np.zeros(3)),
            True,
        ),
        "voxel": lambda: (voxels((6, 6, 2)), lambda X: X[:, 2] < -HIGH),
        "tree": lambda: (domain(mesh, low), None),
        "particles": lambda: (balls((6, 6, 2)), lambda X: X[:, 2] < -HIGH),
        "layered": lambda: (
            LayeredBody.from_mesh(tets(size, (6, 6, 3)), RUBBER, core=lambda X: X[:, 2] < -0.3 * SIDE),
            True,
        ),
    }
    return made[kind]()


def _is_low(X: Array) -> Array:
    return np.asarray(X[:, 2] < -0.49 * SIDE)


def coefficients(one: str, two: str) -> tuple[float, float]:
    """Kinetic and static."""
    swept = "voxel" in (one, two) and one != "floor"
    return (ONE, ONE) if swept else (KINETIC, STATIC)


def scene_of(one: str, two: str) -> Scene:
    """A block on a slab, or on a floor."""
    scene, (mu, static) = Scene(gravity=leaning(0.0), solver=Partitioned(DT)), coefficients(one, two)
    upper, lower, fixed = block(two), None, None
    if one == "floor":
        scene.add(Floor(0.0, friction=mu, static_friction=static))
    elif one == two == "particles":
        upper, fixed = Particles([(0, 0, -HIGH / 2)], 0.1, radius=HIGH / 2), True
        lower = Particles([(0, 0, -BALL)], 1.0, radius=BALL)
    else:
        lower, fixed = slab(one)
    if lower is not None:
        scene.add(lower, at=(0, 0, -SIDE / 4 if one == "rigid" else 0.0), fix=fixed, name="below")
        scene.add(Contact(friction=mu, static_friction=static))
    scene.add(upper, at=(0, 0, HIGH / 2 if two == "rigid" else HIGH), name="above")
    return scene


def leaning(slope: float) -> Array:
    """Gravity on a slope tan a [m/s²]."""
    a = np.arctan(slope)
    return G * np.array([np.sin(a), 0.0, -np.cos(a)])


class Ride:
    """A scene that has come to rest on the level, to be leaned and pushed."""

    def __init__(self, one: str, two: str) -> None:
        self.scene = scene_of(one, two)
        self.system = self.scene.compile()
        self.state = self.system.initial_state()
        self.advance(100)

    @property
    def body(self) -> Slot:
        """The block; a change of gravity compiles the system anew."""
        return self.system.body("above")

    def advance(self, steps: int) -> None:
        """Step on."""
        for _ in range(steps):
            self.scene.solver.step(self.system, self.state)

    def lean(self, slope: float) -> None:
        """Change the slope."""
        self.system.change(self.state, "gravity", value=leaning(slope))

    @property
    def place(self) -> float:
        """Of the centre of mass of the block, downhill [m]."""
        state = self.state
        kin = self.system.propagate(state.t, state.x, state.v, state.memory)
        return float(self.system.centre_of_mass(kin, self.body)[0])

    @property
    def speed(self) -> float:
        """Of the block, downhill [m/s]."""
        number = [slot.name for slot in self.system.bodies].index("above")
        return float(momenta(self.system, self.state)[number, 0]) / float(self.body.body.total_mass)


def leaned(one: str, two: str) -> tuple[float, float, float]:
    """Creep in 0.1 s at 0.99 of the slope [m]; at 1.01 the speed after 0.1 s [m/s] and the friction while it slides."""
    _, static = coefficients(one, two)
    ride = Ride(one, two)
    for part in LEANING:
        ride.lean(part * static)
        ride.advance(40)
    ride.lean(0.99 * static)
    ride.advance(60)
    before = ride.place
    ride.advance(50)
    creep = ride.place - before
    ride.lean(1.01 * static)
    ride.advance(50)
    speed = ride.speed
    ride.advance(30)
    x, _, z = leaning(1.01 * static)
    return creep, speed, (x - (ride.speed - speed) / (30 * DT)) / -z


def slowed(one: str, two: str) -> float:
    """Deceleration on the level [m/s²] in 0.08 s, after two steps, the first of which has the static limit."""
    ride = Ride(one, two)
    ride.body.view_v(ride.state.v)[:, 0] += SPEED
    ride.advance(2)
    before = ride.speed
    ride.advance(40)
    return (before - ride.speed) / (40 * DT)


def case_of(one: str, two: str) -> str:
    """The name of a case."""
    return f"contact/friction/{one}-{two}"


def rubbed(one: str, two: str) -> list[Row]:
    """The rows of a pair."""
    case, what, (mu, static) = case_of(one, two), f"{two} on {one}", coefficients(one, two)
    creep, speed, sliding = leaned(one, two)
    slides = float(speed > 1e-3)
    return [
        bounded(case, f"{what}: creep at 0.99 of the slope", creep, 1e-6, unit="m", source=f"mu_s = {static:g}"),
        compare(case, f"{what}: slides at 1.01 of it", slides, 1.0, 0.0, unit="-", source=f"mu_s = {static:g}"),
        compare(case, f"{what}: friction while it slides", sliding, mu, 0.01, unit="-", source="g (sin a - mu cos a)"),
        compare(case, f"{what}: deceleration", slowed(one, two), mu * G, 0.01, unit="m/s²", source="mu g"),
    ]


CASES = {case_of(one, two): partial(rubbed, one, two) for one, two in PAIRS}
