"""Wind: a plate's drag, derivatives, the statistics of gusts, and work through the mappings of every kind of body."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.errors import InputError
from supple.scene.acting.ball_wind import BallWind
from supple.scene.acting.wind import waves
from supple.validation.tree.reference import mixed_domain_tree

MATERIAL = sp.Material(1e6, 0.3, 500)
AIR = 0.5 * 1.2 * 1.2  # rho C / 2 of the defaults


def plate() -> sp.FemBody:
    return sp.FemBody(sp.box_tets((0.4, 0.05, 0.3), (4, 1, 3)), MATERIAL)


def test_drag_of_plate_sphere_and_voxels() -> None:
    scene = sp.Scene()
    across = scene.add(plate(), name="plate")
    ball = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(2, 0, 0), name="ball")
    grid = sp.VoxelGrid(np.ones((3, 4, 5), int), 0.1)
    block = scene.add(sp.VoxelBody(grid, {1: sp.VoxelMaterial(young=1e6, density=1000)}), at=(4, 0, 0), name="block")
    speed = 3.0
    assert sp.Wind(across, (0, speed, 0)).drag_at_rest() == pytest.approx([0, AIR * 9 * 0.12, 0], rel=1e-12, abs=1e-12)
    assert sp.Wind(block, (speed, 0, 0)).drag_at_rest() == pytest.approx([AIR * 9 * 0.2, 0, 0], rel=1e-12, abs=1e-12)
    drag = sp.Wind(ball, (speed, 0, 0)).drag_at_rest()
    assert drag[0] == pytest.approx(AIR * 9 * np.pi / 2 * 0.01, rel=0.01)  # integral of cos³ over the half sphere
    both = sp.Wind([across, block], (speed, 0, 0)).drag_at_rest()
    assert both[0] == pytest.approx(AIR * 9 * (0.2 + 0.015), rel=1e-12)


@pytest.mark.parametrize("two_sided", [False, True])
def test_derivatives(two_sided: bool) -> None:
    scene, rng = sp.Scene(), np.random.default_rng(0)
    flag = scene.add(plate(), name="flag")
    ball = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(1, 0, 0), name="ball")
    wind = scene.add(sp.Wind([flag, ball], (2, 8, 1), two_sided=two_sided))
    x = wind.on.rest
    report = sp.check_derivatives(wind, x, rng.normal(size=x.shape), t=0.3, step=1e-6)
    assert report.is_ok, str(report)
    system = scene.compile()
    report = sp.check_derivatives(system, system.x0, rng.normal(size=system.v_size), t=0.3, step=1e-6, tolerance=1e-6)
    assert report.is_ok, str(report)


def test_gusts_have_the_variance_and_the_length_that_are_asked_for() -> None:
    scene = sp.Scene()
    wind = sp.Wind(scene.add(plate()), (10, 0, 0), intensity=0.2, length=2.0, modes=300, seed=4)
    k, a, _ = wind.flow[1:]
    assert np.abs(np.einsum("mi,mi->m", k, a)).max() < 1e-12  # free of divergence
    assert a.T @ a / 2 == pytest.approx(4.0 * np.eye(3), abs=1e-12)  # exactly, for every seed
    x = np.random.default_rng(1).uniform(-500, 500, size=(20_000, 3))
    gust = wind.at(x, 0.7) - [10, 0, 0]
    assert np.cov(gust.T) == pytest.approx(4.0 * np.eye(3), abs=0.15)
    assert wind.at(x + np.array([5.0, 0, 0]), 1.2) == pytest.approx(
        wind.at(x, 0.7), abs=1e-9
    )  # the mean carries them along
    r = np.linspace(0, 16, 1600)
    many = [waves(400, 2.0, seed) for seed in range(5)]
    f = np.mean([0.5 * (a[:, 0] ** 2) @ np.cos(np.outer(k[:, 0], r)) for k, a, _ in many], axis=0)
    assert np.trapezoid(f, r) == pytest.approx(2.0, rel=0.1)  # [VonKarman48]; 6000 waves


def test_power_of_the_wind_on_a_tree_is_that_of_its_force_on_the_patches() -> None:
    scene, rng = sp.Scene(), np.random.default_rng(2)
    node = scene.add(sp.TreeBody(mixed_domain_tree(free=True, chain=False)), name="tree")
    wind = scene.add(sp.Wind(node, (3, 1, 0), intensity=0.5))
    system = scene.compile()
    state = system.initial_state()
    n = node.body.model.coordinate_count
    state.x[7 : 7 + n], state.v[: 6 + n] = 0.02 * rng.normal(size=n), 0.1 * rng.normal(size=6 + n)
    kin = system.propagate(0.0, state.x, state.v)
    slot = system.handles[id(wind.on)]
    forces = [np.zeros_like(v) for v in kin.v]
    wind.add_force(kin.local(slot), forces[slot.index])
    power = float(np.sum(forces[slot.index] * kin.v[slot.index]))
    kin.pull(forces)
    assert float(np.sum(forces[0] * kin.v[0])) == pytest.approx(power, rel=1e-12)
    closed = wind.on.rest[wind.triangles]
    area = np.cross(closed[:, 1] - closed[:, 0], closed[:, 2] - closed[:, 0]) / 2
    assert abs(area.sum(axis=0)).max() < 0.2 * np.linalg.norm(area, axis=1).sum()


def test_a_cube_drifts_to_the_speed_of_the_wind() -> None:
    scene = sp.Scene(solver=sp.ImplicitEuler(0.01))
    cube = scene.add(sp.FemBody(sp.box_tets((0.2, 0.2, 0.2), (1, 1, 1)), sp.Material(1e5, 0.3, 20)), name="cube")
    scene.add(sp.Wind(cube, (5, 0, 0), intensity=0.0))
    run = sp.run(scene, until=1.0)
    v = run.system.velocities(run.state, "cube").mean(axis=0)
    c = AIR * 0.04 / (20 * 0.008)  # v' = c (U - v)²
    assert v[0] == pytest.approx(5 - 5 / (1 + 5 * c), rel=0.01)  # of first order in dt
    assert abs(v[1:]).max() < 1e-3


def test_bad_wind() -> None:
    node = sp.Scene().add(plate())
    for wrong in ({"modes": 4}, {"length": 0.0}, {"density": -1.0}, {"drag": float("nan")}, {"intensity": -0.1}):
        with pytest.raises(InputError, match="Wind"):
            sp.Wind(node, (1, 0, 0), **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="node"):
        sp.Wind(3, (1, 0, 0))
    with pytest.raises(InputError, match="nothing"):
        sp.Wind([], (1, 0, 0))
    with pytest.raises(InputError, match="surface"):
        sp.Wind(sp.Scene().add(sp.Particles(np.eye(3), 1.0)), (1, 0, 0))


def test_cosine_of_turns_is_the_cosine() -> None:
    from supple.algebra.compiling.compiled import compiled
    from supple.algebra.lanes.cosine_kernels import cosine_of_turns

    @compiled
    def fill(r, out):  # type: ignore[no-untyped-def]
        for k in range(len(r)):
            out[k] = cosine_of_turns(r[k])

    rng = np.random.default_rng(2)
    r = np.concatenate([rng.uniform(-1, 1, 10_000), np.arange(-8, 9) / 8, 2.0 ** -np.arange(60)])
    out = np.empty_like(r)
    fill(r, out)
    assert np.abs(out - np.cos(2 * np.pi * r)).max() < 1e-15
    far = r + rng.integers(-1000, 1000, len(r))
    fill(far, out)
    assert np.abs(out - np.cos(2 * np.pi * r)).max() < 2e-12  # r itself is rounded


def test_a_wind_of_the_scene_blows_on_every_body_with_a_surface() -> None:
    def scene(everywhere: bool) -> sp.Scene:
        out = sp.Scene()
        flag, ball = out.add(plate(), name="flag"), out.add(sp.RigidBody.sphere(0.1, density=300.0), at=(0, 0, 1))
        out.add(sp.Particles(np.eye(3), 1.0))  # nothing for the wind to blow on
        if everywhere:
            out.add(sp.Wind(speed=6.0, seed=2))
        else:
            for node in (flag, ball):
                out.add(sp.Wind(node, (6.0, 0, 0), seed=2))
        return out

    ends = [sp.run(scene(everywhere), until=0.05, dt=0.01).state for everywhere in (True, False)]
    assert np.array_equal(ends[0].x, ends[1].x)
    assert np.array_equal(ends[0].v, ends[1].v)
    assert np.abs(ends[0].v).max() > 1e-3
    with pytest.raises(InputError, match="a velocity or a speed"):
        sp.Wind()


def test_derivatives_of_the_wind_on_balls() -> None:
    rng = np.random.default_rng(3)
    force = BallWind(sp.Wind(velocity=(3.0, 1.0, 0.0), length=0.5), np.full(5, 0.1))
    x, v, dx, dv = rng.normal(size=(4, 5, 3))
    f = lambda s: _force_at(force, x + s * dx, v + s * dv)  # noqa: E731
    h, tangent, out = 1e-6, force.linearize(LocalState(0.3, x, v)), np.zeros((5, 3))
    tangent.add_product(dx, out, 1.0, 0.0)
    tangent.add_product(dv, out, 0.0, 1.0)
    assert np.abs((f(h) - f(-h)) / (2 * h) - out).max() < 1e-7 * np.abs(out).max()


def _force_at(force: BallWind, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    force.add_force(LocalState(0.3, x, v), out)
    return out
