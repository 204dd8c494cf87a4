"""Steps that a run takes many at a time have the bits of single ones; what fails among them is named by its step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import TreeModel
from supple.bodies.voxel import Actuation, Commands, VoxelBody
from supple.errors import DivergenceError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.modal import ElasticSolid
from supple.solvers.report import Outcome, StepReport
from supple.validation.tree.coupling import beam_domain_tree
from supple.validation.tree.reference import mixed_domain_tree

GRAVITY = (0.0, 0.0, -9.81)


def tree_scene(**more) -> sp.Scene:
    scene = sp.Scene(gravity=GRAVITY, solver=sp.TreeSolver(1 / 120))
    node = scene.add(sp.TreeBody(beam_domain_tree(3, 6), stiffness_damping=0.001), name="branch")
    scene.add(sp.TreeBody(beam_domain_tree(2, 6), stiffness_damping=0.01), at=(0, 1, 0), name="other")
    if more.get("loaded"):
        scene.add(sp.Load(node.points(at=[(0.3, 0, 0)]), lambda t: (0, 0.1 * np.sin(30 * t), 0)))
    return scene


def uneven_tree_scene() -> sp.Scene:
    """A load that differs from point to point after a while."""
    scene = tree_scene()
    points = scene.nodes[0].points(at=[(0.3, 0, 0), (0.2, 0, 0)])
    scene.add(sp.Load(points, lambda t: 0.1 * np.array([[0, 1, 0], [0, np.sign(0.25 - t), 0]])))
    return scene


def windy_tree_scene(**more) -> sp.Scene:
    """Wind on a tree, with a load on it."""
    scene = tree_scene(**more)
    scene.add(sp.Wind(scene.nodes[0], (0, 12.0, 3.0), intensity=0.4, modes=6))
    return scene


def shared_tree_scene() -> sp.Scene:
    """One wind on two trees, and one load on both."""
    scene = tree_scene()
    scene.add(sp.Wind(scene.nodes, (0, 12.0, 3.0), intensity=0.4, modes=6))
    tips = [node.points(at=[node.placement.at + np.array([0.3, 0, 0])]) for node in scene.nodes]
    scene.add(sp.Load(sp.join(*tips), lambda t: (0, 0.1 * np.sin(30 * t), 0)))
    return scene


def free_tree_scene() -> sp.Scene:
    """A tree that flies, in the wind, with loads that differ from point to point after a while."""
    scene = sp.Scene(gravity=GRAVITY, solver=sp.TreeSolver(1 / 120))
    body = sp.TreeBody(TreeModel.of(mixed_domain_tree(free=True, chain=True)), stiffness_damping=0.001)
    node = scene.add(body, spin=(1.0, 2.0, 0.5), velocity=(0.2, 0, 0), name="twig")
    scene.add(sp.Load(node.points([3]), lambda t: (0.02, 0.01 * np.sin(30 * t), 0)))
    scene.add(sp.Load(node.points([0, 5]), lambda t: 0.01 * np.array([[0, 1, 0], [0, np.sign(0.25 - t), 0]])))
    scene.add(sp.Wind(node, (0, 2.0, 1.0), modes=6))
    return scene


def violent_tree_scene(**more) -> sp.Scene:
    """Steps that are too long for the motion, and are halved in the middle of a stride."""
    scene = tree_scene(**more)
    scene.gravity, scene.solver = (0.0, 0.0, -300.0), sp.TreeSolver(1 / 60)
    return scene


def lattice_scene(bond_damping: float = 0.3, *, drop: float = 0.012, transverse: bool = False, **law) -> sp.Scene:
    muscle = VoxelMaterial(
        young=1e5, density=1000, expansion=0.01, bond_damping=bond_damping, ground_damping=1e-3, **law
    )
    body = VoxelBody(
        VoxelGrid(np.ones((4, 2, 2), dtype=int), 0.01),
        {1: muscle},
        actuation=Actuation(15.0, 5.0, np.linspace(0, 1, 16)),
        transverse=transverse,
    )
    scene = sp.Scene(gravity=GRAVITY, solver=sp.LatticeSolver(bend_limit=None))
    scene.add(body, at=(0, 0, drop), name="muscle")
    scene.add(sp.Floor())
    return scene


def changed(scene: sp.Scene, *things) -> sp.Scene:
    for thing in things:
        scene.add(thing)
    return scene


def staged(**more) -> sp.Scene:
    """Damping so strong that links damp in several stages."""
    return lattice_scene(1.0, **more)


def jointed_lattice() -> sp.Scene:
    scene = staged()
    node = scene.nodes[0]
    return changed(scene, sp.BallJoint(node.points([3]), sp.World.points(node.points([3]).rest)))


def commanded_lattice() -> sp.Scene:
    scene = staged()
    body = scene.nodes[0].body
    told = Commands(lambda t, state: [10.0 * np.sin(40 * t) + state.v[0, 2]], rate=200.0)
    other = sp.Scene(gravity=GRAVITY)
    other.add(VoxelBody(body.grid, body.palette, actuation=told), fix="x_min", name="muscle")
    return other


def loaded(scene: sp.Scene) -> sp.Scene:
    """A force in time between the centres of voxels, which turns them too, and a constant one."""
    node = scene.nodes[0]
    scene.add(sp.Load(node.points(at=[(0.037, 0.004, 0.016)]), lambda t: (0.01 * np.sin(40 * t), 0.02, 0.0)))
    return changed(scene, sp.Load(node.points([2, 5]), (0.0, -0.01, 0.02)))


BELT = {"motion": sp.Motion(velocity=(0.2, 0.0, 0.0)), "friction": 0.4}
LATTICES = {
    "lattice": lattice_scene,
    "staged lattice": staged,
    "stretched staged lattice": lambda: staged(drop=0.5),
    "staged lattice in water": lambda: changed(staged(), sp.Fluid(density=900.0, level=0.02, flow=(0.3, 0, 0))),
    "staged lattice on a belt": lambda: changed(staged(), sp.Box((0, 0, 0), (0.1, 0.1, 0.01), **BELT)),
    "yielding staged lattice": lambda: staged(drop=0.5, yield_stress=1e3, plastic_modulus=2e4),
    "failing staged lattice": lambda: staged(drop=0.5, fail_strain=0.05),
    "transverse staged lattice": lambda: staged(transverse=True, poisson=0.3),
    "staged lattice on a joint": jointed_lattice,
    "staged lattice that collides": lambda: changed(staged(), sp.Contact(self_contact=True)),
    "commanded staged lattice": commanded_lattice,
    "loaded staged lattice": lambda: loaded(staged()),
    "loaded staged lattice that collides": lambda: changed(loaded(staged()), sp.Contact(self_contact=True)),
    "loaded failing staged lattice": lambda: loaded(staged(drop=0.5, fail_strain=0.05)),
}


def floating_scene() -> sp.Scene:
    solid = ElasticSolid(sp.box_tets(size=(1, 0.1, 0.1), cells=(6, 1, 1)), sp.Material(1e7, 0.3, 1000))
    scene = sp.Scene(gravity=GRAVITY)
    scene.add(sp.FloatingBody.from_solid(solid, modes=6), spin=(1, 2, 5))
    return scene


SCENES = {
    "tree": tree_scene,
    "loaded tree": lambda: tree_scene(loaded=True),
    "unevenly loaded tree": uneven_tree_scene,
    "windy tree": lambda: windy_tree_scene(loaded=True),
    "trees in one wind": shared_tree_scene,
    "free tree": free_tree_scene,
    "violent tree": violent_tree_scene,
    "violent loaded tree": lambda: violent_tree_scene(loaded=True),
    **LATTICES,
    "floating": floating_scene,
}


@pytest.mark.parametrize("name", SCENES)
def test_a_run_takes_the_bits_of_single_steps(name: str) -> None:
    """on_step asks for single steps."""
    whole = sp.run(SCENES[name](), until=0.5, record_every=0.1)
    single = sp.run(SCENES[name](), until=0.5, record_every=0.1, on_step=lambda state, report: None)
    assert whole.steps == single.steps
    assert ("branch/halvings" in whole.state.memory) == name.startswith("violent")
    assert whole.state.x.tobytes() == single.state.x.tobytes()
    assert whole.state.v.tobytes() == single.state.v.tobytes()
    assert whole.worst_residual == single.worst_residual
    assert whole.under_converged == single.under_converged
    for column, values in whole.frames.columns.items():
        assert np.array_equal(values, single.frames.columns[column]), column


@pytest.mark.parametrize("name", SCENES)
def test_a_stride_is_resumed_to_the_same_bits(name: str, tmp_path) -> None:
    whole = sp.run(SCENES[name](), until=0.5, record_every=0.1, out=tmp_path / "whole")
    sp.run(SCENES[name](), until=0.23, record_every=0.1, out=tmp_path / "parts")
    parts = sp.run(SCENES[name](), until=0.5, record_every=0.1, out=tmp_path / "parts", resume=True)
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    assert whole.state.v.tobytes() == parts.state.v.tobytes()
    assert {k: v.tobytes() for k, v in whole.state.memory.items()} == {
        k: v.tobytes() for k, v in parts.state.memory.items()
    }


@pytest.mark.parametrize("name", ["staged lattice", "yielding staged lattice", "failing staged lattice"])
def test_these_lattices_damp_in_stages_and_do_what_they_are_named_for(name: str) -> None:
    done = sp.run(LATTICES[name](), until=0.5)
    _, stable = done.solver.found_step(done.state)
    assert len(stable.stages.shares) > 1
    links = done.state.memory.get("muscle/links")
    if name.startswith("yielding"):
        assert np.abs(links[:, 0]).max() > 0.01
        assert links[:, 2].all()
    if name.startswith("failing"):
        assert 0 < np.sum(links[:, 2] == 0) < len(links)


@pytest.mark.parametrize("name", LATTICES)
def test_lattices_come_back_to_python_only_where_links_fail(name: str, monkeypatch) -> None:
    taken = []
    single = sp.LatticeSolver._step_in_parts
    monkeypatch.setattr(sp.LatticeSolver, "_step_in_parts", lambda *a: taken.append(1) or single(*a))
    done = sp.run(LATTICES[name](), until=0.5)
    assert (0 < len(taken) < done.steps / 4) == ("failing" in name)
    assert bool(taken) == ("failing" in name)


def test_frames_taken_in_one_call_have_the_bits_of_frames_taken_one_by_one() -> None:
    """Somebody who looks at frames asks for one at a time."""
    seen: list[tuple[bytes, bytes]] = []
    sp.run(staged(), until=0.5, observers=[lambda f: seen.append((f.state.x.tobytes(), f.state.v.tobytes()))])
    scene, calls = staged(), []
    solver = sp.LatticeSolver(bend_limit=None)
    given = solver.advance_frames
    solver.advance_frames = lambda system, state, steps: calls.append(given(system, state, steps)) or calls[-1]
    together = sp.run(scene, until=0.5, solver=solver)
    assert max(len(call) for call in calls) > 1
    kept = {s.t: (s.x.tobytes(), s.v.tobytes()) for call in calls if len(call) > 1 for s, _ in call[:-1]}
    times = together.frames.columns["time"].tolist()
    assert len(times) == len(seen)
    assert all(seen[times.index(t)] == bits for t, bits in kept.items())


class Own:
    """The forces of a load, that nobody knows to depend on time alone."""

    def __init__(self, load: sp.Load) -> None:
        self.energy, self.add_force, self.linearize = load.energy, load.add_force, load.linearize


@pytest.mark.parametrize("name", ["loaded staged lattice", "loaded staged lattice that collides"])
def test_loads_of_strides_are_those_that_python_asks_for(name: str) -> None:
    known, asked = LATTICES[name](), LATTICES[name]()
    asked.forces = [replace(acting, force=Own(acting.force)) for acting in asked.forces]
    one, two = (sp.run(scene, until=0.2) for scene in (known, asked))
    free = sp.run(staged(), until=0.2)
    assert np.abs(one.state.x - free.state.x).max() > 1e-3
    np.testing.assert_allclose(one.state.x, two.state.x, atol=1e-10)
    np.testing.assert_allclose(one.state.v, two.state.v, atol=1e-7)


class Shattering:
    """Takes strides; its ball is lost in step 7."""

    dt = 0.01

    def __init__(self) -> None:
        self.calls: list[int] = []

    def prepare(self, system) -> None:
        """Nothing."""

    def step(self, system, state) -> StepReport:
        self.calls.append(1)
        state.x[0] = np.nan if state.t > 0.055 else state.t
        return StepReport(Outcome.NOT_FINITE if state.t > 0.055 else Outcome.SOLVED)

    def advance(self, system, state, steps: int) -> StepReport:
        self.calls.append(steps)
        state.x[0] = np.nan
        return StepReport(Outcome.SOLVED, steps=steps)


def test_one_wind_on_two_trees_is_one_on_each() -> None:
    """So that both take strides."""
    scene, apart = shared_tree_scene(), tree_scene()
    for node in apart.nodes:
        apart.add(sp.Wind(node, (0, 12.0, 3.0), intensity=0.4, modes=6))
        tip = node.points(at=[node.placement.at + np.array([0.3, 0, 0])])
        apart.add(sp.Load(tip, lambda t: (0, 0.05 * np.sin(30 * t), 0)))
    system, solver = scene.compile(), sp.TreeSolver(1 / 120)
    solver.prepare(system)
    state = system.initial_state()
    assert solver.advance(system, state, 4).steps == 4
    assert not solver.asks_each_step
    one, two = (sp.run(s, until=0.25).state for s in (scene, apart))
    np.testing.assert_allclose(one.x, two.x, atol=1e-12 * np.abs(two.x).max(), rtol=0.0)


def test_a_failed_stride_is_taken_again_step_by_step() -> None:
    scene, solver = sp.Scene(), Shattering()
    scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
    with pytest.raises(DivergenceError, match="step 7") as caught:
        sp.run(scene, until=1.0, solver=solver, record_every=0.2)
    assert "ball" in caught.value.where
    assert solver.calls[:2] != [1, 1]
    assert max(solver.calls) > 1


def test_a_joined_report_has_the_worst_and_the_sums() -> None:
    reports = [StepReport(Outcome.SOLVED, 2, 5, 0.1), StepReport(Outcome.UNDER_CONVERGED, 3, 6, 0.4)]
    report = StepReport.joined([*reports, StepReport(Outcome.SOLVED, 1)])
    assert report == StepReport(Outcome.UNDER_CONVERGED, 6, 11, 0.4, 3, 1)
    assert report.under_converged == 1
    assert np.isnan(StepReport.joined([reports[0], StepReport(Outcome.SOLVED, residual=float("nan"))]).residual)
