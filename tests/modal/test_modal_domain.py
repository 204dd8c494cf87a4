"""Newmark steps of reduced domains, classes of domains and their cache."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supple as sp
from supple.errors import ConvergenceError, DivergenceError, InputError
from supple.geometry import Region, box_tets
from supple.material import Material
from supple.modal import (
    Attachment,
    CubicForce,
    ElasticSolid,
    Interface,
    NewmarkSettings,
    ReducedClass,
    ReducedDomain,
    Support,
    linear_modes,
    reduce_solid,
)
from supple.modal.cache import cache_path, cached_arrays, content_key, load_cached, save_cached

RUBBER = Material(young=1e5, poisson=0.3, density=1000.0)
NEWTON = NewmarkSettings(max_iterations=30, epsilon=1e-12)


def oscillator(w=3.0, **options):
    """One linear coordinate of angular frequency w [rad/s]."""
    return ReducedDomain(CubicForce(np.array([[w * w]]), np.zeros((1, 1)), np.zeros((1, 1))), **options)


def beam(cells=(4, 1, 1)):
    return Support(ElasticSolid(box_tets(size=(0.5, 0.1, 0.1), cells=cells), RUBBER), "x_min")


def swing(domain, dt, until=2.0):
    """q of one copy at `until`, from q = 1 at rest."""
    state = domain.state()
    state.q[:] = 1.0
    state.a = domain.acceleration(state)
    domain.advance(state, dt, steps=round(until / dt))
    return state


def test_second_order_for_a_damped_oscillator():
    alpha, beta, w = 0.2, 0.05, 3.0
    z = (alpha / w + beta * w) / 2
    damped = w * np.sqrt(1 - z * z)
    exact = np.exp(-z * w * 2) * (np.cos(damped * 2) + z * w / damped * np.sin(damped * 2))
    domain = oscillator(w, mass_damping=alpha, stiffness_damping=beta)
    errors = [abs(swing(domain, dt).q[0, 0] - exact) for dt in (0.02, 0.01, 0.005)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(slopes, 2.0, atol=0.05)


@pytest.mark.parametrize(("beta", "gamma"), [(0.25, 0.5), (0.3025, 0.6), (0.4, 0.55)])
def test_a_step_is_newmarks_and_ends_in_the_equation_of_motion(beta, gamma):
    """With a dense mass, damping and any beta and gamma, for more copies than one block of lanes holds."""
    kind, h, rng = reduce_solid(beam(), 4, keep=False), 0.02, np.random.default_rng(2)
    root = np.eye(4) + 0.2 * rng.normal(size=(4, 4))
    settings = NewmarkSettings(beta, gamma, max_iterations=40, epsilon=1e-13)
    domain = ReducedDomain(kind.force, mass=root @ root.T, mass_damping=0.3, stiffness_damping=0.02, settings=settings)
    load = rng.normal(size=(70, 4))
    state = domain.state(70)
    state.q, state.v, state.a = 0.02 * rng.normal(size=(70, 4)), rng.normal(size=(70, 4)), rng.normal(size=(70, 4))
    old = state.copy()
    domain.advance(state, h, f_ext=load)
    q = old.q + h * old.v + h * h * ((0.5 - beta) * old.a + beta * state.a)
    np.testing.assert_allclose(state.q, q, atol=1e-12 * np.abs(q).max())
    v = old.v + h * ((1 - gamma) * old.a + gamma * state.a)
    np.testing.assert_allclose(state.v, v, atol=1e-11 * np.abs(v).max())
    np.testing.assert_allclose(state.a, domain.acceleration(state, load), atol=1e-9 * np.abs(state.a).max())


def test_energy_of_a_linear_domain_is_kept():
    domain = oscillator()
    before = swing(domain, 0.01, until=0.0)
    assert domain.energy(swing(domain, 0.1, until=50.0)) == pytest.approx(domain.energy(before), rel=1e-12)


def test_the_frequency_factor_multiplies_frequencies():
    """A tuned domain for half the time is the plain one, step for step."""
    plain, tuned = swing(oscillator(), 0.01), swing(oscillator(frequency_factor=2.0), 0.005, until=1.0)
    assert plain.q[0, 0] == pytest.approx(tuned.q[0, 0], rel=1e-12)


def test_a_full_basis_moves_as_the_mesh_does():
    """All modes of a small mesh, Newton's method to the end: Newmark's steps of the full scene under gravity."""
    support, g, dt = beam((2, 1, 1)), np.array([0.5, 1.0, -2.0]), 0.01
    modes = linear_modes(support, len(support.free))
    kind = ReducedClass.of(support, modes.shapes)
    domain, load = ReducedDomain(kind.force, mass=kind.mass, settings=NEWTON), kind.integrals.U_bar.T @ g
    state = domain.state()
    state.a = domain.acceleration(state, load)
    scene = sp.Scene(gravity=g)
    scene.add(sp.FemBody(support.solid.mesh, RUBBER, law="stvk", mass="consistent"), fix="x_min")
    system = scene.compile()
    full, solver = system.initial_state(), sp.Newmark(dt, linear="direct", newton_tolerance=1e-12)
    solver.prepare(system)
    for _ in range(20):
        solver.step(system, full)
        domain.advance(state, dt, f_ext=load)
    moved = full.x.reshape(-1, 3) - support.solid.mesh.nodes
    assert np.abs(moved).max() > 0.005
    np.testing.assert_allclose(kind.positions(state.q)[0], full.x.reshape(-1, 3), atol=1e-7 * np.abs(moved).max())


def test_copies_move_as_each_alone():
    kind = reduce_solid(beam(), 5, keep=False)
    domain = ReducedDomain(kind.force, mass=kind.mass, stiffness_damping=0.01, settings=NEWTON)
    loads = np.random.default_rng(1).normal(size=(3, 5))
    together = domain.state(3)
    domain.advance(together, 0.01, steps=20, f_ext=loads)
    for k in range(3):
        alone = domain.state()
        domain.advance(alone, 0.01, steps=20, f_ext=loads[k])
        np.testing.assert_allclose(together.q[k], alone.q[0], rtol=0, atol=1e-9 * np.abs(together.q).max())


def test_many_steps_in_one_call_are_many_calls():
    domain = ReducedDomain(reduce_solid(beam(), 4, keep=False).force)
    one, many = domain.state(), domain.state()
    domain.advance(one, 0.01, steps=10, f_ext=np.ones(4))
    for _ in range(10):
        domain.advance(many, 0.01, f_ext=np.ones(4))
    np.testing.assert_array_equal(one.q, many.q)


def test_failures_are_reported():
    domain = ReducedDomain(reduce_solid(beam(), 4, keep=False).force, settings=NewmarkSettings(max_iterations=2))
    with pytest.raises(ConvergenceError, match="Newton's iterations"):
        domain.advance(domain.state(), 0.5, f_ext=np.full(4, 1e6))
    broken = domain.state()
    broken.q[0, 0] = np.nan
    with pytest.raises(DivergenceError, match="copy 0"):
        domain.advance(broken, 0.01)
    states = oscillator().state(2)
    states.v[1] = np.inf
    with pytest.raises(DivergenceError, match="copy 1"):
        oscillator().advance(states, 0.01)


def test_bad_input_is_told():
    domain = oscillator()
    with pytest.raises(InputError, match="time step"):
        domain.advance(domain.state(), 0.0)
    with pytest.raises(InputError, match="forces do not fit"):
        domain.advance(domain.state(), 0.1, f_ext=np.zeros(3))
    with pytest.raises(InputError, match="mass does not fit"):
        oscillator(mass=np.eye(2))
    with pytest.raises(InputError, match="mass_damping"):
        oscillator(mass_damping=-1.0)
    with pytest.raises(InputError, match="out of range"):
        NewmarkSettings(beta=0.0)
    with pytest.raises(InputError, match="moves held nodes"):
        ReducedClass.of(beam(), np.ones((3 * beam().solid.node_count, 1)))
    with pytest.raises(InputError, match="scale factor"):
        reduce_solid(beam(), 2, keep=False).scaled(0.0)


def test_a_scaled_class_is_the_class_of_the_scaled_mesh():
    support = beam()
    kind = reduce_solid(support, 4, keep=False)
    mesh = support.solid.mesh.scaled(2.5)
    anew = ReducedClass.of(Support(ElasticSolid(mesh, RUBBER), "x_min"), kind.U)
    scaled = kind.scaled(2.5)
    for name, value in anew.to_arrays().items():
        np.testing.assert_allclose(scaled.to_arrays()[name], value, atol=1e-12 * np.abs(value).max(), err_msg=name)


def test_a_class_is_kept_by_content(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    support = beam()
    tip = Interface(support.solid.mesh.nodes, support.solid.mesh.node_region("x_max"))
    attachments = {"tip": Attachment(tip, mass=1.0, arm=0.1)}
    first = reduce_solid(support, 4, attachments=attachments)
    (file,) = tmp_path.rglob("*.npz")
    stamp = file.stat().st_mtime_ns
    second = reduce_solid(beam(), 4, attachments=attachments)
    assert file.stat().st_mtime_ns == stamp
    for name, value in first.to_arrays().items():
        np.testing.assert_array_equal(second.to_arrays()[name], value)
    assert set(second.interfaces) == {"tip"}
    reduce_solid(support, 5, attachments=attachments)
    reduce_solid(support, 4, attachments={"tip": Attachment(tip, mass=2.0, arm=0.1)})
    assert len(list(tmp_path.rglob("*.npz"))) == 3


def test_what_changes_the_class_changes_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    mesh = box_tets(size=(0.5, 0.1, 0.1), cells=(2, 1, 1))
    halves = mesh.with_regions({"a": Region(elements=np.arange(6)), "b": Region(elements=np.arange(6, 12))})
    hard = Material(young=1e6, poisson=0.3, density=1000.0)
    for solid in (
        ElasticSolid(mesh, RUBBER),
        ElasticSolid(mesh, hard),
        ElasticSolid(mesh, RUBBER, mass="lumped"),
        ElasticSolid(halves, {"a": RUBBER, "b": hard}),
        ElasticSolid(halves, {"b": RUBBER, "a": hard}),
        ElasticSolid(mesh.scaled(2.0), RUBBER),
    ):
        reduce_solid(Support(solid, "x_min"), 2)
    reduce_solid(Support(ElasticSolid(mesh, RUBBER), "x_max"), 2)
    reduce_solid(Support(ElasticSolid(mesh, RUBBER), "x_min"), 2, inner="lumped")
    assert len(list(tmp_path.rglob("*.npz"))) == 8


def test_a_damaged_or_foreign_file_counts_as_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    key = content_key("a")
    save_cached("kind", key, {"x": np.arange(3.0)})
    np.testing.assert_array_equal(load_cached("kind", key)["x"], [0, 1, 2])
    path = cache_path("kind", key)
    good = path.read_bytes()
    other = content_key("b")
    cache_path("kind", other).write_bytes(good)
    assert load_cached("kind", other) is None
    for bad in (b"", good[: len(good) // 2], b"PK" + good[2:90], b"no zip"):
        path.write_bytes(bad)
        assert load_cached("kind", key) is None
    with path.open("wb") as file:
        np.savez(file, x=np.array([{"code": 1}], dtype=object))
    assert load_cached("kind", key) is None
    again = cached_arrays("kind", key, lambda: {"x": np.ones(2)})
    np.testing.assert_array_equal(again["x"], 1.0)
    np.testing.assert_array_equal(load_cached("kind", key)["x"], 1.0)
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("other", [np.full(3, np.nan), np.zeros((3, 1)), np.zeros(4), np.arange(3)])
def test_a_file_with_other_arrays_counts_as_absent(tmp_path, monkeypatch, other):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    key = content_key("a")
    save_cached("kind", key, {"x": np.arange(3.0)})
    path = cache_path("kind", key)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | {"x": other}))
    assert load_cached("kind", key) is None
    np.savez(path, **(arrays | {"y": other}))
    assert load_cached("kind", key) is None


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_mutated_file_counts_as_absent_or_is_whole(tmp_path, monkeypatch, data):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    key = content_key("a")
    arrays = {"x": np.arange(3.0), "y": np.arange(6).reshape(2, 3), "mass": np.array(2.0)}
    save_cached("kind", key, arrays)
    path = cache_path("kind", key)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) // 2]))])
    loaded = load_cached("kind", key)
    if loaded is not None:
        assert {n: (a.shape, a.tobytes()) for n, a in loaded.items()} == {
            n: (a.shape, a.tobytes()) for n, a in arrays.items()
        }


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("SUPPLE_CACHE", str(blocked))
    assert cached_arrays("kind", content_key(1), lambda: {"x": np.ones(1)})["x"] == 1.0


def test_keys_tell_contents_apart():
    keys = [
        content_key(np.zeros(3)),
        content_key(np.zeros((3, 1))),
        content_key(np.zeros(3, dtype=np.float32)),
        content_key([0.0, 0.0, 0.0]),
        content_key(np.zeros(2), np.zeros(1)),
        content_key("ab", "c"),
        content_key("a", "bc"),
    ]
    assert len(set(keys)) == len(keys)
    with pytest.raises(InputError, match="no content"):
        content_key(object())
    with pytest.raises(InputError, match="no content"):
        content_key(np.array([object()]))
