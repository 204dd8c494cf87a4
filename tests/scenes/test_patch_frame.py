"""Frames on patches of soft bodies, and hinges, sliders and fixed joints on them."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.scene.derivatives import differentiate, relative_error
from supple.scene.mapped.patch_frame import PatchFrame, is_off_line
from supple.validation.couplings import KINDS, SIDE, SPIN, coupled

FLAT = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [1.5, 1, 0], [0.5, 0.3, 0]])


def patch(count: int = 5) -> tuple[PatchFrame, np.ndarray, np.ndarray]:
    """A patch around random points, flat for five, its held points, and deformed positions."""
    rng = np.random.default_rng(count)
    X = FLAT if count == 5 else rng.normal(size=(count, 3))
    held = rng.normal(size=(4, 3))
    turn = rotations.to_matrix(rotations.exp(rng.normal(size=3)))
    return PatchFrame.make(X, held), held, X @ turn.T + 0.1 * rng.normal(size=X.shape)


@pytest.mark.parametrize("count", [3, 5, 9])
def test_a_patch_turns_with_its_points(count: int) -> None:
    rng = np.random.default_rng(1)
    X = FLAT[:count] if count <= 5 else rng.normal(size=(count, 3))
    held, turn = rng.normal(size=(4, 3)), rotations.to_matrix(rotations.exp(rng.normal(size=3)))
    frame = PatchFrame.make(X, held)
    np.testing.assert_allclose(frame.apply(X @ turn.T + 3.0), held @ turn.T + 3.0, atol=1e-12)


@pytest.mark.parametrize("count", [3, 5, 9])
def test_derivatives_of_a_patch(count: int) -> None:
    frame, _, x = patch(count)
    rng = np.random.default_rng(2)
    d, v, f = rng.normal(size=x.shape), rng.normal(size=x.shape), rng.normal(size=(4, 3))
    tangent = frame.linearize(x)
    assert relative_error(tangent.product(d), differentiate(lambda e: frame.apply(x + e * d), 1e-3)) < 1e-8
    pulled = np.zeros_like(x)
    tangent.add_transpose(f, pulled)
    assert np.sum(pulled * d) == pytest.approx(np.sum(f * tangent.product(d)), rel=1e-12)
    geometric = np.zeros_like(x)
    tangent.add_geometric(f, d, geometric, 1.0)

    def pulled_at(e: float) -> np.ndarray:
        out = np.zeros_like(x)
        frame.linearize(x + e * d).add_transpose(f, out)
        return out

    assert relative_error(geometric, differentiate(pulled_at, 1e-3)) < 1e-7
    change = differentiate(lambda e: frame.linearize(x + e * v).product(v), 1e-3)
    assert relative_error(tangent.bias(v), change) < 1e-7
    rows = tangent.jacobian_rows()
    blocks = np.einsum("knij,nj->ki", rows.blocks.reshape(4, -1, 3, 3), d)
    np.testing.assert_allclose(blocks, tangent.product(d), atol=1e-12)


def test_a_patch_passes_on_forces_and_moments_whole() -> None:
    frame, _, x = patch(9)
    f, pulled = np.random.default_rng(3).normal(size=(4, 3)), np.zeros_like(x)
    frame.linearize(x).add_transpose(f, pulled)
    np.testing.assert_allclose(pulled.sum(axis=0), f.sum(axis=0), atol=1e-12)
    moment = np.cross(frame.apply(x), f).sum(axis=0)
    np.testing.assert_allclose(np.cross(x, pulled).sum(axis=0), moment, atol=1e-12)


def test_points_on_a_line_carry_no_frame() -> None:
    line = np.outer(np.arange(4.0), [1, 2, 3])
    assert not is_off_line(line)
    with pytest.raises(InputError, match="three points off a line"):
        PatchFrame.make(line, line)
    scene = sp.Scene()
    rope = scene.add(sp.Particles(line, 0.1), name="rope")
    with pytest.raises(InputError, match=r"node 'rope': a hinge needs three points of a body off a line"):
        scene.add(sp.HingeJoint(rope, at=(0, 0, 0)))


@pytest.mark.parametrize("region", ["x_min", 0.03, lambda X: X[:, 0] < 0.01])
def test_a_hinge_takes_the_patch_it_is_given(region) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.01))
    rubber = sp.Material(young=1e6, poisson=0.3, density=1000)
    beam = scene.add(sp.FemBody(sp.box_tets(size=(0.2, 0.04, 0.04), cells=(8, 2, 2)), rubber), name="beam")
    joint = sp.HingeJoint(beam, at=(0, 0.02, 0.02), axis=(0, 1, 0), patch_a=region)
    scene.add(joint)
    system = sp.run(scene, until=0.3).system
    assert system.joints[0].slot.parents[0].parents[0].coordinates.count == (5 if region == 0.03 else 9)


@pytest.mark.parametrize("coupling", ["hinge", "slider", "fixed", "ball"])
@pytest.mark.parametrize("pair", ["fem-rigid", "particles-floating", "layered-fem"])
def test_joints_of_implicit_bodies_are_closed_and_keep_momentum(pair: str, coupling: str) -> None:
    found = coupled(*pair.split("-"), coupling, until=0.3)
    assert found.failed == 0
    assert found.joint < 1e-9
    assert found.linear < 1e-12


@pytest.mark.parametrize("solver", [sp.ImplicitEuler(1 / 240, newton=True), sp.Midpoint(1 / 240)])
def test_a_soft_body_on_a_hinge_is_solved_by_newtons_method(solver) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=solver)
    body = scene.add(KINDS["fem"](), spin=(0, 0, SPIN), name="body")
    scene.add(sp.HingeJoint(body, at=(0.5 * SIDE, 0, 0), axis=(0, 1, 0)))
    system = scene.compile()
    state = system.initial_state()
    for _ in range(10):
        assert solver.step(system, state).is_solved
    kin = system.propagate(state.t, state.x, state.v)
    assert np.abs(system.violation(kin)).max() < 1e-9
