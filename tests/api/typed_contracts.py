"""Kinds, laws and solvers beside their contracts, for the type checker alone: `make lint` reads it, nothing runs it."""

from __future__ import annotations

import supple.bodies.capabilities as can
from supple.bodies.body_protocol import Body
from supple.bodies.fem import FemBody
from supple.bodies.floating import FloatingBody
from supple.bodies.layered import LayeredBody
from supple.bodies.part_protocol import OwnStride
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.bodies.tree import TreeBody
from supple.bodies.voxel import VoxelBody
from supple.interaction.protocol import Interaction, PointConditions, PointForce
from supple.interaction.springs import SpringForce
from supple.scene.acting.loads import Springs
from supple.scene.joints.bounded_rows import BoundedRows
from supple.scene.joints.joints import PointConditionRows
from supple.solvers import (
    GeneralizedAlpha,
    ImplicitEuler,
    LatticeSolver,
    Midpoint,
    Partitioned,
    RungeKutta4,
    SymplecticEuler,
    TreeSolver,
)
from supple.solvers.protocol import Solver


def bodies(
    fem: FemBody,
    rigid: RigidBody,
    particles: Particles,
    voxel: VoxelBody,
    tree: TreeBody,
    floating: FloatingBody,
    layered: LayeredBody,
) -> tuple[object, ...]:
    """Every kind keeps `Body`, and its capabilities with all arguments."""
    every: list[Body] = [fem, rigid, particles, voxel, tree, floating, layered]
    framed: list[can.Framed] = [rigid, floating, layered]
    holding: list[can.Holding] = [floating, layered]
    massed: list[can.Massed] = [fem, particles, voxel]
    faced: list[can.Faced] = [fem, floating, layered]
    dragging: list[can.Dragging] = [rigid, tree]
    remembering: list[can.Remembering] = [voxel, tree]
    strides: list[OwnStride] = [voxel, tree]
    inverting: list[can.Inverting] = [fem, floating, layered, tree, voxel]
    explicit: can.ExplicitContact = voxel
    solving: can.SelfSolving = layered
    shown: can.Shown = tree
    breaking: can.Breaking = tree
    gapped: can.Gapped = tree
    several = (every, framed, holding, massed, faced, dragging, remembering, strides)
    return several, inverting, explicit, solving, shown, breaking, gapped


def laws(springs: Springs, force: SpringForce, rows: PointConditionRows, bounded: BoundedRows) -> tuple[object, ...]:
    """Laws between points."""
    interaction: Interaction = springs
    forces: PointForce = force
    conditions: list[PointConditions] = [rows, bounded]
    return interaction, forces, conditions


def solvers(
    euler: ImplicitEuler,
    midpoint: Midpoint,
    alpha: GeneralizedAlpha,
    symplectic: SymplecticEuler,
    runge_kutta: RungeKutta4,
    parts: Partitioned,
    lattices: LatticeSolver,
    trees: TreeSolver,
) -> list[Solver]:
    """Methods in time."""
    return [euler, midpoint, alpha, symplectic, runge_kutta, parts, lattices, trees]
