"""A run that explodes ends with an error and its last good state; violent scenes that are right reach their end."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import DivergenceError
from supple.record.measures import measure
from supple.record.plausibility import GROWTH, Plausibility
from supple.validation.scenes import divergence
from supple.validation.scenes.divergence import EXPLODING, RIGHT, SHORT, UNTIL

SLOW = "a slider-crank of rubber"


@pytest.mark.parametrize("name", EXPLODING)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::supple.errors.StepWarning")
def test_an_explosion_is_stopped(name: str) -> None:
    with pytest.raises(DivergenceError) as caught:
        sp.run(EXPLODING[name](), until=UNTIL)
    run = caught.value.run
    assert run.outcome == "diverged"
    assert run.state.is_finite
    assert run.time == run.energies.times[-1] < UNTIL


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == SLOW else n for n in RIGHT])
@pytest.mark.filterwarnings("ignore::supple.errors.SuppleWarning")
def test_what_is_violent_and_right_is_not(name: str) -> None:
    assert sp.run(RIGHT[name](), until=SHORT).outcome == "finished"


def test_energy_that_comes_from_nowhere_is_judged_by_ten_times_what_was_there() -> None:
    """A free particle of 1 kg at 1 m/s: 0.5 J, of which ten times are 5 J. Without weight there is no floor."""
    scene = sp.Scene()
    scene.add(sp.Particles([(0, 0, 0)], 1.0), velocity=(1.0, 0, 0), name="ball")
    system = scene.compile()
    state = system.initial_state()
    guard, before = Plausibility(system, 0.01, state, measure(system, state)), state.copy()
    state.v[0] = 0.999 * np.sqrt(GROWTH)
    guard.check_frame(state, measure(system, state), 1, before)
    state.v[0] = 1.001 * np.sqrt(GROWTH)
    with pytest.raises(DivergenceError, match=r"grown to 5.01 J, more than 10 times the 0.5 J"):
        guard.check_frame(state, measure(system, state), 1, before)


def test_gravity_gives_what_its_potential_falls_by() -> None:
    scene = sp.Scene(gravity=(0, 0, -10.0))
    scene.add(sp.Particles([(0, 0, 0)], 1.0), name="ball")
    system = scene.compile()
    state = system.initial_state()
    guard, before = Plausibility(system, 0.01, state, measure(system, state)), state.copy()
    state.x[2], state.v[2] = -1.0, 0.999 * np.sqrt(2 * GROWTH * 10.0)
    guard.check_frame(state, measure(system, state), 1, before)
    state.v[2] *= 1.002
    with pytest.raises(DivergenceError, match="the 10 J that"):
        guard.check_frame(state, measure(system, state), 1, before)


@pytest.mark.parametrize(
    ("count", "of", "ends"), [(11, 50, False), (12, 50, True), (13, 1300, False), (14, 1300, True)]
)
def test_twelve_elements_inside_out_and_one_in_a_hundred_end_a_run(count: int, of: int, ends: bool) -> None:
    """Of tets apart from each other; the others stay as they are."""
    X = np.concatenate(
        [sp.box_tets(size=(1, 1, 1), cells=(1, 1, 1)).nodes[[0, 1, 2, 4]] + [3.0 * k, 0, 0] for k in range(of)]
    )
    mesh = sp.TetMesh(X, np.arange(4 * of).reshape(of, 4))
    scene = sp.Scene()
    scene.add(sp.FemBody(mesh, sp.Material(1e5, 0.3, 1000), law="neo-hookean"), name="tets")
    system = scene.compile()
    state = system.initial_state()
    guard, before = Plausibility(system, 0.01, state, measure(system, state), 1e30), state.copy()
    x = system.positions(state, "tets").reshape(of, 4, 3)
    x[:count, :, 2] *= -1.0
    if ends:
        with pytest.raises(DivergenceError, match=f"{count} of {of} elements turned inside out"):
            guard.check_frame(state, measure(system, state), 1, before)
    else:
        assert guard.check_frame(state, measure(system, state), 1, before) == count


def test_a_resumed_run_knows_what_energy_it_had(tmp_path) -> None:
    """A ball is stopped at the bottom of its bounce, where its energy is in the contact, and goes on."""

    def scene() -> sp.Scene:
        made = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(1e-3))
        made.add(sp.RigidBody.sphere(0.05, density=1000), at=(0, 0, 1.0), name="ball")
        made.add(sp.Floor())
        made.add(sp.Contact(restitution=1.0))
        return made

    for until in (0.44, 0.441, 0.442, 0.6):
        assert sp.run(scene(), until=until, out=tmp_path, resume=until > 0.44).outcome == "finished"


@pytest.mark.parametrize("name", [name for name in EXPLODING if "inside out" in name])
@pytest.mark.filterwarnings("ignore::supple.errors.StepWarning")
def test_what_is_inside_out_is_told(name: str) -> None:
    """Not by its energy: the loads have done the work."""
    with pytest.raises(DivergenceError, match=r"of \d+ (elements|links of voxels) turned inside out"):
        sp.run(EXPLODING[name](), until=UNTIL)


def test_the_validation_has_scenes_of_every_kind_that_must_be_stopped() -> None:
    assert len(EXPLODING) == 14
    assert set(divergence.CASES) == {"scene/divergence"}


@pytest.mark.parametrize("mesh", [sp.box_tets((1, 1, 1), (3, 3, 3)), sp.box_hexes((1, 1, 1), (3, 3, 3))])
def test_inverted_elements_are_those_whose_gradient_mirrors(mesh) -> None:
    """Of nodes at random places about half the elements are inverted; F of each is fitted to its nodes."""
    body = sp.FemBody(mesh, sp.Material(1e5, 0.3, 1000))
    check, x = body.inversion_check(mesh.nodes), np.random.default_rng(1).normal(size=mesh.nodes.shape)
    F = np.einsum("eai,eqaj->eqij", x[mesh.elements], check.gradients)
    expected = [k for k, of_points in enumerate(F) if min(np.linalg.det(f) for f in of_points) <= 0]
    assert check.inverted(x).tolist() == expected
    assert 0 < len(expected) < len(F) or mesh.elements.shape[1] == 8
    assert not len(check.inverted(mesh.nodes))
