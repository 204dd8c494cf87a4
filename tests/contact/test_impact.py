"""Fast bodies do not pass through thin ones, at any step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import ContactWarning

RADIUS, THIN, SPEED = 0.01, 0.005, 100.0
STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SOLIDS: dict[str, Any] = {
    "fixed plate": lambda scene: scene.add(sp.RigidBody.box((THIN, 0.2, 0.2), density=7800), name="wall", fix=True),
    "free plate": lambda scene: scene.add(sp.RigidBody.box((THIN, 0.2, 0.2), density=7800), name="wall"),
    "box": lambda scene: scene.add(sp.Box((0, 0, 0), (THIN, 0.2, 0.2))),
    "plane": lambda scene: scene.add(sp.Plane((-1, 0, 0), THIN / 2)),
}
BULLETS: dict[str, Any] = {
    "sphere": lambda: sp.RigidBody.sphere(RADIUS, density=7800),
    "ball": lambda: sp.Particles([(0, 0, 0)], 0.0327, radius=RADIUS),
}


def shoot(bullet: str, solid: Any, h: float, start: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (steps, 3) of the bullet, less those of a wall, and its last velocity."""
    scene = sp.Scene(solver=sp.ImplicitEuler(h))
    scene.add(BULLETS[bullet](), at=start, velocity=(SPEED, 0, 0), name="bullet")
    solid(scene)
    scene.add(sp.Contact())
    system = scene.compile()
    state = system.initial_state()
    scene.solver.prepare(system)
    x = []
    for _ in range(max(3, int(np.ceil((-start[0] / SPEED + 5e-5) / h)))):
        scene.solver.step(system, state)
        place = system.body("bullet").view_x(state.x)[0, :3].copy()
        if "wall" in [node.name for node in scene.nodes]:
            place -= system.body("wall").view_x(state.x)[0, :3]
        x.append(place)
    return np.array(x), system.body("bullet").view_v(state.v)[0, :3].copy()


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("solid", SOLIDS)
@pytest.mark.parametrize("bullet", ["sphere", "ball"])
@pytest.mark.filterwarnings("ignore:'bullet' moves")  # what is said of long ways is not what is asked here
def test_a_bullet_stops_at_a_plate(bullet: str, solid: str, h: float) -> None:
    """It sinks by at most a tenth of what is thinner, from three places between two steps."""
    for way in (0.0, 0.37, 0.81):
        x, v = shoot(bullet, SOLIDS[solid], h, (-0.0135 - way * min(SPEED * h, 0.3), 0.001, 0.0015))
        depth = x[:, 0] + RADIUS + THIN / 2
        thin = THIN if solid != "plane" else 2 * RADIUS
        assert depth.max() < 0.1 * thin
        assert v[0] < 0.05 * SPEED  # it has come to rest, or moves along with the plate


@pytest.mark.parametrize("h", STEPS)
def test_a_bullet_does_not_enter_a_sphere(h: float) -> None:
    x, _ = shoot("sphere", lambda scene: scene.add(sp.Sphere((0, 0, 0), RADIUS)), h, (-0.03, 0.001, 0.0015))
    assert np.linalg.norm(x, axis=1).min() > 2 * RADIUS * 0.9


THROWN: dict[str, Any] = {
    "cube": lambda: sp.RigidBody.box((0.02, 0.02, 0.02), density=7800),
    "bar": lambda: sp.RigidBody.box((0.005, 0.01, 0.06), density=7800),
    "cylinder": lambda: sp.RigidBody.cylinder(0.005, 0.04, density=7800),
}


@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("thrown", THROWN)
@pytest.mark.filterwarnings("ignore:t = ")  # friction of the longest steps may not settle, which is said
def test_what_is_thrown_anyhow_does_not_pass(thrown: str, held: bool, h: float) -> None:
    """Turned, spinning and aslant: no corner is ever behind the middle of the plate."""
    rng, body = np.random.default_rng(5), THROWN[thrown]()
    for _ in range(4):
        way = rng.normal(size=3)
        way[0] = abs(way[0]) + 0.7
        way /= np.linalg.norm(way)
        off = rng.uniform(0.04, 0.04 + min(0.5, 2 * SPEED * h))
        scene = sp.Scene(solver=sp.ImplicitEuler(h))
        turned, spin = rng.normal(size=3), 300 * rng.normal(size=3)
        scene.add(body, at=-off * way / way[0], rotation=turned, velocity=SPEED * way, spin=spin, name="thrown")
        scene.add(sp.RigidBody.box((THIN, 4, 4), density=7800), name="wall", fix=held)
        scene.add(sp.Contact())
        system = scene.compile()
        state = system.initial_state()
        for _ in range(max(4, int((off / way[0] / SPEED + 3e-4) / h) + 1)):
            scene.solver.step(system, state)
            x, wall = (system.body(name).view_x(state.x)[0] for name in ("thrown", "wall"))
            corners = x[:3] + rotations.rotate(x[3:], body.shape.vertices) - wall[:3]
            assert rotations.rotate(wall[3:] * (1, -1, -1, -1), corners)[:, 0].max() < 0


@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-4])
def test_what_flies_past_is_not_touched(h: float) -> None:
    """Straight past the rim of the plate by 1 mm: the nearest place at the start is not where it would meet."""
    x, v = shoot("sphere", SOLIDS["box"], h, (-0.12, 0.1 + RADIUS + 0.001, 0.0))
    assert v.tolist() == [SPEED, 0, 0]
    assert x[-1, 0] == pytest.approx(-0.12 + SPEED * h * len(x))


def test_a_bullet_that_comes_aslant_meets_where_it_gets_to() -> None:
    """From beside the plate, where its rim is nearest, onto its face; the meeting is known to a thousandth of it."""
    scene = sp.Scene(solver=sp.ImplicitEuler(1e-2))
    scene.add(sp.RigidBody.sphere(RADIUS, density=7800), at=(-0.3, 0.3, 0), velocity=(100, -100, 0), name="bullet")
    scene.add(sp.Box((0, 0, 0), (THIN, 0.2, 0.2), friction=0.0))
    system = scene.compile()
    state = system.initial_state()
    scene.solver.step(system, state)
    assert state.v[0] == pytest.approx((0.3 - RADIUS - THIN / 2) / 1e-2, rel=1e-3)
    assert state.v[1] == pytest.approx(-100.0, rel=1e-9)


def test_a_given_stiffness_is_kept_and_said_to_be_too_small() -> None:
    def scene(stiffness: float) -> sp.Scene:
        scene = sp.Scene(solver=sp.ImplicitEuler(1e-5))
        scene.add(sp.RigidBody.sphere(RADIUS, density=7800), at=(-0.014, 0, 0), velocity=(SPEED, 0, 0))
        scene.add(sp.Box((0, 0, 0), (THIN, 0.2, 0.2)))
        scene.add(sp.Contact(stiffness=stiffness))
        return scene

    with pytest.warns(
        ContactWarning, match=r"at 100 m/s: with stiffness=1e\+09 it sinks by .* use at least 1\.\de\+11"
    ):
        sp.run(scene(1e9), until=5e-5)
    sp.run(scene(3e11), until=5e-5)


def test_soft_vertices_stop_at_an_obstacle_unless_a_given_stiffness_is_too_small() -> None:
    def scene(contact: sp.Contact) -> sp.Scene:
        scene = sp.Scene(solver=sp.ImplicitEuler(1e-4))
        soft = sp.FemBody(sp.box_tets((0.02, 0.02, 0.02), (1, 1, 1)), sp.Material(1e5, 0.3, density=1000))
        scene.add(soft, at=(-0.03, -0.01, -0.01), velocity=(SPEED, 0, 0), name="soft")
        scene.add(sp.Box((0, 0, 0), (THIN, 0.2, 0.2)))
        scene.add(contact)
        return scene

    run = sp.run(scene(sp.Contact()), until=5e-4)
    assert run.system.positions(run.state, "soft")[:, 0].max() < 0.0
    with pytest.warns(ContactWarning, match="'soft' .* sinks"):
        sp.run(scene(sp.Contact(stiffness=1e7)), until=5e-4)


def test_a_run_goes_on_from_a_state_as_without_a_stop() -> None:
    """What a contact has become stiff for is part of the state."""
    scene = sp.Scene(solver=sp.ImplicitEuler(1e-6))
    scene.add(sp.RigidBody.sphere(RADIUS, density=7800), at=(-0.0126, 0, 0), velocity=(SPEED, 0, 0))
    scene.add(sp.Box((0, 0, 0), (THIN, 0.2, 0.2)))
    system = scene.compile()
    state = system.initial_state()
    for _ in range(4):
        scene.solver.step(system, state)
    other, again = scene.compile(), state.copy()
    assert again.memory["contact:0/raised"].max() > 0
    for _ in range(6):
        scene.solver.step(system, state)
        scene.solver.step(other, again)
    assert np.array_equal(state.x, again.x)


def test_contacts_of_voxels_share_the_stiffness_of_a_blow_as_their_area_grows() -> None:
    """A box comes down on an edge and falls flat: it is held as stiffly as needed, not as its face over its edge."""
    scene = sp.Scene(gravity=(0, 0, 0), solver=sp.Partitioned(1e-3))
    lattice = sp.VoxelBody(sp.VoxelGrid(np.ones((6, 6, 2), dtype=int), 0.02), sp.VoxelMaterial(1e6, density=1000))
    scene.add(lattice, fix=lambda X: X[:, 2] < 0.02, name="bed")
    box, angle = sp.RigidBody.box((0.08, 0.08, 0.04), density=2000), 0.1
    scene.add(box, at=(0.06, 0.06, 0.062 + 0.04 * angle), rotation=(0, angle, 0), velocity=(0, 0, -1), name="box")
    scene.add(sp.Contact(friction=0.0))
    system = scene.compile()
    state, stiff, count = system.initial_state(), [], []
    for _ in range(20):
        scene.solver.step(system, state)
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        found = system.contacts[0].find(kin, 1e-3, dict(state.memory))
        if found.raised.any():
            stiff.append(found.stiffness.sum())
            count.append(found.size)
    assert max(count) > 2 * count[0]
    assert max(stiff) < 1.3 * stiff[0]
