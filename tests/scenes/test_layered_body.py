"""Layered bodies: derivatives, momentum, statics against finite elements, stress, points, surfaces, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.floating import Stride
from supple.bodies.layered import LayeredBody
from supple.bodies.layered.points import LayeredPoints
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.bodies.rigid.body import surface_of
from supple.errors import ConvergenceError, InputError
from supple.record.measures import measure
from supple.record.surfaces import make_surface
from supple.solvers.linear.frame_momentum import linear_loss
from supple.validation.floating_layered import cube, stretched

Array = np.ndarray
RUBBER = sp.Material(young=1e5, poisson=0.35, density=1000, stiffness_damping=1e-3)


def small(law: str = "linear", **more: Any) -> LayeredBody:
    """A box of 3 x 3 x 3 cells around a core of one, 56 free nodes."""
    mesh = sp.box_tets(size=(0.09, 0.09, 0.09), cells=(3, 3, 3))
    inside = lambda X: np.abs(X - (0.045, 0, 0)).max(axis=1) < 0.02  # noqa: E731
    return LayeredBody.from_mesh(mesh, RUBBER, core=inside, core_density=3000, law=law, **more)


def random_state(body: LayeredBody, seed: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x, v = np.zeros((1, body.coordinates.x_width)), rng.normal(size=(1, body.coordinates.v_width))
    x[0, :3], x[0, 3:7] = rng.normal(size=3), rotations.exp(rng.normal(size=3))
    x[0, 7:] = 1e-3 * rng.normal(size=x.shape[1] - 7)
    return x, v


def test_the_mass_of_a_body_whose_core_is_off_its_centre_is_symmetric() -> None:
    """Symmetric, and the energy that it gives is that of momentum at the speed of each point."""
    mesh = sp.box_tets(size=(0.12, 0.09, 0.09), cells=(4, 3, 3))
    body = LayeredBody.from_mesh(mesh, RUBBER, core=lambda X: np.abs(X - (0.045, 0, 0)).max(axis=1) < 0.02)
    assert np.linalg.norm(body.model.rigid.S) > 1e-3 * body.total_mass * 0.03
    system = sp.Scene()
    system.add(body, name="box")
    mass = system.compile().masses[0].mass
    (x, v), (_, w) = random_state(body), random_state(body, seed=4)
    M, (of_v, of_w) = mass.at(x), np.zeros((2, *v.shape))
    M.add_product(v, of_v, 1.0)
    M.add_product(w, of_w, 1.0)
    assert np.vdot(w, of_v) == pytest.approx(np.vdot(v, of_w), rel=1e-12)
    still = np.zeros_like(v)
    still[0, 3:6] = 1.0, 2.0, 3.0
    turned = np.zeros_like(v)
    M.add_product(still, turned, 1.0)
    assert turned[0, :3] == pytest.approx(measure_of(body, x, still)[:3], rel=1e-12)


def measure_of(body: LayeredBody, x: Array, v: Array) -> Array:
    """Momentum (6,) as a run measures it."""
    scene = sp.Scene()
    scene.add(body, name="box")
    system = scene.compile()
    state = system.initial_state()
    state.x[:], state.v[:] = x.ravel(), v.ravel()
    return np.asarray(measure(system, state).momentum)


@pytest.mark.parametrize("law", ["linear", "stvk"])
def test_matrices_of_a_scene_are_derivatives_with_loads_springs_and_weight(law: str) -> None:
    """Force, tangent, geometric stiffness, dampers on mapped points and the assembled matrix."""
    body = small(law, mass_damping=0.3, stiffness_damping=0.01 if law == "linear" else 0.0)
    scene = sp.Scene(gravity=(1.0, 2.0, -9.81))
    node = scene.add(body, name="box")
    scene.add(sp.Load(node.points("x_max"), (0.3, -0.2, 0.5)))
    scene.add(
        sp.Springs(node.points(local=(0.085, 0.01, 0.0)), sp.World.points((0.2, 0.1, 0.3)), stiffness=50.0, damping=2.0)
    )
    system = scene.compile()
    x, v = random_state(body)
    report = sp.check_derivatives(system, x, v)
    assert report.is_ok, report
    assert system.assembly is not None


def test_points_keep_the_laws_of_mappings_and_follow_the_nodes() -> None:
    body = small()
    node = sp.Scene().add(body, name="box")
    x, v = random_state(body)
    core = int(body.model.fixed[0])
    points = node.points([0, 5, core]).mapping
    assert isinstance(points, LayeredPoints)
    assert sp.check_derivatives(points, x, v).is_ok, sp.check_derivatives(points, x, v)
    assert np.allclose(points.apply(x), body.positions(x)[[0, 5, core]], atol=1e-14)
    rows = points.linearize(x).jacobian_rows()
    assert np.diff(rows.ptr).tolist() == [3, 3, 2]  # a point of the core has the frame's two blocks alone
    middle = node.points(local=[(0.0, -0.045, 0.0)]).mapping  # on an edge of the surface, between two nodes
    assert np.isclose(middle.weights.sum(), 1.0)
    nearest = body.nearest_points([(0.0, 0.0, 0.0), (0.09, 0.0, 0.01)])
    assert np.allclose(np.asarray(body.mesh.nodes)[nearest][:, 0], [0.0, 0.09])


def test_a_stretched_layer_is_damped_by_its_stiffness_as_it_is() -> None:
    """f(x, v) - f(x, 0) = beta df/dx v, where the layer is stretched along all axes, so that K is definite."""
    beta = 0.02
    force = small("stvk", stiffness_damping=beta).force
    x, v = random_state(small("stvk"))
    x[0, 7:] = 0.3 * force.model.X_layer[: force.model.free_count].ravel()

    def at(q: Array, rate: Array) -> Array:
        out, state = np.zeros_like(v), np.zeros_like(x)
        state[:], state[0, 7:] = x, q
        force.add_force(LocalState(0.0, state, np.concatenate([np.zeros((1, 6)), rate[None]], axis=1)), out)
        return out[0, 6:]

    q, rate, still = x[0, 7:], v[0, 6:], np.zeros_like(v[0, 6:])
    h = 1e-6
    slope = (at(q + h * rate, still) - at(q - h * rate, still)) / (2 * h)
    np.testing.assert_allclose(at(q, rate) - at(q, still), beta * slope, atol=1e-6 * np.abs(slope).max() * beta)


def test_definite_tangents_are_symmetric_and_give_no_energy() -> None:
    body = small()
    scene = sp.Scene(gravity=(0, 0, -9.81))
    node = scene.add(body, name="box")
    scene.add(sp.Load(node.points("x_max"), (0.3, -0.2, 0.5)))
    system = scene.compile()
    x, v = random_state(body)
    K = system.linearize(system.propagate(0.0, x[0], v[0]), definite=True).matrix(stiffness=1.0).toarray()
    assert np.allclose(K, K.T, atol=1e-9 * np.abs(K).max())
    assert np.linalg.eigvalsh(K).max() < 1e-9 * np.abs(K).max()


def test_a_free_body_keeps_momentum_and_falls_as_a_stone() -> None:
    body = small()
    body = LayeredBody(body.model, q=1e-3 * np.random.default_rng(0).normal(size=3 * body.free_count), beta=1e-4)
    scene = sp.Scene(gravity=(0, 0, -10.0))
    scene.add(body, spin=(3, -2, 8), velocity=(1.0, 0.0, 0.0), name="box")
    system = scene.compile()
    state = system.initial_state()
    before = measure(system, state)
    start = system.centre_of_mass(system.propagate(0.0, state.x, state.v))
    report = body.advance(state.x[None], state.v[None], 1e-3, steps=50, gravity=(0, 0, -10.0))
    assert report.residual <= 1e-8
    after = measure(system, state)
    mass, t = body.total_mass, 0.05
    assert np.allclose(after.momentum[:3], before.momentum[:3] + np.array([0, 0, -10 * t * mass]), rtol=0, atol=1e-12)
    now = system.centre_of_mass(system.propagate(t, state.x, state.v))
    velocity = before.momentum[:3] / mass
    assert np.allclose(now, start + velocity * t + np.array([0, 0, -5 * t * t]), atol=1e-7)  # to the steps' tolerance
    spin = [m[3:] - np.cross(c, m[:3]) for m, c in ((before.momentum, start), (after.momentum, now))]
    assert np.allclose(spin[0], spin[1], rtol=1e-7)  # about the centre, which gravity does not turn


@pytest.mark.parametrize(("newton", "drift"), [(False, 1e-12), (True, 1e-8)])
def test_implicit_euler_keeps_the_momentum_of_a_free_body(newton: bool, drift: float) -> None:
    """Of a body that spins and vibrates; Newton's iterations stop at their tolerance."""
    body = small()
    body = LayeredBody(body.model, q=1e-3 * np.random.default_rng(0).normal(size=3 * body.free_count), beta=1e-4)
    scene = sp.Scene(solver=sp.ImplicitEuler(1e-3, newton=newton))
    scene.add(body, spin=(3, -2, 8), velocity=(1.0, 0.0, 0.0), name="box")
    momentum = sp.run(scene, until=0.03, record_every=1e-3).frames.columns["momentum"]
    assert np.linalg.norm(momentum[:, :3] - momentum[0, :3], axis=1).max() < drift * np.linalg.norm(momentum[0, :3])


def test_the_momentum_it_lacks_after_a_step_is_that_of_any_mass() -> None:
    rng, body = np.random.default_rng(0), cube()
    mass, width = body.inertia, body.coordinates.v_width
    x = np.concatenate([rng.normal(size=3), rng.normal(size=4), 0.01 * rng.normal(size=width - 6)])[None]
    x[0, 3:7] /= np.linalg.norm(x[0, 3:7])
    v, v_1 = rng.normal(size=(2, 1, width))
    before = LocalState(1.0, x, v)
    after = LocalState(1.01, body.coordinates.retract(x, 0.01 * v_1), v_1)
    np.testing.assert_allclose(mass.linear_loss(before, after), linear_loss(mass, before, after), rtol=1e-9)


def test_a_held_layer_sags_as_finite_elements_do() -> None:
    """The frame held, gravity and a load: the displacements of a linear FEM body with the core's nodes held."""
    body = small()
    scene = sp.Scene(gravity=(1.0, 0.0, -9.81))
    node = scene.add(body, name="box")
    scene.add(sp.Load(node.points("x_max"), (0.0, 0.001, 0.002)))
    scene.add(sp.FixedPoints(node))
    system = scene.compile()
    state = sp.solve_statics(system)
    rival = sp.Scene(gravity=(1.0, 0.0, -9.81))
    fem = rival.add(sp.FemBody(body.mesh, RUBBER, law="linear"), name="box")
    rival.add(sp.Load(fem.points("x_max"), (0.0, 0.001, 0.002)))
    rival.add(sp.FixedPoints(fem, body.model.fixed))
    other = rival.compile()
    held = sp.solve_statics(other)
    found, wanted = body.positions(state.x[None]), held.x.reshape(-1, 3)
    assert np.abs(wanted - body.mesh.nodes).max() > 1e-5
    assert np.allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted - body.mesh.nodes).max())
    ours, theirs = body.stress(state.x[None]), fem.body.stress(wanted)
    assert np.allclose(ours.stress, theirs.stress, atol=1e-9 * np.abs(theirs.stress).max())
    assert not ours.von_mises[body.model.core].any()


def test_own_steps_are_those_of_the_midpoint_rule_in_a_scene() -> None:
    body = small()
    body = LayeredBody(
        body.model, q=5e-4 * np.random.default_rng(1).normal(size=3 * body.free_count), alpha=0.2, beta=1e-4
    )
    scene = sp.Scene(gravity=(1.0, 2.0, -9.81))
    scene.add(body, spin=(1, 2, 15), velocity=(1, 0, 0.5), name="box")
    system = scene.compile()
    state = system.initial_state()
    x, v = state.x[None].copy(), state.v[None].copy()
    solver = sp.Midpoint(2e-3, newton_tolerance=1e-12)
    for _ in range(4):
        solver.step(system, state)
    body.advance(x, v, 2e-3, steps=4, gravity=(1.0, 2.0, -9.81), stride=Stride(tolerance=1e-12))
    assert np.allclose(x[0], state.x, atol=1e-10)
    assert np.allclose(v[0], state.v, atol=1e-8)


def test_it_runs_under_implicit_euler_beside_other_bodies_and_hangs_on_a_hinge() -> None:
    """A hinge holds the core: after a while the body hangs at rest below it, stretched by its weight."""
    body = small(stiffness_damping=0.02)
    scene = sp.Scene(gravity=(0, 0, -9.81))
    node = scene.add(body, at=(0.0, 0.0, 0.0), name="box")
    scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0, 0, 1), name="ball")
    scene.add(sp.BallJoint(node, sp.World, at=(0.045, 0.0, 0.0)))
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.01)
    for _ in range(30):
        assert solver.step(system, state).is_solved
    x, v = system.positions(state, "box"), system.velocities(state, "box")
    centre = system.centre_of_mass(system.propagate(state.t, state.x, state.v), system.body("box"))
    assert np.allclose(centre[:2], (0.045, 0.0), atol=1e-4)
    assert centre[2] < -1e-5
    assert np.abs(v[0, 6:]).max() < 1e-3
    assert np.isfinite(x).all()
    assert np.isclose(system.velocities(state, "ball")[0, 2], -9.81 * 0.3)


@pytest.mark.parametrize("held", [False, True])
def test_a_body_preconditions_its_own_part_of_a_scene(held: bool) -> None:
    """A stiff layer at a large step, beside a rigid body: a few iterations, and the solution of plain gradients."""
    stiff = sp.Material(young=1e8, poisson=0.35, density=1000)
    inside = lambda X: np.abs(X - (0.045, 0, 0)).max(axis=1) < 0.02  # noqa: E731
    mesh = sp.box_tets(size=(0.09, 0.09, 0.09), cells=(3, 3, 3))
    body = LayeredBody.from_mesh(mesh, stiff, core=inside, mass_damping=0.5, stiffness_damping=1e-3)
    found = []
    for preconditioner in ("bodies", "block_jacobi"):
        scene = sp.Scene(gravity=(0, 0, -9.81))
        node = scene.add(body, rotation=(0.3, -0.2, 0.5), spin=(1, 2, 5), name="box")
        ball = scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.3, 0, 0), name="ball")
        scene.add(sp.Springs(node.points(local=[(0.09, 0, 0)]), ball.points(local=[(-0.05, 0, 0)]), stiffness=30.0))
        if held:
            scene.add(sp.FixedPoints(node))
        system = scene.compile()
        state = system.initial_state()
        solver = sp.ImplicitEuler(0.01, linear="cg", tolerance=1e-10, preconditioner=preconditioner)
        reports = [solver.step(system, state) for _ in range(3)]
        assert all(report.is_solved for report in reports)
        found.append((state.x.copy(), max(report.linear_iterations for report in reports)))
    assert np.allclose(found[0][0], found[1][0], atol=1e-9)
    assert found[0][1] <= 12
    assert found[1][1] > 5 * found[0][1]


def test_its_surface_is_recorded_as_it_moves() -> None:
    body = small()
    scene = sp.Scene()
    scene.add(body, name="box")
    system = scene.compile()
    state = system.initial_state()
    state.x[:] = random_state(body)[0][0]
    surface = make_surface(system.body("box"))
    assert surface.kind == "layered"
    assert len(surface.triangles) == 12 * 9
    assert np.allclose(surface.points(state), body.positions(state.x[None])[body.surface_nodes], atol=1e-6)


def test_a_ball_from_its_surface_has_the_mass_and_thickness_asked_for() -> None:
    ball = surface_of(sp.sphere_tets(0.1, 6))
    body = LayeredBody.from_surface(ball, RUBBER, thickness=0.025, cells=2, core_density=400)
    radius = np.linalg.norm(body.model.X, axis=1)
    volume = body.mesh.volumes[body.model.core].sum()
    assert abs((3 * volume / (4 * np.pi)) ** (1 / 3) - 0.075) < 0.002  # a cell is 12 mm
    assert np.allclose(body.total_mass, 400 * volume + 1000 * (body.mesh.volumes.sum() - volume), rtol=1e-12)
    assert abs(body.mesh.volumes.sum() / ball.volume - 1) < 0.02
    assert radius[body.surface_nodes].min() > 0.09
    assert np.linalg.norm(body.origin) < 1e-3
    J = body.inertia.at(body.place(Placement()).x).J
    a, b, rho = 0.1, 0.075, 1000.0
    solid = 8 * np.pi / 15 * (rho * (a**5 - b**5) + 400 * b**5)
    assert np.allclose(np.diag(J), solid, rtol=0.05)  # facets of the surface, steps of the core, lumping


def test_the_core_begins_at_the_thickness() -> None:
    """In a box that is turned, so that centres of elements lie at many depths: they are those below its faces."""
    half, thickness, turn = np.array([0.1, 0.08, 0.06]), 0.02, rotations.exp(np.array([0.3, 0.5, -0.4]))
    box = surface_of(sp.box_tets(size=2 * half, cells=(1, 1, 1)).moved(rotation=turn))
    body = LayeredBody.from_surface(box, RUBBER, thickness=thickness, cells=2)
    middle = box.bounds.mean(axis=0)
    centres = body.mesh.nodes[body.mesh.tets].mean(axis=1) - middle
    depth = (half - np.abs(rotations.rotate_inverse(turn, centres))).min(axis=1)
    assert np.array_equal(body.model.core, depth > thickness)
    assert (np.abs(depth / thickness - 1) < 0.005).sum() > 4  # near enough to tell a thickness from 1.01 of it


def test_what_it_cannot_be_made_of() -> None:
    mesh = sp.box_tets(size=(0.09, 0.09, 0.09), cells=(3, 3, 3))
    ball = surface_of(sp.sphere_tets(0.1, 4))
    with pytest.raises(InputError, match="leaves no layer"):
        LayeredBody.from_mesh(mesh, RUBBER, core=lambda X: np.ones(len(X), dtype=bool))
    with pytest.raises(InputError, match="there is no core"):
        LayeredBody.from_mesh(mesh, RUBBER, core=np.zeros(len(mesh.tets), dtype=bool))
    with pytest.raises(InputError, match="holds every node"):
        LayeredBody.from_mesh(mesh, RUBBER, core=np.arange(1, len(mesh.tets)))
    with pytest.raises(InputError, match="leaves no core"):
        LayeredBody.from_surface(ball, RUBBER, thickness=0.1)
    with pytest.raises(InputError, match="open"):
        LayeredBody.from_surface(sp.SurfaceMesh(ball.nodes, ball.triangles[1:]), RUBBER, thickness=0.02)
    with pytest.raises(InputError, match="inside out"):
        LayeredBody.from_surface(sp.SurfaceMesh(ball.nodes, ball.triangles[:, ::-1]), RUBBER, thickness=0.02)
    with pytest.raises(InputError, match="thickness is out of range"):
        LayeredBody.from_surface(ball, RUBBER, thickness=0.0)
    with pytest.raises(InputError, match="density"):
        LayeredBody.from_mesh(mesh, RUBBER, core=lambda X: X[:, 0] < 0.04, core_density=-1.0)
    nodes = np.concatenate([ball.nodes, np.asarray(ball.nodes) + np.array([0.12, 0.013, 0.007])])
    both = sp.SurfaceMesh(nodes, np.concatenate([ball.triangles, np.asarray(ball.triangles) + len(ball.nodes)]))
    with pytest.raises(InputError, match="the surface cuts itself: triangle"):
        LayeredBody.from_surface(both, RUBBER, thickness=0.02)


def test_a_layer_apart_from_the_core_is_refused() -> None:
    mesh = sp.box_tets(size=(0.09, 0.09, 0.09), cells=(3, 3, 3))
    both = mesh.merged(mesh.moved(at=(1.0, 0.0, 0.0)))
    with pytest.raises(InputError, match="does not touch the core"):
        LayeredBody.from_mesh(both, RUBBER, core=lambda X: X[:, 0] < 0.04)


def test_a_step_that_does_not_converge_says_so() -> None:
    body = small()
    placed = body.place(Placement(spin=np.array([0.0, 0.0, 30.0])))
    with pytest.raises(ConvergenceError, match="did not reach its tolerance"):
        body.advance(placed.x, placed.v, 1e-2, stride=Stride(tolerance=1e-13, max_iterations=1))
    other = small("stvk")
    placed = other.place(Placement())
    with pytest.raises(InputError, match="linear law"):
        other.advance(placed.x, placed.v, 1e-3)


def test_laws_in_the_frame_agree_for_small_displacements() -> None:
    shape = stretched(cube(), 1e-6)
    forces = []
    for law in ("linear", "corotational", "stvk", "neo-hookean"):
        body = cube(law=law)
        placed = LayeredBody(body.model, q=shape).place(Placement())
        f = np.zeros_like(placed.v)
        body.force.add_force(LocalState(0.0, placed.x, placed.v), f)
        forces.append(f[0])
    for f in forces[1:]:
        assert np.abs(f - forces[0]).max() < 2e-4 * np.abs(forces[0]).max()
