"""Laws of a compiled system: one matrix, its products and differences agree; threads change no bit; sums are sums."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
import pytest
import scipy.sparse as sparse

import supple as sp
from supple.bodies.point_mass import PointMass
from supple.bodies.protocols import LocalState
from supple.errors import InputError
from supple.scene import join
from supple.scene.derivatives import check_derivatives, differentiate, relative_error
from supple.scene.linearization import slot_jacobian

RNG = np.random.default_rng(31)
DIFFERENCED = 1e-8
"""Richardson's differences over 1e-4 of a body a metre long leave about ten digits of the largest stiffness."""


def everything() -> sp.Scene:
    """Soft bodies of both elements, rigid bodies, particles, springs of all kinds, pressure, joints, a mapped mass."""
    rng = np.random.default_rng(2)
    scene = sp.Scene(gravity=(0.1, -0.2, -9.81), name="everything")
    rubber = sp.Material(young=2e4, poisson=0.3, density=1000, mass_damping=0.4, name="rubber")
    foam = sp.Material(young=1e4, poisson=0.2, density=300, name="foam")
    beam = scene.add(
        sp.FemBody(sp.box_tets(size=(1.0, 0.3, 0.3), cells=(3, 1, 1)), rubber, mass="consistent"),
        rotation=(0.1, 0.2, 0.3), fix="x_min", name="beam",
    )  # fmt: skip
    block = scene.add(
        sp.FemBody(sp.box_hexes(size=(0.5, 0.4, 0.3), cells=(2, 1, 1)), foam, law="neo-hookean"),
        at=(0, 1, 0),
        name="block",
    )
    plate = scene.add(
        sp.RigidBody.box((0.4, 0.3, 0.1), density=600), at=(1.2, 0, 0.4), rotation=(0.5, 0.1, 0), name="plate"
    )
    arm = scene.add(
        sp.RigidBody.cylinder(0.05, 0.4, density=800), at=(1.3, 0.2, 0.8), rotation=(0, 0.9, 0.3), name="arm"
    )
    dots = scene.add(
        sp.Particles(
            rng.normal(size=(4, 3)), [0.1, 0.2, 0.3, 0.4], springs=[(0, 1), (1, 2), (2, 3)], stiffness=30, damping=0.3
        ),
        name="dots",
    )
    scene.add(sp.SlidingPlane(dots, [0], normal=(1.0, 1.0, 0.2)))
    tip = beam.points("x_max")
    scene.add(sp.Springs(tip, plate.points(at=tip.rest), 200.0, 1.0, rest_length=0.0), name="glue")
    scene.add(sp.Springs(block.points(at=[[0.2, 1.0, 0.1]]), dots.points([3]), 50.0, 0.2), name="string")
    middle = join(plate.points(local=[[0.1, 0, 0]]), arm.points(local=[[0, 0, 0.1]]), dots.points([1]))
    mixed = middle.combined([[0.5, 0.2, 0.3], [0.1, 0.8, 0.1]])
    scene.add(sp.Springs(mixed, sp.World.points([[0, 0, 2.0], [1, 1, 1]]), 20.0, 0.1, rest_length=0.4), name="far")
    scene.add(sp.Pressure(block, lambda X: X[:, 0] > -1.0, 300.0), name="balloon")
    scene.add(sp.Load(beam.points("x_max"), lambda t: (0.0, 3.0 * np.cos(t), 1.0)), name="wind")
    scene.add(sp.Load(plate.points(local=[[0.2, 0.1, 0.0]]), (1.0, 2.0, -3.0)), name="push")
    scene.add(sp.HingeJoint(plate, arm, at=(1.25, 0.1, 0.6), axis=(0, 1, 0)))
    scene.add(sp.BallJoint(arm.points(local=[[0, 0, 0.2]]), dots.points([2])))
    scene.add(PointMass(np.array([0.7, 0.2])), on=mixed)
    scene.add(PointMass(np.array([0.5])), on=arm.points(local=[[0.1, 0.2, 0.0]]), name="lump")
    return scene


def dense(A: Any) -> np.ndarray:
    return A.toarray() if sparse.issparse(A) else A


@cache
def compiled() -> Any:
    return everything().compile()


@cache
def somewhere() -> tuple[np.ndarray, np.ndarray]:
    system = compiled()
    rng = np.random.default_rng(4)
    return system.retract(system.x0, 0.03 * rng.normal(size=system.v_size)), rng.normal(size=system.v_size)


def at_rest_here(system: Any, x: np.ndarray) -> Any:
    return system.propagate(0.7, x, np.zeros(system.v_size))


# ---- matrix = products = differences ----


def test_products_are_slopes_of_the_force():
    system, (x, v) = compiled(), somewhere()
    lin = system.linearize(system.propagate(0.7, x, v))
    f = lambda x, v: system.force(system.propagate(0.7, x, v))  # noqa: E731
    for d in np.random.default_rng(5).normal(size=(3, system.v_size)):
        along = differentiate(lambda e, d=d: f(system.retract(x, e * d), v), 1e-4)
        assert relative_error(lin.product(d, stiffness=1.0), along) <= DIFFERENCED
        faster = differentiate(lambda e, d=d: f(x, v + e * d), 1e-2)
        assert relative_error(lin.product(d, damping=1.0), faster) <= DIFFERENCED


def test_force_is_the_slope_of_the_potential_where_all_loads_have_one():
    system, (x, _) = compiled(), somewhere()
    d = np.random.default_rng(6).normal(size=system.v_size)
    wind = next(force for label, _, force in system.forces if label == "wind")
    still = at_rest_here(system, x)
    blown = [np.zeros_like(u) for u in still.v]
    slot = next(slot for label, slot, _ in system.forces if label == "wind")
    wind.add_force(still.local(slot), blown[slot.index])
    still.pull(blown)
    conservative = system.force(still) - system.gather(blown)
    energy = lambda e: system.potential_energy(at_rest_here(system, system.retract(x, e * d)))  # noqa: E731
    assert conservative @ d == pytest.approx(-differentiate(energy, 1e-4), rel=DIFFERENCED)


@pytest.mark.parametrize("definite", [False, True])
def test_assembled_matrix_equals_products(definite):
    system, (x, v) = compiled(), somewhere()
    multipliers = np.random.default_rng(8).normal(size=system.joint_row_count)
    lin = system.linearize(system.propagate(0.7, x, v), definite=definite, multipliers=multipliers)
    for weights in (
        {"mass": 1.0},
        {"damping": 1.0},
        {"stiffness": 1.0},
        {"mass": 1.0, "damping": -0.1, "stiffness": -0.01},
    ):
        A = lin.matrix(**weights)
        for d in np.random.default_rng(7).normal(size=(2, system.v_size)):
            assert relative_error(A @ d, lin.product(d, **weights)) <= 1e-12, weights


def test_mass_matrix_is_symmetric_positive_and_the_kinetic_energy():
    system, (x, v) = compiled(), somewhere()
    kin = system.propagate(0.7, x, v)
    M = system.linearize(kin).matrix(mass=1.0).toarray()
    assert np.abs(M - M.T).max() <= 1e-14 * np.abs(M).max()
    assert np.linalg.eigvalsh(M)[0] > 0
    assert 0.5 * v @ M @ v == pytest.approx(system.kinetic_energy(kin), rel=1e-13)
    np.testing.assert_allclose(M @ v, system.mass_product(kin, v), atol=1e-12)


def test_definite_matrix_has_no_positive_stiffness():
    system, (x, v) = compiled(), somewhere()
    K = system.linearize(system.propagate(0.7, x, v), definite=True).matrix(stiffness=1.0).toarray()
    assert np.abs(K - K.T).max() <= 1e-12 * np.abs(K).max()
    values = np.linalg.eigvalsh(K)
    assert values[-1] <= 1e-12 * abs(values[0])


def test_matrices_are_scipy_matrices_of_ones_own():
    """M, K, B, G and J of a slot; the next call does not change the last one's."""
    system, (x, v) = compiled(), somewhere()
    lin = system.linearize(system.propagate(0.7, x, v))
    n = system.v_size
    M, K, B, G = lin.matrix(mass=1.0), lin.matrix(stiffness=1.0), lin.matrix(damping=1.0), lin.joint_jacobian()
    kept = K.toarray()
    lin.matrix(mass=1.0, stiffness=3.0)
    system.linearize(system.propagate(0.0, system.x0, system.v0)).assemble(stiffness=1.0)
    np.testing.assert_array_equal(K.toarray(), kept)
    for A in (M, K, B):
        assert sparse.issparse(A)
        assert A.shape == (n, n)
    assert G.shape == (system.joint_row_count, n)
    slot = next(s for s in system.slots if s.name == "combined points")
    J = slot_jacobian(lin.kin, slot, n)
    d = np.random.default_rng(9).normal(size=n)
    np.testing.assert_allclose(J @ d, lin.kin.push(d)[slot.index].ravel(), atol=1e-13)


def test_assembly_overwrites_what_its_memory_held():
    system, (x, v) = everything().compile(), somewhere()
    lin = system.linearize(system.propagate(0.7, x, v))
    clean = lin.matrix(mass=1.0, damping=0.3, stiffness=0.7).toarray()
    system.assembly.matrix.data[:] = np.nan
    for part in system.assembly.parts.values():
        part.matrix.data[:] = np.nan
    np.testing.assert_array_equal(lin.matrix(mass=1.0, damping=0.3, stiffness=0.7).toarray(), clean)
    assert np.isfinite(clean).all()


def test_filtered_matrix_is_C_A_C():
    system, (x, v) = everything().compile(), somewhere()
    lin = system.linearize(system.propagate(0.7, x, v))
    A = lin.matrix(mass=1.0, stiffness=-0.01).toarray()
    lin.assemble(mass=1.0, stiffness=-0.01)
    system.assembly.project(system, 5.0)
    C = np.eye(system.v_size)
    for block, projector in zip(system.filter.blocks, system.filter.projectors):
        C[3 * block : 3 * block + 3, 3 * block : 3 * block + 3] = projector
    expected = C @ A @ C + 5.0 * (np.eye(len(C)) - C)
    np.testing.assert_allclose(system.assembly.matrix.to_scipy().toarray(), expected, atol=1e-12 * np.abs(A).max())


def test_the_public_check_agrees():
    system, (x, v) = compiled(), somewhere()
    report = check_derivatives(system, x, v, t=0.7)
    assert report.is_ok, str(report)
    assert set(report.errors) >= {"K = df/dx", "B = df/dv", "assembled = products", "G = dphi/dx"}


# ---- the check of derivatives can fail ----


class Wrapped:
    """A force with one fault, in the place of a good one."""

    def __init__(self, inner: Any, fault: str) -> None:
        self.inner, self.fault = inner, fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def linearize(self, state: LocalState, *, definite: bool = False) -> Any:
        return WrappedTangent(self.inner.linearize(state), self.fault)


class WrappedTangent:
    def __init__(self, inner: Any, fault: str) -> None:
        self.inner, self.fault = inner, fault

    def add_product(self, dv, df_out, stiffness, damping):
        sign = -1.0 if self.fault == "sign" else 1.0
        self.inner.add_product(dv, df_out, sign * stiffness, 0.0 if self.fault == "no damping" else damping)

    def add_blocks(self, data_out, positions, stiffness, damping):
        factor = 1.001 if self.fault == "blocks" else 1.0
        self.inner.add_blocks(data_out, positions, factor * stiffness, damping)


@pytest.mark.parametrize(
    ("fault", "named"),
    [("none", set()), ("sign", "K = df/dx"), ("no damping", "B = df/dv"), ("blocks", "assembled = products")],
)
def test_the_check_names_a_fault_deep_in_a_system(fault, named):
    system, (x, v) = everything().compile(), somewhere()
    k = next(i for i, bound in enumerate(system.forces) if bound.label == "glue")
    system.forces[k] = system.forces[k]._replace(force=Wrapped(system.forces[k].force, fault))
    report = check_derivatives(system, x, v, t=0.7)
    wrong = {name for name, error in report.errors.items() if not error <= report.tolerance}
    if fault == "none":
        assert not wrong, str(report)
    else:
        assert named in wrong, str(report)


def test_the_check_misses_no_geometric_stiffness():
    """Without d(J^T)/dx f the tangent of a pushed frame is wrong by the push times the arm."""
    system, (x, v) = everything().compile(), somewhere()
    lin = system.linearize(system.propagate(0.7, x, v))
    d = np.random.default_rng(12).normal(size=system.v_size)
    slope = differentiate(lambda e: system.force(system.propagate(0.7, system.retract(x, e * d), v)), 1e-4)
    assert relative_error(lin.product(d, stiffness=1.0), slope) <= DIFFERENCED
    lin.geometric = {index: 0 * blocks for index, blocks in lin.geometric.items()}
    assert relative_error(lin.product(d, stiffness=1.0), slope) > 1e-5


def test_small_and_large_systems_have_the_same_matrices(monkeypatch):
    """Dense for small systems, sparse for large: one scene taken as either, matrices, joints and a step."""
    results = []
    for small in (True, False):
        system, (x, v) = everything().compile(), somewhere()
        monkeypatch.setattr(type(system), "is_small", property(lambda self, small=small: small))
        lin = system.linearize(system.propagate(0.7, x, v))
        state = system.initial_state()
        state.v = 0.1 * v
        assert sp.ImplicitEuler(1e-3).step(system, state).is_solved
        assert sp.Midpoint(1e-3).step(system, state).is_solved
        results.append((dense(lin.joint_jacobian()), dense(lin.matrix(mass=1.0, stiffness=-0.1)), state.x, state.v))
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(b).max())


# ---- threads ----


@pytest.fixture
def restore_threads():
    before = numba.get_num_threads()
    yield
    numba.set_num_threads(before)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread only")
@pytest.mark.usefixtures("restore_threads")
def test_one_thread_and_two_give_the_same_bits():
    """Enough elements for the coloured sweeps, and one implicit step by conjugate gradients."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    stuff = sp.Material(young=1e5, poisson=0.3, density=1000, stiffness_damping=1e-3)
    body = sp.FemBody(sp.box_tets(size=(1.0, 0.9, 0.8), cells=(10, 9, 8)), stuff)
    node = scene.add(body, fix="x_min", name="block")
    box = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=100), at=(1.2, 0, 0), name="box")
    scene.add(sp.Springs(node.points("x_max"), box.points(at=node.points("x_max").rest), 10.0, rest_length=0.0))
    system = scene.compile()
    elements = system.forces[0].force.elements
    assert elements.is_parallel_worthwhile
    rng = np.random.default_rng(3)
    x = system.retract(system.x0, 0.01 * rng.normal(size=system.v_size))
    results = []
    for threads in (1, 2, 2):
        numba.set_num_threads(threads)
        lin = system.linearize(system.propagate(0.0, x, system.v0))
        data = lin.assemble(mass=1.0, damping=-0.01, stiffness=-1e-4).data.copy()
        y = lin.product(x[: system.v_size], stiffness=1.0)
        state = system.initial_state()
        state.x = x.copy()
        sp.ImplicitEuler(0.01, linear="cg").step(system, state)
        results.append((lin.force, data, y, state.x, state.v))
    for other in results[1:]:
        for a, b in zip(results[0], other):
            assert np.array_equal(a, b)


# ---- the list ----


def test_print_lists_the_calls_in_order():
    text = str(compiled())
    lines = text.splitlines()
    assert lines[0].startswith("System 'everything': 5 bodies,")
    assert f"{compiled().v_size} degrees of freedom" in lines[0]
    assert lines[-1].strip() == "solved by one block-sparse matrix"
    calls = [line.split(None, 1) for line in lines[1:-1]]
    assert [int(number) for number, _ in calls] == list(range(1, len(calls) + 1))
    kinds = [next(k for k in KINDS if what.startswith(k)) for _, what in calls]
    assert kinds == sorted(kinds, key=lambda k: STAGE[k]), "propagate, forces, pull back, masses, filter, joints"
    for label in (
        "beam elastic",
        "mass damping",
        "dots springs",
        "glue",
        "balloon",
        "wind",
        "gravity",
        "lump",
        "hinge",
    ):
        assert label in text, label
    propagated = [what.split("->")[1].split("(")[0].strip() for _, what in calls if what.startswith("propagate")]
    pulled = [what.split()[2:] for _, what in calls if what.startswith("pull back")]
    assert len(propagated) == len(pulled)


KINDS = ("propagate", "join", "add force", "pull back", "apply mass", "filter", "joint ")
STAGE = {"propagate": 0, "join": 0, "add force": 1, "pull back": 2, "apply mass": 3, "filter": 4, "joint ": 5}
KINDS = tuple(sorted(KINDS, key=len, reverse=True))


def test_print_says_when_products_only():
    class Drag:
        def energy(self, state):
            return 0.0

        def add_force(self, state, f_out):
            f_out -= 0.1 * state.v

        def linearize(self, state, *, definite=False):
            return self

        def add_product(self, dv, df_out, stiffness, damping):
            df_out -= 0.1 * damping * dv

    scene = sp.Scene()
    dots = scene.add(sp.Particles(np.eye(3), 1.0), name="dots")
    scene.add(Drag(), on=dots)
    system = scene.compile()
    assert str(system).splitlines()[-1].strip() == "solved by products only"
    assert check_derivatives(system, v=np.ones(9)).is_ok


def test_timings_name_the_calls():
    system, (x, v) = everything().compile(), somewhere()
    system.linearize(system.propagate(0.7, x, v)).assemble(mass=1.0)
    assert system.timings.calls["force glue"] == 1
    assert system.timings.calls["assemble"] == 1
    assert "force beam elastic" in system.timings.report()


# ---- energy and momentum ----


def test_energies_are_sums_over_what_is_in_the_scene():
    system, (x, v) = compiled(), somewhere()
    kin = system.propagate(0.7, x, v)
    kinetic, momentum, mass, moment = 0.0, np.zeros(6), 0.0, np.zeros(3)
    for _, slot, item in system.masses:
        p = np.zeros_like(kin.v[slot.index])
        item.add_product(kin.v[slot.index], p, 1.0)
        kinetic += 0.5 * np.sum(p * kin.v[slot.index])
        momentum += item.momentum(kin.local(slot))
        own = item.first_moment(kin.x[slot.index])
        mass, moment = mass + own[0], moment + own[1]
    elastic = sum(force.energy(kin.local(slot)) for _, slot, force in system.forces)
    assert system.kinetic_energy(kin) == pytest.approx(kinetic, rel=1e-13)
    assert system.potential_energy(kin) == pytest.approx(elastic - system.gravity @ moment, rel=1e-12)
    np.testing.assert_allclose(system.momentum(kin), momentum, rtol=1e-12)
    np.testing.assert_allclose(system.centre_of_mass(kin), moment / mass, rtol=1e-12)
    # 12 in all: five bodies, and the lumps
    weights = 1000 * 0.09 + 300 * 0.06 + 600 * 0.012 + 800 * np.pi * 0.05**2 * 0.4 + 1.0 + 0.9 + 0.5
    assert mass == pytest.approx(weights, rel=1e-12)


def test_gravity_pulls_each_body_with_its_weight():
    scene = sp.Scene(gravity=(0.0, 0.0, -9.81))
    scene.add(sp.RigidBody.sphere(0.1, density=1000), name="ball")
    scene.add(
        sp.FemBody(sp.box_tets(size=(1, 1, 1), cells=(1, 1, 1)), sp.Material(1e5, 0.3, 500), mass="consistent"),
        at=(2, 0, 0),
    )
    system = scene.compile()
    f = system.force(system.propagate(0.0, system.x0, system.v0))
    assert f[2] == pytest.approx(-9.81 * 4 / 3 * np.pi * 1e-3 * 1000)
    np.testing.assert_allclose(f[6:].reshape(-1, 3).sum(axis=0), [0, 0, -9.81 * 500], atol=1e-9)


def test_rate_of_energy_is_the_power_of_what_is_not_conservative():
    """d(T + V)/dt along the motion equals the power of dampers and of the wind; joints and filters do no work."""
    system, (x, v) = compiled(), somewhere()
    kin = system.propagate(0.7, x, v)
    lin = system.linearize(kin)
    M, G, C = lin.matrix(mass=1.0).toarray(), dense(lin.joint_jacobian()), np.eye(system.v_size)
    for block, projector in zip(system.filter.blocks, system.filter.projectors):
        C[3 * block : 3 * block + 3, 3 * block : 3 * block + 3] = projector
    free = v.copy()
    system.filter.project(free)
    basis = np.linalg.svd(np.vstack([np.eye(len(C)) - C, G]))
    null = basis[2][np.sum(basis[1] > 1e-10) :].T
    free = null @ (null.T @ v)  # a velocity that filters and joints allow
    kin = system.propagate(0.7, x, free)
    f = system.force(kin)
    a = np.linalg.solve(null.T @ M @ null, null.T @ (f + system.bias(kin)))
    a = null @ a  # the part of the acceleration that does work

    def energy(e):
        there = system.propagate(0.7, system.retract(x, e * free), free + e * a)
        return system.kinetic_energy(there) + system.potential_energy(there)

    still = system.force(at_rest_here(system, x))
    wind = next(b for b in system.forces if b.label == "wind")
    blown = [np.zeros_like(u) for u in kin.v]
    wind.force.add_force(kin.local(wind.slot), blown[wind.slot.index])
    kin.pull(blown)
    power = (f - still + system.gather(blown)) @ free
    assert differentiate(energy, 1e-5) == pytest.approx(power, rel=1e-6)


# ---- refusals ----


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sp.Scene().compile(), "the scene has no bodies"),
        (lambda: sp.Scene(gravity=(0, 0)), "gravity is not a vector"),
        (lambda: sp.Scene().add(42), "cannot be added to a scene"),
        (lambda: sp.Scene().add(PointMass(np.ones(1))), "does not say what it acts on"),
        (lambda: everything().node("nobody"), "no node of that name"),
        (lambda: compiled().body("nobody"), "no body of that name"),
        (lambda: everything().add(sp.RigidBody(1.0, (1, 1, 1)), name="beam"), "already used"),
    ],
)
def test_bad_scenes_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_a_force_on_a_body_of_another_scene_is_refused():
    other = sp.Scene().add(sp.Particles(np.eye(3), 1.0), name="stranger")
    scene = sp.Scene()
    scene.add(sp.Particles(np.eye(3), 1.0), name="own")
    scene.add(sp.Load(other.points(), (0, 0, 1)))
    with pytest.raises(InputError, match="not in the scene"):
        scene.compile()


def test_a_pressure_on_all_of_a_body_needs_no_region():
    """region as in `node.points`: None is everything, and a closed surface is pushed by no net force."""
    scene = sp.Scene()
    body = sp.FemBody(sp.box_tets(size=(1, 1, 1), cells=(1, 1, 1)), sp.Material(1e5, 0.3, 500))
    block = scene.add(body, name="block")
    scene.add(sp.Pressure(block, None, 100.0))
    system = scene.compile()
    f = system.force(system.propagate(0.0, system.x0, system.v0))
    np.testing.assert_allclose(f.reshape(-1, 3).sum(axis=0), 0.0, atol=1e-12)
    assert np.abs(f).max() > 1.0


def test_a_mass_of_the_wrong_size_is_refused():
    scene = sp.Scene()
    dots = scene.add(sp.Particles(np.eye(3), 1.0), name="dots")
    scene.add(PointMass(np.ones(3)), on=dots.points([0, 1]))
    with pytest.raises(InputError, match="mass"):
        scene.compile()


def test_energy_momentum_and_points_are_read_at_a_state() -> None:
    scene = everything()
    system = scene.compile()
    state = system.initial_state()
    state.v += np.random.default_rng(0).normal(size=state.v.size)
    kin = system.propagate(state.t, state.x, state.v, state.memory)
    assert np.array_equal(system.momentum(state), system.momentum(kin))
    assert system.kinetic_energy(state) == system.kinetic_energy(kin)
    assert system.potential_energy(state) == system.potential_energy(kin)
    assert np.array_equal(system.centre_of_mass(state), system.centre_of_mass(kin))
    for node in scene.nodes:
        assert system.points(system.initial_state(), node.name) == pytest.approx(node.rest, abs=1e-12)
