"""Which method advances a scene, where its caller names none.

voxel bodies alone                         LatticeSolver, where its sweep knows the obstacles and contacts
trees alone, nothing coupled to another    TreeSolver
bodies with a stride of their own, alone   StrideSolver
rigid and floating bodies on joints        Midpoint, in compiled loops, where nothing else acts
no voxels, no trees                        ImplicitEuler
all else                                   Partitioned: each kind by its own method, coupled
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.bodies.traits import is_load
from supple.errors import InputError
from supple.scene.mapped.points import JoinedPoints
from supple.scene.parts import nodes_of
from supple.scene.scene import Acting, Scene
from supple.scene.system import System
from supple.solvers.coupling.across import LATTICE, PART_OF_METHOD, TREE
from supple.solvers.coupling.lattice_joints import swept_joints
from supple.solvers.coupling.lattice_world import world_of
from supple.solvers.linkage.linkage import linkage_of
from supple.solvers.methods.implicit_euler import ImplicitEuler
from supple.solvers.methods.lattice_solver import LatticeSolver
from supple.solvers.methods.midpoint import Midpoint
from supple.solvers.methods.partitioned import Partitioned
from supple.solvers.methods.stride_solver import StrideSolver, why_not_alone
from supple.solvers.methods.tree_solver import TreeSolver


class Choice(NamedTuple):
    """A solver and the reason for it."""

    solver: Any
    why: str


def choose(scene: Scene, dt: float | None = None, system: System | None = None) -> Choice:
    """The method that suits a scene, with a step of dt [s], None: the method's own. system: the scene compiled, where
    there is one already.

    >>> import supple as sp
    >>> scene = sp.Scene()
    >>> _ = scene.add(sp.RigidBody.sphere(0.1, density=500))
    >>> choose(scene).why
    'implicit bodies, in one matrix'
    """
    method, why = _method(scene, system)
    return Choice(method() if dt is None else method(dt), why)


def prepared(own: Any, system: System) -> Any:
    """A scene's own solver, prepared; or where that refuses what was added meanwhile, the one that suits all of it."""
    try:
        own.prepare(system)
        return own
    except InputError:
        other = choose(system.scene, own.dt, system).solver
        if type(other) is type(own):
            raise
        other.prepare(system)
        return other


def _method(scene: Scene, system: System | None) -> tuple[type, str]:
    parts = {PART_OF_METHOD[node.held_body.method] for node in scene.nodes}
    touches = bool(scene.contacts or scene.obstacles)
    if parts == {LATTICE}:
        if scene.masses or len(swept_joints(scene)) < len(scene.joints):
            return ImplicitEuler, "voxel bodies with masses, or joints that move or stop: implicit, in one matrix"
        try:
            world_of(scene)
        except InputError as error:
            return Partitioned, f"voxel bodies, with contacts by surfaces: {error.what}"
        return LatticeSolver, "voxel bodies alone, swept as one lattice"
    if parts == {TREE} and not (touches or scene.joints or scene.filters or any(map(_binds, scene.forces))):
        return TreeSolver, "trees alone, by elimination along their branches"
    if not parts & {LATTICE, TREE}:
        if why_not_alone(scene) is None:
            return StrideSolver, "bodies alone, each by its own stride"
        if scene.joints and linkage_of(system or scene.compile()) is not None:
            return Midpoint, "frames on joints, by midpoint steps in compiled loops"
        return ImplicitEuler, "implicit bodies, in one matrix"
    if parts == {TREE}:
        return Partitioned, "trees, by elimination along their branches, coupled in every step"
    return Partitioned, "several kinds, each by its own method, coupled in every step"


def _binds(acting: Acting) -> bool:
    """Whether a force binds bodies, or parts of one, to each other."""
    sides = acting.on.parts if isinstance(acting.on, JoinedPoints) else ()
    return not is_load(acting.force) and sum(len(nodes_of(side)) > 0 for side in sides) > 1
