"""The world belongs to the scene: obstacles and a fluid are said once, and every solver honours or refuses them."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.solvers.choosing import choose

RUBBER = sp.Material(young=2e5, poisson=0.3, density=500, stiffness_damping=5e-3)
SIDE = 0.06


def box() -> sp.RigidBody:
    return sp.RigidBody.box((SIDE, SIDE, SIDE), density=500)


def soft() -> sp.FemBody:
    mesh = sp.box_tets((SIDE, SIDE, SIDE), (2, 2, 2))
    return sp.FemBody(sp.TetMesh(mesh.nodes - (SIDE / 2, 0, 0), mesh.tets), RUBBER)


def voxels() -> sp.VoxelBody:
    soft = sp.VoxelMaterial(young=1e5, density=500, bond_damping=1.0, static_friction=0.9, kinetic_friction=0.7)
    grid = sp.VoxelGrid(np.ones((3, 3, 3), dtype=int), SIDE / 3, np.full(3, -SIDE / 2))
    return sp.VoxelBody(grid, soft)


def tree() -> sp.TreeBody:
    mesh = sp.box_tets((SIDE, SIDE, SIDE), (2, 2, 2))
    kind = sp.DomainTemplate("cube", sp.TetMesh(mesh.nodes - (SIDE / 2, 0, 0), mesh.tets), RUBBER, 6)
    return sp.TreeBody(sp.DomainTree({"cube": kind}, [sp.Domain("cube")]), stiffness_damping=0.005)


BODIES = {"rigid": box, "fem": soft, "voxel": voxels, "tree": tree}


def lowest(run: sp.System, name: str) -> float:
    return float(run.frames.points(name, len(run.frames.times) - 1)[:, 2].min())


@pytest.mark.parametrize("kind", BODIES)
def test_a_floor_carries_every_kind_without_a_solver_and_without_a_contact(kind: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(BODIES[kind](), at=(0, 0, SIDE / 2 + 0.002), name="body")
    scene.add(sp.Floor(0.0, friction=0.8))
    run = sp.run(scene, until=0.5)
    assert abs(lowest(run, "body")) < 0.02 * SIDE  # a soft one sags and sinks a little


def test_one_floor_for_all_kinds_together() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    for k, (kind, body) in enumerate(BODIES.items()):
        scene.add(body(), at=(0.2 * k, 0, SIDE / 2 + 0.002), name=kind)
    scene.add(sp.Floor(friction=0.8))
    run = sp.run(scene, until=0.5)
    assert isinstance(run.solver, sp.Partitioned)
    for kind in BODIES:
        assert abs(lowest(run, kind)) < 0.02 * SIDE, kind


@pytest.mark.parametrize("solver", [sp.Midpoint(0.01), sp.GeneralizedAlpha(0.01), sp.RungeKutta4(0.01)])
def test_solvers_that_know_no_contact_refuse_a_floor(solver: object) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=solver)
    scene.add(box(), at=(0, 0, 0.1))
    scene.add(sp.Floor())
    with pytest.raises(InputError, match=r"does not carry contacts.*'floor'.*Leave the solver out"):
        sp.run(scene, until=0.1)


def test_trees_refuse_what_they_would_ignore_and_statics_carries_it() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(tree(), at=(0, 0, 0.1))
    scene.add(sp.Contact())
    with pytest.raises(InputError, match="does not carry contacts"):
        sp.run(scene, until=0.1, solver=sp.TreeSolver())
    held = sp.Scene(gravity=(0, 0, -9.81))
    held.add(soft(), fix="z_max", at=(0, 0, 0.02))
    held.add(sp.Floor())
    system = held.compile()
    rest = sp.solve_statics(system)
    hung = sp.Scene(gravity=(0, 0, -9.81))
    hung.add(soft(), fix="z_max", at=(0, 0, 0.02))
    free = sp.solve_statics(hung.compile())
    lowest, without = (state.x.reshape(-1, 3)[:, 2].min() for state in (rest, free))
    assert lowest >= without  # the floor carries where it would sag below
    assert lowest > -1e-3


def test_a_scene_has_one_fluid() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.Fluid(1000.0))
    with pytest.raises(InputError, match="a fluid already"):
        scene.add(sp.Fluid(1.0))


def test_a_cork_of_voxels_floats_by_the_fluid_of_the_scene() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(voxels(), name="cork")
    scene.add(sp.Fluid(1000.0, level=1.0))
    assert sp.run(scene, until=0.1).state.v.reshape(-1, 6)[:, 2].mean() > 0.1  # half as dense as water


@pytest.mark.parametrize("kind", ["rigid", "voxel"])
def test_an_obstacle_has_friction_of_its_own(kind: str) -> None:
    """Down a slope of 0.5: held by a friction of 0.6, accelerated by g (sin - mu cos) by one of 0.2."""
    tilt, t = np.arctan(0.5), 0.4
    gravity = 9.81 * np.array([np.sin(tilt), 0, -np.cos(tilt)])
    for mu in (0.6, 0.2):
        scene = sp.Scene(gravity=gravity)
        scene.add(BODIES[kind](), at=(0, 0, SIDE / 2), name="body")
        scene.add(sp.Floor(friction=mu))
        run = sp.run(scene, until=t)
        way = float((run.frames.points("body", len(run.frames.times) - 1) - run.frames.points("body", 0))[:, 0].mean())
        free = 0.5 * 9.81 * (np.sin(tilt) - mu * np.cos(tilt)) * t**2
        assert abs(way - max(free, 0.0)) < 0.05 * 0.5 * 9.81 * np.sin(tilt) * t**2


def test_bodies_pass_through_each_other_without_a_contact_and_not_with_one() -> None:
    found = []
    for contact in (False, True):
        scene = sp.Scene(gravity=(0, 0, -9.81))
        scene.add(box(), at=(0, 0, SIDE / 2), name="low")
        scene.add(box(), at=(0.01, 0.005, 1.5 * SIDE + 0.01), name="high")
        scene.add(sp.Floor())
        if contact:
            scene.add(sp.Contact())
        found.append(float(sp.run(scene, until=0.5).state.x[9]))
    assert found[0] == pytest.approx(SIDE / 2, abs=1e-3)
    assert found[1] == pytest.approx(1.5 * SIDE, abs=1e-3)


def test_the_first_contact_of_a_body_holds_for_obstacles() -> None:
    """Two contacts that both have a body do not push it twice: it sinks as by one."""
    depth = []
    for contacts in (1, 2):
        scene = sp.Scene(gravity=(0, 0, -9.81))
        scene.add(box(), at=(0, 0, SIDE / 2), name="box")
        scene.add(sp.Floor())
        for _ in range(contacts):
            scene.add(sp.Contact(stiffness=1e6))
        depth.append(SIDE / 2 - float(sp.run(scene, until=0.5).state.x[2]))
    assert depth[0] == pytest.approx(depth[1], rel=1e-9)


def test_two_obstacles_in_one_place_are_refused() -> None:
    scene = sp.Scene()
    scene.add(sp.Floor())
    with pytest.raises(InputError, match=r"in one place.*'floor' and 'plane'"):
        scene.add(sp.Plane())
    scene.add(sp.Plane(offset=-1.0))
    with pytest.raises(InputError, match="name is already used"):
        scene.add(sp.Sphere((0, 0, 0), 1.0, name="floor"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: sp.Floor(friction=-0.1),
        lambda: sp.Floor(np.nan),
        lambda: sp.Sphere((0, 0), 1.0),
        lambda: sp.Capsule((0, 0, 0), (1, 0, 0), 0.0),
        lambda: sp.MeshObstacle("mesh"),
        lambda: sp.Plane(name=""),
    ],
)
def test_bad_obstacles_are_refused(make: object) -> None:
    with pytest.raises(InputError):
        make()


def test_the_system_says_which_method_was_chosen_and_why() -> None:
    scene = sp.Scene()
    scene.add(voxels())
    scene.add(sp.Floor())
    run = sp.run(scene, until=0.01)
    assert isinstance(run.solver, sp.LatticeSolver)
    assert "advanced by LatticeSolver: voxel bodies alone" in str(run.system)


def test_each_scene_gets_the_method_that_suits_it() -> None:
    def chosen(*things: object) -> type:
        scene = sp.Scene()
        for thing in things:
            scene.add(thing)
        return type(choose(scene).solver)

    capsule = sp.Capsule((0, 0, -1), (1, 0, -1), 0.1)
    assert chosen(voxels()) is sp.LatticeSolver
    assert chosen(voxels(), sp.Floor(), sp.Contact(self_contact=True)) is sp.LatticeSolver
    assert chosen(voxels(), capsule) is sp.LatticeSolver
    assert chosen(voxels(), sp.Floor(motion=sp.Motion(velocity=(1, 0, 0)))) is sp.LatticeSolver
    assert chosen(voxels(), sp.MeshObstacle(soft().mesh.boundary.surface)) is sp.Partitioned
    assert chosen(voxels(), voxels(), sp.Contact()) is sp.Partitioned  # the sweep would let them meet themselves too
    assert chosen(tree()) is sp.TreeSolver
    scene = sp.Scene()
    one, two = scene.add(tree(), name="one"), scene.add(tree(), name="two")
    scene.add(sp.Springs(one.points([0]), sp.World.points(one.rest[:1]), 10.0))
    assert type(choose(scene).solver) is sp.TreeSolver
    scene.add(sp.Springs(one.points([0]), two.points([1]), 10.0))
    assert type(choose(scene).solver) is sp.Partitioned
    assert chosen(tree(), sp.Floor()) is sp.Partitioned
    assert chosen(box(), soft(), sp.Floor()) is sp.ImplicitEuler
    assert chosen(box(), tree()) is sp.Partitioned


@pytest.mark.parametrize("solver", [sp.Newmark(1e-3), sp.GeneralizedAlpha(1e-3)], ids=lambda s: type(s).__name__)
def test_a_method_that_refuses_a_scene_names_itself(solver: sp.Newmark | sp.GeneralizedAlpha) -> None:
    scene = sp.Scene()
    scene.add(tree(), name="tree")
    with pytest.raises(InputError) as refused:
        sp.run(scene, until=0.01, solver=solver)
    assert refused.value.where == type(solver).__name__
