"""Laws that every kind of body keeps, whatever it is made of: one suite over all kinds of `Body`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.laws.seen.views import BODIES, PLAIN

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.body_protocol import REQUIRED, Method, check_body
from supple.bodies.capabilities import Massed
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.bodies.surfaces import NumberedSurface
from supple.errors import InputError
from supple.geometry.meshes.region import Region
from supple.modal import ElasticSolid
from supple.scene.derivatives import differentiate, relative_error
from supple.validation.couplings import KINDS as CUBES
from supple.validation.tree.reference import mixed_domain_tree

SOFT, HEAVY = sp.Material(2e5, 0.3, 500.0), sp.Material(4e5, 0.2, 1500.0)


def halves() -> sp.HexMesh:
    """A bar off its origin, of two regions."""
    mesh = sp.box_hexes((0.12, 0.08, 0.06), (4, 1, 2))
    left = mesh.nodes[mesh.hexes].mean(axis=1)[:, 0] < 0.06
    regions = {"left": Region(elements=np.flatnonzero(left)), "right": Region(elements=np.flatnonzero(~left))}
    return mesh.with_regions(regions)


def rooted() -> sp.FloatingBody:
    """A bar of two materials, clamped in its frame, whose origin is off the mesh's and off its centre."""
    solid = ElasticSolid(halves(), {"left": SOFT, "right": HEAVY})
    return sp.FloatingBody.from_solid(solid, modes=5, fixed="x_min", origin=(0.01, 0.02, -0.03))


def cored() -> sp.LayeredBody:
    """A bar with a heavy core at one end, about an origin that is given."""
    mesh = sp.box_hexes((0.12, 0.08, 0.08), (4, 3, 3))
    core = np.flatnonzero(np.abs(mesh.nodes[mesh.hexes].mean(axis=1) - (0.015, 0.0, 0.0)).max(axis=1) < 0.02)
    return sp.LayeredBody.from_mesh(mesh, SOFT, core=core, core_density=2000.0, origin=(0.01, 0.02, -0.03))


KINDS: dict[str, Any] = {
    **CUBES,
    **{f"{kind}, uneven": partial(make, PLAIN) for kind, make in BODIES.items()},
    "fem, two materials": lambda: sp.FemBody(halves(), {"left": SOFT, "right": HEAVY}, mass="consistent"),
    "floating, rooted": rooted,
    "layered, heavy core": cored,
    "tree of several kinds": lambda: sp.TreeBody(mixed_domain_tree(free=True, chain=False)),
}
"""Cubes around their origin, and bodies that lie aside of it, with unlike edges, masses and materials."""
MOVED = Placement(
    at=np.array([0.3, -0.2, 0.5]),
    rotation=rotations.exp(np.array([0.4, -0.7, 0.2])),
    velocity=np.array([0.2, 0.5, -0.1]),
    spin=np.array([1.0, -2.0, 0.5]),
)
every_kind = pytest.mark.parametrize("kind", list(KINDS))
with_matrices = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if not kind.startswith("tree")]
)  # a tree has its own inside


def system_of(kind: str, placement: Placement = MOVED, gravity: Any = (0, 0, 0)) -> sp.System:
    """A scene of one body."""
    scene = sp.Scene(gravity=gravity)
    p = placement
    scene.add(KINDS[kind](), at=p.at, rotation=p.rotation, velocity=p.velocity, spin=p.spin, name="body")
    return scene.compile()


def kinematics(system: sp.System, x: np.ndarray | None = None, v: np.ndarray | None = None) -> Any:
    """At the start, or elsewhere."""
    state = system.initial_state()
    return system.propagate(0.0, state.x if x is None else x, state.v if v is None else v, state.memory)


def world_points(body: Any, x: np.ndarray) -> np.ndarray:
    """All points of a body at coordinates x."""
    mapping = body.point_mapping(None)
    return np.asarray(x if mapping is None else mapping.apply(x))[:, :3]


def bent(system: sp.System, size: float = 2e-3) -> np.ndarray:
    """Positions a little off those at rest, in all coordinates."""
    return system.retract(system.x0, size * np.random.default_rng(3).normal(size=system.v_size))


@every_kind
def test_it_has_every_member_of_the_contract(kind: str) -> None:
    body = KINDS[kind]()
    check_body(body)
    assert all(getattr(body, name) is not None for name in REQUIRED)
    assert isinstance(body.method, Method)
    assert isinstance(body.kind, str)


@every_kind
def test_a_placement_moves_its_points_as_a_rigid_body(kind: str) -> None:
    body = KINDS[kind]()
    placed = body.place(MOVED)
    wanted = MOVED.apply(body.rest_points)
    assert np.abs(world_points(body, placed.x) - wanted).max() < 1e-12
    mapping = body.point_mapping(None)
    moving = placed.v[:, :3] if mapping is None else mapping.linearize(placed.x).product(placed.v)
    if mapping is None and placed.v.shape[1] > 3:
        moving = placed.v[:, :3]
    assert np.abs(moving - MOVED.point_velocities(wanted)).max() < 1e-12


@every_kind
def test_its_mass_is_felt_by_momentum_energy_and_weight(kind: str) -> None:
    body = KINDS[kind]()
    still = Placement(at=MOVED.at, rotation=MOVED.rotation, velocity=np.array([0.2, 0.5, -0.1]))
    system = system_of(kind, still, gravity=(0.5, -1.0, -9.81))
    kin = kinematics(system)
    m, u = body.total_mass, still.velocity
    assert system.momentum(kin)[:3] == pytest.approx(m * u, rel=1e-9)
    assert system.kinetic_energy(kin) == pytest.approx(m * u @ u / 2, rel=1e-9)
    weightless = system_of(kind, still)
    weight = float((system.force(kin) - weightless.force(kinematics(weightless))) @ system.v0)
    assert weight == pytest.approx(m * u @ np.array([0.5, -1.0, -9.81]), rel=1e-9)  # power of gravity
    if isinstance(body, Massed):
        assert body.point_masses().sum() == pytest.approx(m, rel=1e-9)


@every_kind
def test_its_centre_of_mass_moves_by_its_momentum(kind: str) -> None:
    system = system_of(kind)
    body, state = system.bodies[0], system.initial_state()

    def centre(e: float) -> np.ndarray:
        return system.centre_of_mass(kinematics(system, system.retract(state.x, e * state.v)), body)

    moved = differentiate(centre, 1e-4)
    assert KINDS[kind]().total_mass * moved == pytest.approx(system.momentum(kinematics(system))[:3], rel=1e-6)


@every_kind
def test_it_is_free_of_stress_wherever_it_is_placed(kind: str) -> None:
    system = system_of(kind, Placement(at=MOVED.at, rotation=MOVED.rotation))
    here, off = kinematics(system), kinematics(system, bent(system), np.zeros(system.v_size))
    assert system.potential_energy(here) == pytest.approx(0.0, abs=1e-12)
    assert np.abs(system.force(here)).max() <= 1e-9 * (np.abs(system.force(off)).max() + 1e-3)


@every_kind
def test_its_forces_are_the_slope_of_its_energy(kind: str) -> None:
    system = system_of(kind)
    x, zero = bent(system), np.zeros(system.v_size)
    if not system.forces:
        assert kind.startswith("rigid")
        return
    d = np.random.default_rng(5).normal(size=system.v_size)
    slope = differentiate(lambda e: system.potential_energy(kinematics(system, system.retract(x, e * d), zero)), 1e-6)
    assert relative_error(system.force(kinematics(system, x, zero)) @ d, -slope) < 1e-6


@with_matrices
def test_its_tangents_are_the_slopes_of_its_forces(kind: str) -> None:
    system = system_of(kind)
    if system.forces:
        report = sp.check_derivatives(system, bent(system))
        assert report.is_ok, str(report)


@every_kind
def test_its_inner_forces_are_in_balance(kind: str) -> None:
    """A rigid velocity takes no power from forces inside the body, bent and turning: momentum is kept."""
    system = system_of(kind)
    x = bent(system)
    force = system.force(kinematics(system, x, np.zeros(system.v_size)))
    scale = np.abs(force).sum() + 1e-300
    for axis in np.eye(3):
        rigid = KINDS[kind]().place(Placement(at=MOVED.at, rotation=MOVED.rotation, velocity=axis)).v
        assert abs(force @ rigid.ravel()) < 1e-9 * scale


@every_kind
def test_embedded_places_follow_the_body_and_their_forces_do_its_work(kind: str) -> None:
    body = KINDS[kind]()
    if kind.startswith("particles"):
        with pytest.raises(InputError, match="fill no space"):
            body.embed(body.rest_points[:2])
        return
    local = body.rest_points[:2] * (
        1.0 if kind.startswith("tree") else 0.9
    )  # the nearest points of its surface stand for a tree's
    mapping = body.embed(local).mapping
    placed = body.place(MOVED)
    assert np.abs(mapping.apply(placed.x) - MOVED.apply(local)).max() < 1e-9
    rng = np.random.default_rng(7)
    d, f = rng.normal(size=placed.v.shape), rng.normal(size=(2, 3))
    tangent = mapping.linearize(placed.x)
    moved = differentiate(lambda e: mapping.apply(body.coordinates.retract(placed.x, e * d)), 1e-5)
    assert relative_error(tangent.product(d), moved) < 1e-6
    pulled = np.zeros_like(placed.v)
    tangent.add_transpose(f, pulled)
    assert float(np.sum(pulled * d)) == pytest.approx(float(np.sum(f * tangent.product(d))), rel=1e-10)


@every_kind
def test_the_surface_that_touches_is_closed_and_outward(kind: str) -> None:
    body = KINDS[kind]()
    surface = body.contact_surface()
    if isinstance(surface, NumberedSurface):
        points, triangles = body.rest_points, surface.triangles
    else:
        points, triangles = body.place(Placement()).x, surface.triangles
        for mapping in surface.mappings:
            points = mapping.apply(points)
    if len(triangles) == 0:
        assert isinstance(surface, NumberedSurface)
        assert np.all(np.asarray(surface.radius) > 0.0)
        return
    if kind.startswith("tree"):  # domains have points of their own where they meet
        triangles = np.unique(np.round(points, 9), axis=0, return_inverse=True)[1].ravel()[triangles]
        points = np.unique(np.round(points, 9), axis=0)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    assert {tuple(e) for e in edges} == {tuple(e[::-1]) for e in edges}  # every edge once in each direction
    a, b, c = (points[triangles[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)
    box = float(np.prod(np.ptp(points, axis=0)))
    least = 0.05 if kind == "tree of several kinds" else 0.3  # which has branches
    assert least * box < volume <= 1.01 * box


@every_kind
def test_the_surface_that_is_drawn_moves_with_the_body(kind: str) -> None:
    body = KINDS[kind]()
    surface = body.render_surface()
    here = surface.skin.positions(body.place(Placement()).x)
    there = surface.skin.positions(body.place(MOVED).x)
    assert len(here) == surface.skin.count
    cells = [c for c in (surface.triangles, surface.lines, surface.vertices) if len(c)]
    assert cells
    assert all(c.min() >= 0 and c.max() < surface.skin.count for c in cells)
    assert np.abs(there - MOVED.apply(here)).max() < 1e-6


@every_kind
def test_its_coordinates_come_back_along_their_difference(kind: str) -> None:
    body = KINDS[kind]()
    placed = body.place(MOVED)
    d = 0.1 * np.random.default_rng(11).normal(size=placed.v.shape)
    there = body.coordinates.retract(placed.x, d)
    assert np.abs(body.coordinates.difference(placed.x, there) - d).max() < 1e-10
    assert placed.x.shape == (body.coordinates.count, body.coordinates.x_width)
    assert placed.v.shape == (body.coordinates.count, body.coordinates.v_width)


@with_matrices
def test_its_masses_know_their_momentum_everywhere(kind: str) -> None:
    """M v is the momentum: power of a rigid velocity against it."""
    body = KINDS[kind]()
    system = system_of(kind)
    kin = kinematics(system)
    p = system.mass_product(kin, system.v0)
    for k, axis in enumerate(np.eye(3)):
        rigid = body.place(Placement(at=MOVED.at, rotation=MOVED.rotation, velocity=axis)).v.ravel()
        assert p @ rigid == pytest.approx(system.momentum(kin)[k], rel=1e-9)
        spun = body.place(Placement(at=MOVED.at, rotation=MOVED.rotation, spin=axis)).v.ravel()
        about = system.momentum(kin)[3:] - np.cross(MOVED.at, system.momentum(kin)[:3])
        assert p @ spun == pytest.approx(about[k], rel=1e-9)
    for mass in body.place(MOVED).masses:
        placed = body.place(MOVED)
        assert np.isfinite(mass.momentum(LocalState(0.0, placed.x, placed.v))).all()
