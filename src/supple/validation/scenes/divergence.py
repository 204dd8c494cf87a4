"""Runs that explode must end with a DivergenceError and a good state; violent ones that are right must not.

stopped     the run ends with that error before its end, and hands back a finite state of an earlier frame
finished    a run that is right, of as much violence as scenes have, reaches its end

Explicit steps beyond their stable length explode for sure. Their solvers refuse such steps, so here are ones that do
not ask, as a person's own would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.floating import FloatingBody
from supple.bodies.layered import LayeredBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.bodies.tree import TreeBody
from supple.bodies.voxel import Actuation, VoxelBody
from supple.contact import Contact, Floor, Motion, Plane
from supple.decompose import decompose
from supple.errors import DivergenceError, SuppleWarning
from supple.geometry import VoxelGrid, box_hexes, box_tets
from supple.material import Material, VoxelMaterial
from supple.modal import ElasticSolid, Support
from supple.record.run_result import Run
from supple.running import run
from supple.scene import (
    BallJoint,
    FixedPoints,
    HingeJoint,
    Load,
    PrescribedMotion,
    Scene,
    SliderJoint,
    Springs,
    System,
    Wind,
    World,
)
from supple.solvers import GeneralizedAlpha, ImplicitEuler, LatticeSolver, RungeKutta4, SymplecticEuler, TreeSolver
from supple.validation.contact_kinds import KINDS
from supple.validation.row import Row, bounded

CASE, G = "scene/divergence", 9.81
RUBBER = Material(young=1e6, poisson=0.3, density=1000)


class LongSteps(RungeKutta4):
    """Refuses no step."""

    def prepare(self, system: System) -> None:
        """Nothing."""


class LongHops(SymplecticEuler):
    """Refuses no step."""

    def prepare(self, system: System) -> None:
        """Nothing."""
        self._checked = system


def block(cells: int = 3, **more: Any) -> FemBody:
    """A cube of 10 cm."""
    return FemBody(box_tets(size=(0.1, 0.1, 0.1), cells=(cells,) * 3), RUBBER, **more)


def chain(solver: Any, count: int = 4) -> Scene:
    """Particles on springs that hang from the first."""
    scene = Scene(gravity=(0, 0, -G), solver=solver)
    X = np.c_[np.arange(float(count)), np.zeros((count, 2))]
    springs = [(i, i + 1) for i in range(count - 1)]
    node = scene.add(Particles(X, 0.1, springs=springs, stiffness=200), name="chain")
    scene.add(FixedPoints(node, [0]))
    return scene


def actuated(strain: float, frequency: float) -> VoxelBody:
    """27 voxels of 1 cm that swing in size by a strain."""
    grid = VoxelGrid(np.ones((3, 3, 3), dtype=int), 0.01)
    material = VoxelMaterial(young=1e6, density=1000, expansion=0.01, bond_damping=0.2)
    return VoxelBody(grid, material, actuation=Actuation(100 * strain, frequency))


def hanging_chain() -> Scene:
    """By Runge-Kutta at 1.3 times its stable step."""
    return chain(LongSteps(0.045))


def pulled_chain() -> Scene:
    """By linearised implicit Euler, pulled to and fro by tens of its lengths: its energy jumps a hundredfold."""
    scene = chain(ImplicitEuler(0.01))
    scene.add(Load(scene.node("chain").points([3]), lambda t: (0, 0, 400 * np.sin(20 * t))))
    return scene


def blown_block() -> Scene:
    """Finite elements in wind, by symplectic Euler beyond its stable step."""
    scene = Scene(gravity=(0, 0, -G), solver=LongHops(2e-3))
    scene.add(block(), name="block")
    scene.add(Wind(velocity=(5.0, 0, 0)))
    return scene


def loaded_block() -> Scene:
    """Finite elements under a load in time, by Runge-Kutta beyond its stable step."""
    scene = Scene(solver=LongSteps(2e-3))
    node = scene.add(block(), name="block")
    scene.add(FixedPoints(node, "z_min"))
    scene.add(Load(node.points("z_max"), lambda t: (np.sin(30 * t), 0, 0)))
    return scene


def crushed_block() -> Scene:
    """Elements whose lid is led through their bottom: they turn inside out."""
    scene = Scene(solver=ImplicitEuler(0.01))
    node = scene.add(block(4, law="neo-hookean"), name="block")
    scene.add(FixedPoints(node, "z_min"))
    scene.add(PrescribedMotion(node, "z_max", lambda t: (0, 0, -0.5 * t)))
    return scene


def crushed_floating_body() -> Scene:
    """A linear shape that a load presses through itself."""
    scene, mesh = Scene(), box_tets(size=(0.1, 0.1, 0.1), cells=(4, 4, 4))
    support, load = Support(ElasticSolid(mesh, RUBBER), "z_min"), np.zeros(mesh.nodes.shape)
    load[mesh.node_region("z_max"), 2] = -1.0
    body = FloatingBody.from_basis(support, support.static_response(load.reshape(-1, 1)), damping_ratio=0.1)
    node = scene.add(body, fix=True, name="block")
    scene.add(Load(node.points(at=[(0.05, 0.05, 0.1)]), (0, 0, -2e4)))
    return scene


def crushed_layer() -> Scene:
    """A linear layer that a load presses into its core."""
    scene, mesh = Scene(), box_tets(size=(0.1, 0.1, 0.1), cells=(4, 4, 4))
    stuff = replace(RUBBER, stiffness_damping=0.01)
    node = scene.add(LayeredBody.from_mesh(mesh, stuff, core=lambda X: X[:, 2] < 0.04), fix=True, name="block")
    scene.add(Load(node.points("z_max"), (0, 0, -2e4)))
    return scene


def crushed_tree() -> Scene:
    """Two domains under a load along them, which St. Venant-Kirchhoff's law does not carry beyond 0.19 E."""
    scene, mesh = Scene(solver=TreeSolver(1e-3)), box_tets(size=(0.2, 0.05, 0.05), cells=(8, 2, 2))
    labels = (mesh.nodes[mesh.elements].mean(axis=1)[:, 0] > 0.1).astype(int)
    tree = decompose(mesh, labels, material=RUBBER, modes=12, fixed="x_min")
    node = scene.add(TreeBody(tree, stiffness_damping=0.01), name="tree")
    scene.add(Load(node.points(lambda X: X[:, 0] > 0.199), (-0.3e6 * 0.05**2, 0, 0)))
    return scene


def crushed_voxels() -> Scene:
    """Layers of voxels that a load presses through each other."""
    scene, grid = Scene(solver=ImplicitEuler(0.005)), VoxelGrid(np.ones((5, 5, 3), dtype=int), 0.01)
    body = VoxelBody(grid, VoxelMaterial(young=1e6, density=1000, bond_damping=1.0))
    node = scene.add(body, fix=lambda X: X[:, 2] < 0.01, name="voxels")
    scene.add(Load(node.points(lambda X: X[:, 2] > 0.02), (0, 0, -2e6 * 0.05**2)))
    return scene


def swinging_voxels() -> Scene:
    """Actuated voxels by Runge-Kutta beyond its stable step."""
    scene = Scene(gravity=(0, 0, -G), solver=LongSteps(1e-3))
    scene.add(actuated(0.05, 4.0), name="voxels")
    return scene


def flying(kind: str, step: float) -> Scene:
    """A body of that kind, thrown, by Runge-Kutta beyond its stable step."""
    scene = Scene(gravity=(0, 0, -G), solver=LongSteps(step))
    scene.add(KINDS[kind](), velocity=(1.0, 0, 0), spin=(0, 0, 1.0), name=kind)
    return scene


def bound_boxes() -> Scene:
    """Rigid boxes on a stiff spring, by symplectic Euler beyond its stable step."""
    scene = Scene(solver=LongHops(0.01))
    a = scene.add(RigidBody.box((0.1,) * 3, density=1000), name="a")
    b = scene.add(RigidBody.box((0.1,) * 3, density=1000), at=(0.3, 0, 0), velocity=(0, 1.0, 0), name="b")
    scene.add(Springs(a.points(local=[(0.05, 0, 0)]), b.points(local=[(-0.05, 0, 0)]), 1e5))
    return scene


def led_chain() -> Scene:
    """Led to and fro at its end, by symplectic Euler beyond its stable step."""
    scene = chain(LongHops(0.035))
    scene.filters.clear()
    scene.add(PrescribedMotion(scene.node("chain"), [0], lambda t: (0, 0, 0.1 * np.sin(5 * t))))
    return scene


EXPLODING: dict[str, Callable[[], Scene]] = {
    "particles, Runge-Kutta": hanging_chain,
    "particles under a load in time, linearised implicit Euler": pulled_chain,
    "particles that are led, symplectic Euler": led_chain,
    "elements in wind, symplectic Euler": blown_block,
    "elements under a load in time, Runge-Kutta": loaded_block,
    "elements inside out, implicit Euler": crushed_block,
    "a floating body inside out": crushed_floating_body,
    "a layer inside out": crushed_layer,
    "a tree inside out": crushed_tree,
    "voxels inside out": crushed_voxels,
    "actuated voxels, Runge-Kutta": swinging_voxels,
    "floating body, Runge-Kutta": partial(flying, "floating", 0.01),
    "layered body, Runge-Kutta": partial(flying, "layered", 0.01),
    "rigid bodies on a spring, symplectic Euler": bound_boxes,
}


def bullet() -> Scene:
    """A sphere at 100 m/s against a block of rubber."""
    scene = Scene()
    scene.add(RigidBody.sphere(0.01, density=7800), at=(-0.05, 0.05, 0.05), velocity=(100.0, 0, 0), name="bullet")
    scene.add(block(), name="block")
    scene.add(Contact())
    return scene


def pile() -> Scene:
    """Boxes that fall on each other, of which some overlap at the start."""
    scene = Scene(gravity=(0, 0, -G))
    for k in range(8):
        at = (0.02 * (k % 3), 0.03 * (k % 2), 0.3 + 0.099 * k)
        scene.add(RigidBody.box((0.1,) * 3, density=1000), at=at, name=f"box {k}")
    scene.add(Floor())
    scene.add(Contact())
    return scene


def dancing_voxels() -> Scene:
    """Voxels on a floor that swing by a fifth of their size at the rate of the frames, 30 Hz."""
    scene = Scene(gravity=(0, 0, -G), solver=LatticeSolver())
    scene.add(actuated(0.2, 30.0), at=(0, 0, 0.001), name="voxels")
    scene.add(Floor())
    return scene


def sunk_voxels() -> Scene:
    """Voxels that begin a tenth of their size inside the floor, and are thrown out."""
    scene = Scene(gravity=(0, 0, -G), solver=LatticeSolver())
    scene.add(actuated(0.0, 1.0), at=(0, 0, -0.001), name="voxels")
    scene.add(Floor())
    return scene


def spinning_up(torque: float) -> Scene:
    """A rod that a motor brings to 50 rad/s, with a torque [N m] or at once."""
    scene = Scene()
    rod = scene.add(RigidBody.box((1.0, 0.1, 0.1), density=500), at=(0.5, 0, 0), name="rod")
    scene.add(HingeJoint(rod, at=(0, 0, 0), axis=(0, 1, 0), motor_speed=50.0, motor_torque=torque))
    return scene


def rubber_crank() -> Scene:
    """A slider-crank with a rod of elements, whose motor has no limit."""
    scene = Scene(solver=GeneralizedAlpha(1e-3, rho=0.8))
    crank = scene.add(RigidBody.box((0.1, 0.02, 0.02), density=2000), at=(0.05, 0, 0), name="crank")
    mesh = box_hexes(size=(0.3, 0.02, 0.02), cells=(4, 1, 1))
    rod = scene.add(FemBody(mesh, Material(1e8, 0.3, 1000)), at=(0.1, 0, 0), name="rod")
    slider = scene.add(RigidBody.box((0.04,) * 3, density=2000), at=(0.4, 0, 0), name="slider")
    scene.add(HingeJoint(crank, axis=(0, 0, 1), motor_speed=lambda t: min(100 * t, 10.0)))
    scene.add(BallJoint(crank, rod, at=(0.1, 0, 0)))
    scene.add(BallJoint(rod, slider, at=(0.4, 0, 0)))
    scene.add(SliderJoint(World, slider, axis=(1, 0, 0)))
    return scene


def batted(kind: str) -> Scene:
    """A body that a floor strikes, four times a second at up to 6 m/s."""
    scene = Scene(gravity=(0, 0, -G))
    scene.add(KINDS[kind](), at=(0, 0, 0.06), name=kind)
    beat = Motion.sampled(lambda t: (0, 0, 0.25 * (1 - np.cos(25 * t))), until=2.0)
    scene.add(Floor(motion=beat))
    scene.add(Contact())
    return scene


def squeezed() -> Scene:
    """A block between a floor and a lid that comes down by half its height."""
    scene = Scene(gravity=(0, 0, -G))
    scene.add(block(), name="block")
    scene.add(Floor())
    lid = Motion(times=[0.0, 0.5], positions=[(0, 0, 0), (0, 0, -0.05)])
    scene.add(Plane((0, 0, -1), -0.101, motion=lid), name="lid")
    scene.add(Contact())
    return scene


def led_block() -> Scene:
    """Shaken at its bottom, in resonance."""
    scene = Scene(gravity=(0, 0, -G), solver=ImplicitEuler(2e-3))
    node = scene.add(block(), name="block")
    scene.add(PrescribedMotion(node, "z_min", lambda t: (0.01 * np.sin(200 * t), 0, 0)))
    return scene


RIGHT: dict[str, Callable[[], Scene]] = {
    "a bullet": bullet,
    "a pile that falls": pile,
    "strong actuation at the rate of the frames": dancing_voxels,
    "voxels that begin in the floor": sunk_voxels,
    "a motor spinning up": partial(spinning_up, 20.0),
    "a motor without a limit": partial(spinning_up, np.inf),
    "a slider-crank of rubber": rubber_crank,
    "a rigid body on a beating floor": partial(batted, "rigid"),
    "elements on a beating floor": partial(batted, "fem"),
    "voxels on a beating floor": partial(batted, "voxel"),
    "a tree on a beating floor": partial(batted, "tree"),
    "a block under a lid": squeezed,
    "a block that is shaken": led_block,
}
UNTIL, SHORT = 1.0, 0.3


def _stopped(name: str) -> Row:
    """One exploding scene."""
    what = f"{name}: not stopped with a state that was good"
    try:
        with catch_warnings():
            simplefilter("ignore", SuppleWarning)  # steps that are too long
            run(EXPLODING[name](), until=UNTIL)
        is_stopped = False
    except DivergenceError as error:
        done: Run = error.run  # type: ignore[attr-defined]
        is_stopped = done.outcome == "diverged" and done.state.is_finite and done.time < UNTIL
    return bounded(CASE, what, float(not is_stopped), 0.0, source="it explodes")


def _finished(name: str) -> Row:
    """One scene that is right."""
    try:
        with catch_warnings():
            simplefilter("ignore", SuppleWarning)  # boxes that begin inside each other
            outcome = run(RIGHT[name](), until=SHORT).outcome
    except DivergenceError:
        outcome = "diverged"
    return bounded(CASE, f"{name}: stopped", float(outcome != "finished"), 0.0, source="nothing explodes")


def divergence() -> list[Row]:
    """Scenes of many kinds and solvers that explode, and violent ones that are right."""
    return [_stopped(name) for name in EXPLODING] + [_finished(name) for name in RIGHT]


CASES = {CASE: divergence}
