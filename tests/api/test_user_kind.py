"""A kind of body written outside the package does all that the built-in kinds do, in at most 150 lines."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.bodies.body_protocol import REQUIRED, Embedding, Method
from supple.bodies.coordinates import Points
from supple.bodies.mappings import WeightedPoints
from supple.bodies.point_mass import PointMass
from supple.bodies.protocols import PlacedBody
from supple.bodies.selecting import check_numbers
from supple.bodies.surfaces import NumberedSurface, PointSkin, RenderSurface
from supple.errors import FileFormatError, InputError
from supple.interaction.springs import SpringForce

LONGEST = 150


@dataclass(frozen=True, eq=False)
class ElasticRod:
    """A round rod along x, of segments that resist stretching, and bending by springs between every other point.

    length, radius [m]; young [Pa]; density [kg/m³]; segments: number of them.
    """

    length: float
    radius: float
    young: float = 1e6
    density: float = 1000.0
    segments: int = field(default=8, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    kind = "rod"
    method = Method.IMPLICIT

    @cached_property
    def rest_points(self):
        x = np.linspace(-self.length / 2, self.length / 2, self.segments + 1)
        return np.column_stack([x, 0 * x, 0 * x])

    @property
    def coordinates(self):
        return Points(self.segments + 1)

    @cached_property
    def point_mass(self):
        mass = np.full(self.segments + 1, self.density * np.pi * self.radius**2 * self.length / self.segments)
        mass[[0, -1]] /= 2
        return PointMass(mass)

    @property
    def total_mass(self):
        return float(self.point_mass.node_mass.sum())

    def place(self, placement):
        x, n = placement.apply(self.rest_points), self.segments + 1
        pairs = np.array([(i, i + k) for k in (1, 2) for i in range(n - k)])
        step, area = self.length / self.segments, np.pi * self.radius**2
        stretch, bend = self.young * area / step, self.young * area * (self.radius / step) ** 2 / step
        stiffness = np.where(np.diff(pairs, axis=1)[:, 0] == 1, stretch, bend)
        rest = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
        springs = SpringForce.make(pairs, stiffness, rest, self.damping, where="rod")
        return PlacedBody(
            self.coordinates, x, placement.point_velocities(x), (self.point_mass,), (("elastic", springs),)
        )

    def point_numbers(self, selector):
        ends = {"x_min": [0], "x_max": [self.segments]}
        if isinstance(selector, str) and selector not in ends:
            raise InputError("a rod has two ends", value=selector, allowed="x_min, x_max")
        return check_numbers(ends[selector] if isinstance(selector, str) else selector, self.segments + 1)

    def point_mapping(self, numbers):
        return None if numbers is None else WeightedPoints.subset(numbers, self.segments + 1)

    def embed(self, local):
        along = (local[:, 0] / self.length + 0.5) * self.segments
        first = np.clip(along.astype(int), 0, self.segments - 1)
        share = np.clip(along - first, 0.0, 1.0)
        nodes, weights = np.stack([first, first + 1], axis=1), np.stack([1 - share, share], axis=1)
        return Embedding(WeightedPoints.barycentric(nodes, weights, self.segments + 1))

    def contact_surface(self):
        n = self.segments + 1
        return NumberedSurface(np.arange(n), radius=np.full(n, self.radius))

    def render_surface(self):
        n = np.arange(self.segments + 1)
        return RenderSurface(PointSkin(n), lines=np.stack([n[:-1], n[1:]], axis=1), vertices=n[:, None])

    @classmethod
    def read(cls, keys):
        return cls(**keys)

    def write(self):
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


RUBBER = sp.Material(young=1e5, poisson=0.3, density=800)


def make_tree():
    from supple.validation.tree.coupling import beam_domain_tree

    return sp.TreeBody(beam_domain_tree(2, 3))


def make_floating():
    from supple.modal import ElasticSolid

    return sp.FloatingBody.from_solid(ElasticSolid(sp.box_tets((0.2, 0.1, 0.1), (2, 1, 1)), RUBBER), modes=3)


def make_layered():
    from supple.bodies.rigid.body import surface_of

    ball = surface_of(sp.box_hexes((0.2, 0.2, 0.1), (4, 4, 2)))
    return sp.LayeredBody.from_surface(ball, RUBBER, thickness=0.03, cells=1)


def make_voxels():
    return sp.VoxelBody(sp.VoxelGrid(np.ones((4, 4, 2), dtype=int), 0.04), sp.VoxelMaterial(young=1e5, density=800))


OTHERS = {
    "rod": lambda: ElasticRod(0.3, 0.02),
    "fem": lambda: sp.FemBody(sp.box_tets((0.2, 0.2, 0.1), (2, 2, 1)), RUBBER),
    "rigid": lambda: sp.RigidBody.box((0.2, 0.2, 0.1), density=800),
    "particles": lambda: sp.Particles([(0.0, 0.0, 0.0)], 0.1, radius=0.05),
    "floating": make_floating,
    "layered": make_layered,
    "voxel": make_voxels,
    "tree": make_tree,
}


def test_it_is_short() -> None:
    tree = ast.parse(Path(__file__).read_text())
    (kind,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "ElasticRod"]
    assert kind.end_lineno - kind.lineno + 1 <= LONGEST


@pytest.mark.parametrize("missing", REQUIRED)
def test_a_body_that_lacks_a_part_of_the_contract_is_refused_by_name(missing: str) -> None:
    members = {name: value for name, value in vars(ElasticRod).items() if name in REQUIRED and name != missing}
    with pytest.raises(InputError, match=rf"lacks {missing}\b"):
        sp.Scene().add(type("Incomplete", (), members)())


def test_a_method_that_no_solver_knows_is_refused() -> None:
    with pytest.raises(InputError, match="method is unknown"):
        sp.Scene().add(type("Odd", (ElasticRod,), {"method": "leap"})(0.3, 0.02))


def test_it_falls() -> None:
    scene = sp.Scene(gravity=(0, 0, -10))
    scene.add(ElasticRod(0.4, 0.01))
    run = sp.run(scene, until=0.2, dt=0.01)
    assert run.state.v.reshape(-1, 3)[:, 2] == pytest.approx(-2.0, rel=1e-9)  # implicit Euler is exact in v
    x = run.state.x.reshape(-1, 3)
    assert np.linalg.norm(x[-1] - x[0]) == pytest.approx(0.4, rel=1e-9)


@pytest.mark.parametrize("other", OTHERS)
def test_it_touches_every_kind(other: str) -> None:
    """The rod flies upon a body at rest: it is braked, and the body takes the momentum that the rod loses."""
    scene = sp.Scene()
    rod, hit = ElasticRod(0.3, 0.02, segments=6), OTHERS[other]()
    placed = scene.add(hit, name="hit")
    high = placed.wind_surface if other == "rigid" else placed.contact_surface
    top = float(placed.surface_points(high(), "top").rest[:, 2].max()) + (0.05 if other == "particles" else 0.0)
    centre = placed.rest.mean(axis=0)[:2]
    node = scene.add(rod, name="mine", at=(*centre, top + 0.045), rotation=(0, 0, 0.2), velocity=(0, 0, -1))
    scene.add(sp.Contact(friction=0.0))
    method = hit.method is Method.IMPLICIT
    run = sp.run(scene, until=0.08, solver=sp.ImplicitEuler(0.002) if method else sp.Partitioned(0.002))
    system, momentum = scene.compile(), rod.total_mass
    mine = rod.point_mass.node_mass @ system.velocities(run.state, node.name)
    assert mine[2] > -0.9 * momentum
    if other != "tree":  # whose root is fixed
        total = system.momentum(system.propagate(run.time, run.state.x, run.state.v))[:3]
        assert total == pytest.approx([0, 0, -momentum], abs=1e-4 * momentum)  # conjugate gradients lose 8e-5


@pytest.mark.parametrize("other", ["rigid", "fem", "tree"])
def test_it_is_joined_by_a_ball_joint(other: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    fixed = scene.add(OTHERS[other](), name="hit", **({} if other == "tree" else {"fix": True}))
    place = fixed.rest[-1]
    node = scene.add(ElasticRod(0.3, 0.02), at=place + np.array([0.15, 0, 0]), name="mine")
    scene.add(sp.BallJoint(node, fixed, at=place))
    solver = sp.Partitioned(0.005) if other == "tree" else sp.ImplicitEuler(0.005)
    run = sp.run(scene, until=0.2, solver=solver)
    system = scene.compile()
    gap = system.violation(system.propagate(run.time, run.state.x, run.state.v))
    assert np.abs(gap).max() < 1e-4
    assert system.positions(run.state, "mine")[-1, 2] < place[2] - 0.1


def make_scene() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.005))
    rod = scene.add(ElasticRod(0.3, 0.02, damping=0.1), at=(0, 0, 0.1), name="rod", fix="x_min")
    weight = scene.add(sp.RigidBody.box((0.05, 0.05, 0.05), density=900), at=(0.15, 0, 0.05), name="weight")
    scene.add(sp.BallJoint(rod, weight, at=(0.15, 0, 0.1)))
    scene.add(sp.Load(rod.points("x_max"), (0, 0.1, 0)))
    scene.add(sp.Floor())
    scene.add(sp.Contact())
    return scene


def test_it_is_recorded_drawn_and_resumed_to_the_same_bits(tmp_path: Path) -> None:
    whole = sp.run(make_scene(), until=0.2, out=tmp_path / "whole")
    sp.run(make_scene(), until=0.1, out=tmp_path / "parts")
    parts = sp.run(make_scene(), until=0.2, out=tmp_path / "parts", resume=True)
    assert np.array_equal(whole.state.x, parts.state.x)
    assert np.array_equal(whole.state.v, parts.state.v)
    assert whole.frames.points("rod", 0).shape == (9, 3)
    assert len(whole.frames.lines("rod")) == 8
    sp.export(whole, tmp_path / "rod.png")
    assert (tmp_path / "rod.png").stat().st_size > 1000


@pytest.fixture
def registered():
    from supple.files.scenes.kinds import registered_kinds

    sp.register_kind(ElasticRod, read=ElasticRod.read, write=ElasticRod.write)
    yield
    registered_kinds().pop("rod")


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_it_is_saved_and_loaded(registered: None, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rod{suffix}"
    sp.save(make_scene(), path)
    again = sp.load(path)
    assert isinstance(again.node("rod").body, ElasticRod)
    a, b = (sp.run(scene, until=0.05) for scene in (make_scene(), again))
    assert np.array_equal(a.state.x, b.state.x)


def test_a_file_with_a_kind_that_nobody_registered_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text('supple = 1\n[[bodies]]\nkind = "spaghetti"\nlength = 0.3\n')
    with pytest.raises(FileFormatError, match=r"unknown kind.*register_kind"):
        sp.load(path)
    with pytest.raises(InputError, match="cannot be saved"):
        sp.save(make_scene(), path)


def test_a_registered_kind_says_what_is_wrong_with_its_keys(registered: None, tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text('supple = 1\n[[bodies]]\nkind = "rod"\nlength = 0.3\nwidth = 1\n')
    with pytest.raises(FileFormatError, match=r"bodies\[0\].*width"):
        sp.load(path)


def test_built_in_kinds_cannot_be_registered_again() -> None:
    with pytest.raises(InputError, match="built in"):
        sp.register_kind(sp.FemBody, read=dict, write=dict)
