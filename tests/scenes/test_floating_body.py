"""Floating bodies: kinetic energy, mappings, momentum, weight, stiffening, stress, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.floating import FloatingBody, MatrixSolid, Stride
from supple.bodies.floating.points import FloatingPoints
from supple.bodies.floating.stiffening import centrifugal_stiffness, stress_of
from supple.elements.recovery import Law, element_stress
from supple.errors import ConvergenceError, InputError
from supple.modal import ElasticSolid, Interface, Support, linear_modes
from supple.modal.support import rigid_motions
from supple.validation.floating import by_differencing

Array = np.ndarray
RUBBER = sp.Material(young=1e6, poisson=0.3, density=1000)


def beam(cells: tuple[int, int, int] = (6, 1, 1)) -> ElasticSolid:
    return ElasticSolid(sp.box_tets(size=(0.6, 0.1, 0.08), cells=cells), RUBBER)


def random_state(body: FloatingBody, seed: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x, v = np.zeros((1, body.coordinates.x_width)), np.zeros((1, body.coordinates.v_width))
    n = body.mode_count
    x[0, :3], x[0, 3:7], x[0, 7 : 7 + n] = (
        rng.normal(size=3),
        rotations.exp(rng.normal(size=3)),
        0.05 * rng.normal(size=n),
    )
    v[0, : 6 + n] = rng.normal(size=6 + n)
    return x, v


@pytest.mark.parametrize("fixed", [None, "x_min"])
def test_points_keep_the_laws_of_mappings(fixed: str | None) -> None:
    body = FloatingBody.from_solid(beam(), modes=5, fixed=fixed)
    x, v = random_state(body)
    points = FloatingPoints.make(*body.node_shapes(np.array([0, 5, 11])))
    assert sp.check_derivatives(points, x, v).is_ok, sp.check_derivatives(points, x, v)
    assert np.allclose(points.apply(x), body.positions(x)[[0, 5, 11]], atol=1e-14)


def test_matrices_of_a_scene_are_derivatives_with_loads_springs_and_weight() -> None:
    """Force, tangent, geometric stiffness, dampers on mapped points and the assembled matrix."""
    scene = sp.Scene(gravity=(1.0, 2.0, -9.81))
    body = FloatingBody.from_solid(beam(), modes=4, fixed="x_min", stiffness_damping=0.01)
    node = scene.add(body, name="beam")
    scene.add(sp.Load(node.points("x_max"), (0.3, -0.2, 0.5)))
    scene.add(
        sp.Springs(node.points(local=(0.55, 0.0, 0.0)), sp.World.points((0.7, 0.1, 0.3)), stiffness=50.0, damping=2.0)
    )
    system = scene.compile()
    x, v = random_state(body)
    report = sp.check_derivatives(system, x.ravel(), v.ravel())
    assert report.is_ok, report
    assert system.assembly is not None


def test_the_weight_is_that_of_the_deformed_body() -> None:
    """(m g, S x R^T g, Ub^T R^T g) is the pulled-back weight of the nodes; its work is that of the centre of mass."""
    scene = sp.Scene(gravity=(0.5, -1.0, -9.81))
    body = FloatingBody.from_solid(beam(), modes=5, fixed="x_min")
    scene.add(body, name="beam")
    system = scene.compile()
    x, v = random_state(body)
    kin = system.propagate(0.0, x.ravel(), 0 * v.ravel())
    q = x.copy()
    q[0, 7:] = 0.0
    elastic = np.zeros_like(v)
    body.force.add_force(kin.local(system.bodies[0]), elastic)
    expected = np.zeros_like(v)
    points = FloatingPoints.make(*body.node_shapes(np.arange(len(body.mesh.nodes))))
    points.linearize(x).add_transpose(body.model.solid.lumped_mass[:, None] * system.gravity, expected)
    assert np.allclose(system.force(kin) - elastic.ravel(), expected.ravel(), atol=1e-12)
    centre = body.model.solid.lumped_mass @ body.positions(x) / body.total_mass
    assert np.allclose(system.centre_of_mass(kin), centre, atol=1e-13)
    assert system.potential_energy(kin) == pytest.approx(
        -body.total_mass * system.gravity @ centre + body.force.energy(kin.local(system.bodies[0])), abs=1e-12
    )


def test_momentum_is_that_of_the_nodes() -> None:
    body = FloatingBody.from_solid(beam(), modes=5, fixed="x_min")
    x, v = random_state(body)
    points = FloatingPoints.make(*body.node_shapes(np.arange(len(body.mesh.nodes))))
    p = body.model.solid.node_mass @ points.linearize(x).product(v)
    expected = np.concatenate([p.sum(axis=0), np.cross(points.apply(x), p).sum(axis=0)])
    from supple.bodies.protocols import LocalState

    assert np.allclose(body.inertia.momentum(LocalState(0.0, x, v)), expected, atol=1e-13)
    M = body.inertia.at(x).M
    assert 0.5 * v[0] @ M @ v[0] == pytest.approx(0.5 * np.sum(p * points.linearize(x).product(v)), rel=1e-13)


def test_free_modes_are_in_mean_axes() -> None:
    """Frame at the centre of mass; no coupling of the frame with q' at rest, and none of rigid motion in the modes."""
    body = FloatingBody.from_solid(beam(), modes=5)
    M = body.inertia.at(body.place(sp.scene.scene.Placement()).x).M
    scale = np.sqrt(np.outer(M.diagonal(), M.diagonal()))
    coupling = np.abs(M / scale)
    assert coupling[:6, 6:].max() < 1e-10
    assert coupling[:3, 3:6].max() < 1e-12


def test_a_basis_with_rigid_motion_loses_it_and_says_so() -> None:
    solid = beam()
    support = Support(solid, None)
    modes = linear_modes(support, 4)
    rigid = rigid_motions(solid.mesh.nodes, 1.0)
    mixed = np.concatenate([modes.shapes + rigid[:, :4], rigid], axis=1)
    with pytest.warns(UserWarning, match="6 rigid motions"):
        body = FloatingBody.from_basis(support, mixed)
    assert body.mode_count == 4
    assert np.allclose(body.frequencies, modes.frequencies, rtol=1e-9)


def test_attachment_modes_hold_the_static_response() -> None:
    """The deflection under an end load is the full solid's, which eight vibration modes miss."""
    solid = beam()
    end = Interface(solid.mesh.nodes, solid.mesh.node_region("x_max"))
    support = Support(solid, "x_min")
    load = end.unit_loads()[:, [0]]
    full = support.static_response(load)
    errors = []
    for interfaces in ((), (end,)):
        body = FloatingBody.from_solid(solid, modes=4, fixed="x_min", interfaces=interfaces)
        U = body.model.U
        q = np.linalg.solve(body.model.K, U.T @ load)
        errors.append(np.linalg.norm(U @ q - full) / np.linalg.norm(full))
    assert errors[0] > 1e-2
    assert errors[1] < 1e-9


def test_modal_damping_has_the_ratio_asked_for() -> None:
    body = FloatingBody.from_solid(beam(), modes=3, fixed="x_min", damping_ratio=(0.01, 0.02, 0.03))
    w = 2 * np.pi * body.frequencies
    values = np.linalg.eigvals(np.block([[np.zeros((3, 3)), np.eye(3)], [-body.model.K, -body.damping]]))
    found = np.sort(np.abs(values.real))[::2]
    assert np.allclose(found, np.sort(np.array([0.01, 0.02, 0.03]) * w), rtol=1e-6)


def test_the_frame_alone_is_not_damped() -> None:
    scene = sp.Scene()
    body = FloatingBody.from_solid(beam(), modes=3, mass_damping=5.0, stiffness_damping=0.1)
    scene.add(body, velocity=(1, 2, 3), name="beam")
    system = scene.compile()
    state = system.initial_state()
    for _ in range(5):
        sp.Midpoint(0.01).step(system, state)
    assert np.allclose(state.v[:3], (1, 2, 3), atol=1e-12)


def test_the_stress_that_stiffens_is_that_of_the_elements() -> None:
    mesh = sp.box_tets(size=(0.4, 0.1, 0.1), cells=(3, 2, 2))
    solid, u = ElasticSolid(mesh, sp.Material(2e6, 0.35, 900)), np.random.default_rng(8).normal(size=mesh.nodes.shape)
    _, lam, mu = solid.point_values
    exact = element_stress(mesh.nodes, mesh.elements, Law.LINEAR, lam, mu, mesh.nodes + u).stress
    assert stress_of(solid, u.reshape(-1, 1))[..., 0] == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("hub", [0.0, 0.5])
def test_stiffening_is_the_tension_of_a_spinning_bar(hub: float) -> None:
    """G of a transverse shape y = x²: int rho A ((L² - x²)/2 + hub (L - x)) y'² dx for a spin across the plane, about a
    frame that is a hub's radius before the root."""
    L, a, rho = 1.0, 0.02, 1000.0
    solid = ElasticSolid(
        sp.box_hexes(size=(L, a, a), cells=(40, 1, 1)), sp.Material(young=1e7, poisson=0.0, density=rho)
    )
    U = np.zeros((solid.node_count, 3, 1))
    U[:, 1, 0] = solid.mesh.nodes[:, 0] ** 2
    X = solid.mesh.nodes + np.array([hub, 0, 0])
    G = centrifugal_stiffness(Support(solid, "x_min"), U.reshape(-1, 1), X)[0, 0]
    expected = rho * a * a * 4 * ((L**5 / 3 - L**5 / 5) / 2 + hub * (L**4 / 3 - L**4 / 4))
    assert G[2, 2] == pytest.approx(expected, rel=2e-3)
    assert abs(G[0, 0]) < 1e-3 * expected


def test_stiffening_takes_the_shortening_from_the_turning_inertia() -> None:
    """J(q) loses sum q_l q_p G_lp about all axes, as the kinetic energy -1/2 q_l q_p w . G_lp w has it."""
    made = {given: FloatingBody.from_solid(beam(), modes=4, fixed="x_min", stiffening=given) for given in (False, True)}
    x, _ = random_state(made[True])
    q, G = x[0, 7:11], made[True].model.stiffening
    assert G is not None
    with_it, without = (made[given].inertia.at(x).M[3:6, 3:6] for given in (True, False))
    lost = np.einsum("l,p,lpij->ij", q, q, G)
    assert np.abs(lost).max() > 1e-3 * np.abs(without).max()  # a bend that matters
    assert np.abs(without - with_it - lost).max() < 1e-9 * np.abs(lost).max()


def test_stiffening_keeps_energy_and_momentum() -> None:
    """It is a part of the kinetic energy: Runge-Kutta at two steps shows errors that fall with the fourth power."""
    body = FloatingBody.from_solid(beam(), modes=5, stiffening=True)
    scene = sp.Scene()
    scene.add(body, spin=(3, 8, 20), name="beam")
    system = scene.compile()
    state = system.initial_state()
    kin = system.propagate(0.0, state.x, state.v)
    E0, L0 = system.kinetic_energy(kin), system.momentum(kin)
    body.advance(state.x[None], state.v[None], 5e-5, steps=4000, stride=Stride(method="runge-kutta"))
    kin = system.propagate(0.2, state.x, state.v)
    assert np.abs(state.x[7:12]).max() > 1e-3
    assert system.kinetic_energy(kin) + system.potential_energy(kin) == pytest.approx(E0, rel=1e-8)
    assert np.allclose(system.momentum(kin), L0, atol=1e-9 * np.abs(L0).max())


def test_equations_hold_for_a_basis_that_is_not_orthonormal() -> None:
    solid = beam()
    rng = np.random.default_rng(0)
    modes = linear_modes(Support(solid, "x_min"), 4).shapes @ rng.normal(size=(4, 4))
    body = FloatingBody.from_basis(Support(solid, "x_min"), modes)
    x, v = random_state(body)
    n = 6 + body.mode_count
    M, Q = by_differencing(body, x, v[0, :n])
    from supple.bodies.protocols import LocalState

    ours = np.zeros_like(v)
    body.inertia.add_bias(LocalState(0.0, x, v), ours)
    assert np.allclose(body.inertia.at(x).M[:n, :n], M, atol=1e-12 * np.abs(M).max())
    assert np.allclose(ours[0, :n], Q, atol=1e-12 * np.abs(Q).max())


def test_stress_of_a_stretched_bar_is_uniform() -> None:
    solid = ElasticSolid(
        sp.box_tets(size=(1, 0.1, 0.1), cells=(4, 1, 1)), sp.Material(young=1e6, poisson=0.0, density=1)
    )
    stretch = (solid.mesh.nodes * [1, 0, 0]).reshape(-1, 1)
    body = FloatingBody.from_basis(Support(solid, "x_min"), stretch, q=[1e-3])
    turn = rotations.exp(np.array([1.0, 2.0, 3.0]))
    stress = body.stress(body.place(sp.scene.scene.Placement(rotation=turn)).x)
    axis = rotations.to_matrix(turn)[:, 0]
    assert np.allclose(stress.stress, 1e3 * np.outer(axis, axis), rtol=0, atol=1e-6)
    assert np.allclose(stress.von_mises, 1e3, rtol=1e-9)


def test_matrices_from_a_file_give_the_body_of_the_solid(tmp_path: Path) -> None:
    solid = beam()
    M, K = solid.mass_matrix, solid.stiffness
    parts = {f"{n}_{p}": getattr(A, p) for n, A in (("M", M), ("K", K)) for p in ("data", "indices", "indptr")}
    np.savez(tmp_path / "beam.npz", nodes=solid.mesh.nodes, tets=solid.mesh.elements, **parts)
    folder = tmp_path / "beam"
    folder.mkdir()
    np.savetxt(folder / "nodes.txt", solid.mesh.nodes)
    scipy.io.mmwrite(folder / "M.mtx", sparse.coo_matrix(M))
    scipy.io.mmwrite(folder / "K.mtx", sparse.coo_matrix(K))
    own = FloatingBody.from_solid(solid, modes=4)
    for source in (tmp_path / "beam.npz", folder):
        body = FloatingBody.from_matrices(source, modes=4)
        assert np.allclose(body.frequencies, own.frequencies, rtol=1e-8)
        assert body.total_mass == pytest.approx(own.total_mass)


def test_bad_input_is_refused() -> None:
    solid = beam()
    X, M, K = solid.mesh.nodes, solid.mass_matrix, solid.stiffness
    light = M.tolil()
    light[:3] = 0
    light[:, :3] = 0
    indefinite = sparse.kron(solid.node_mass - 2 * sparse.diags_array(solid.lumped_mass), sparse.eye_array(3))
    turned = M.tolil()
    turned[0, 0] *= 2
    cases = [
        (lambda: MatrixSolid(X, light, K), "not positive definite"),
        (lambda: MatrixSolid(X, indefinite, K), "not positive definite"),
        (lambda: MatrixSolid(X, turned, K), "not that of points"),
        (lambda: MatrixSolid(X[:-1], M, K), "does not fit the nodes"),
        (lambda: FloatingBody.from_matrices(X, M), "mass and stiffness are needed"),
        (lambda: FloatingBody.from_solid(solid, modes=3, stiffening=True, cubic=True), "both hold the tension"),
        (lambda: FloatingBody.from_solid(solid, modes=3, damping_ratio=-1.0), "damping_ratio is negative"),
        (lambda: FloatingBody.from_solid(solid, modes=3, q=[1.0]), "q is not 3 finite numbers"),
        (lambda: FloatingBody.from_basis(Support(solid), rigid_motions(X, 1.0)), "all shapes are rigid"),
        (
            lambda: FloatingBody.from_basis(
                Support(solid, "x_min"), np.repeat(linear_modes(Support(solid, "x_min"), 1).shapes, 2, axis=1)
            ),
            "depend on each other",
        ),
    ]
    for make, words in cases:
        with pytest.raises(InputError, match=words):
            make()
    bare = FloatingBody.from_matrices(X, M, K, modes=2)
    with pytest.raises(InputError, match="stress needs the elements"):
        bare.stress(bare.place(sp.scene.scene.Placement()).x)
    with pytest.raises(InputError, match="points at its nodes only"):
        bare.shapes_at(np.array([[0.05, 0.01, 0.01]]))


def test_a_step_that_does_not_converge_is_an_error() -> None:
    body = FloatingBody.from_solid(beam(), modes=3)
    x, v = random_state(body)
    v[0, 3:6] = (100.0, 50.0, 20.0)
    with pytest.raises(ConvergenceError, match="did not reach its tolerance"):
        body.advance(x, v, 0.1, stride=Stride(max_iterations=2))


@pytest.mark.parametrize("with_elements", [True, False])
def test_a_place_on_the_clamped_face_does_not_turn(with_elements: bool) -> None:
    """The elements at the face have free nodes, whose motion is none of the face's."""
    solid = ElasticSolid(sp.box_tets(size=(0.6, 0.1, 0.08), cells=(6, 2, 2)), RUBBER)
    nodes, root = np.asarray(solid.mesh.nodes), solid.mesh.node_region("x_min")
    middle = nodes[root].mean(axis=0)
    elements = solid.mesh if with_elements else None
    M = sparse.kron(sparse.diags_array(solid.lumped_mass), sparse.eye_array(3))
    body = FloatingBody.from_matrices(nodes, M, solid.stiffness, elements=elements, modes=4, fixed=root)
    places = [middle, middle + np.array([0.0, 0.013, 0.021])] if with_elements else [middle]
    for place in places:
        X, shapes = body.shapes_fixed_to(place, place + 0.1 * np.eye(3))
        assert pytest.approx(place + 0.1 * np.eye(3) - body.origin) == X
        assert not shapes.any()
    _, shapes = body.shapes_fixed_to(np.array([0.6, *middle[1:]]), 0.1 * np.eye(3))
    assert np.abs(shapes).max() > 0.1


def test_a_hinge_on_the_clamped_face_swings_a_pendulum_about_its_frame() -> None:
    """The hinge holds the frame itself: its origin stays and its axis too, to the joints' tolerance."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    body = FloatingBody.from_solid(beam((6, 2, 2)), modes=4, fixed="x_min")
    middle = np.asarray(body.mesh.nodes)[body.mesh.node_region("x_min")].mean(axis=0)
    node = scene.add(body, name="pendulum")
    scene.add(sp.HingeJoint(node, at=middle, axis=(0, 1, 0)))
    system = scene.compile()
    state, solver = system.initial_state(), sp.GeneralizedAlpha(0.005)
    for _ in range(40):
        assert solver.step(system, state).is_solved
    assert np.abs(state.x[7 : 7 + body.mode_count]).max() > 1e-4
    R = rotations.to_matrix(state.x[3:7])
    np.testing.assert_allclose(R @ (middle - body.origin) + state.x[:3], middle, atol=1e-9)
    np.testing.assert_allclose(R @ [0, 1, 0], [0, 1, 0], atol=1e-9)
