"""A moment on a section of a solid: a beam bends and twists as its closed forms say, and nothing is pushed or lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.geometry import box_hexes
from supple.scene.derivatives import check_derivatives
from supple.validation.tree.coupling import beam_domain_tree

L, H, E = 1.0, 0.1, 1e6
STUFF = sp.Material(young=E, poisson=0.0, density=1000.0)
I = H**4 / 12


def beam(torque: object, law: str = "corotational", cells: int = 40, **scene: object) -> tuple[sp.Scene, sp.Node]:
    made = sp.Scene(**scene)  # type: ignore[arg-type]
    node = made.add(sp.FemBody(box_hexes((L, H, H), (cells, 4, 4)), STUFF, law=law), fix="x_min", name="beam")
    made.add(sp.Wrench(node, "x_max", torque=torque))
    return made, node


def turned(scene: sp.Scene) -> float:
    """Angle of the end's normal against x, in statics [rad]."""
    system = scene.compile()
    x = system.positions(sp.solve_statics(system), "beam")
    X = scene.nodes[0].rest
    inside = [x[np.abs(X[:, 0] - at) < 1e-9].mean(axis=0) for at in (L * 0.95, L)]
    d = inside[1] - inside[0]
    return float(np.arctan2(-d[2], d[0]))


def test_a_bent_beam_has_the_curvature_of_its_moment() -> None:
    """theta = M L / E I; hexes of linear shapes bend a little too stiffly, by less with smaller ones."""
    angle = 0.02
    errors = [1 - turned(beam((0, angle * E * I / L, 0), cells=cells)[0]) / (angle * 0.975) for cells in (20, 40)]
    assert abs(errors[1]) < 0.05
    assert abs(errors[1]) < abs(errors[0])


def test_a_bent_beam_is_pushed_nowhere() -> None:
    """The forces sum to nothing, and have the moment that was given, as the section stands and after it turned."""
    torque = np.array([0.3, -0.2, 0.5])
    scene = sp.Scene()
    node = scene.add(sp.FemBody(box_hexes((L, H, H), (4, 2, 2)), STUFF), rotation=(0.3, -0.8, 0.4), name="beam")
    scene.add(sp.Wrench(node, "x_max", force=(1.0, 2.0, 3.0), torque=torque))
    system = scene.compile()
    state = system.initial_state()
    x = state.x.reshape(-1, 3)
    f = system.force(system.propagate(0.0, state.x, state.v)).reshape(-1, 3)
    middle = x[node.indices("x_max")].mean(axis=0)
    assert np.allclose(f.sum(axis=0), (1.0, 2.0, 3.0), atol=1e-9)
    assert np.allclose(np.cross(x - middle, f).sum(axis=0), torque, atol=1e-9)


def test_derivatives_are_exact() -> None:
    scene = sp.Scene()
    node = scene.add(sp.FemBody(box_hexes((0.4, H, H), (2, 1, 1)), STUFF, law="stvk"), fix="x_min", name="beam")
    scene.add(sp.Wrench(node, "x_max", force=(1.0, 0, 0), torque=(0.5, 1.0, -2.0)))
    system = scene.compile()
    state = system.initial_state()
    x = state.x + 0.01 * np.random.default_rng(3).normal(size=state.x.shape)
    assert check_derivatives(system, x, state.v).is_ok


def test_a_spinning_rod_gains_the_angular_momentum_of_its_torque() -> None:
    scene = sp.Scene(solver=sp.Midpoint(1e-3))
    node = scene.add(sp.FemBody(box_hexes((0.4, H, H), (4, 2, 2)), STUFF), name="rod")
    scene.add(sp.Wrench(node, "x_max", torque=lambda t: (2e-3, 0, 0)))
    run = sp.run(scene, until=0.2)
    assert np.allclose(run.system.momentum(run.state)[3:], (4e-4, 0, 0), atol=1e-8)
    assert np.allclose(run.system.momentum(run.state)[:3], 0.0, atol=1e-12)


def test_a_scene_file_holds_it(tmp_path: Path) -> None:
    scene = sp.Scene()
    node = scene.add(sp.FemBody(box_hexes((0.4, H, H), (2, 1, 1)), STUFF), fix="x_min", name="beam")
    scene.add(sp.Wrench(node, "x_max", torque=(0.0, 0.1, 0.0)))
    sp.save(scene, tmp_path / "bent.toml")
    ours, theirs = (s.compile() for s in (scene, sp.load(tmp_path / "bent.toml")))
    forces = [system.force(system.propagate(0.0, system.x0, system.v0)) for system in (ours, theirs)]
    assert np.array_equal(*forces)
    assert np.abs(forces[0]).max() > 0


def test_trees_are_refused() -> None:
    scene = sp.Scene()
    node = scene.add(sp.TreeBody(beam_domain_tree(2, 6)), name="tree")
    with pytest.raises(InputError, match="a wrench acts on"):
        sp.Wrench(node, torque=(1, 0, 0))
