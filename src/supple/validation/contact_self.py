"""A soft strip bent like a hairpin, whose upper leg falls on the lower one: it must not pass through itself."""

from __future__ import annotations

import numpy as np

from supple.bodies.fem import FemBody
from supple.contact import Contact
from supple.geometry import TetMesh, box_tets
from supple.material import Material
from supple.scene import FixedPoints, Scene
from supple.solvers import ImplicitEuler
from supple.validation.row import Row, bounded

LEG, TURN, WIDTH, THICK = 0.12, 0.06, 0.03, 0.006
RUBBER = Material(young=5e4, poisson=0.3, density=1000.0, stiffness_damping=5e-3)


def hairpin() -> TetMesh:
    """Two level legs [m] and half a turn between them; the lower one lies on z = 0, outer side down."""
    mesh = box_tets(size=(2 * LEG + TURN, WIDTH, THICK), cells=(30, 3, 1))
    s = mesh.nodes[:, 0] - mesh.nodes[:, 0].min()
    inward = mesh.nodes[:, 2] - mesh.nodes[:, 2].min()
    radius = TURN / np.pi
    angle = np.clip((s - LEG) / radius, 0.0, np.pi)
    along = np.where(s < LEG, s, np.where(s > LEG + TURN, 2 * LEG + TURN - s, LEG))
    x = along + (radius - inward) * np.sin(angle)
    z = radius - (radius - inward) * np.cos(angle)
    return TetMesh(np.stack([x, mesh.nodes[:, 1], z], axis=1), mesh.tets)


def deepest(*, touches: bool) -> float:
    """How deep the upper leg gets below the lower one's upper face in half a second, over the thickness."""
    scene = Scene(gravity=(0, 0, -9.81), solver=ImplicitEuler(0.005))
    mesh = hairpin()
    node = scene.add(FemBody(mesh, RUBBER), name="strip")
    lower = np.flatnonzero((mesh.nodes[:, 2] < THICK + 1e-9) & (mesh.nodes[:, 0] < LEG - 1e-9))
    upper = np.flatnonzero((mesh.nodes[:, 2] > 2 * TURN / np.pi - THICK - 1e-9) & (mesh.nodes[:, 0] < LEG - 1e-9))
    scene.add(FixedPoints(node, lower))
    if touches:
        scene.add(Contact(self_contact=[node]))
    system = scene.compile()
    state, deep = system.initial_state(), 0.0
    while state.t < 0.5:
        scene.solver.step(system, state)
        x = system.positions(state, "strip")[upper]
        deep = max(deep, float((THICK - x[x[:, 0] < LEG, 2]).max(initial=0.0)))
    return deep / THICK


def folding() -> list[Row]:
    """With self-contact no vertex gets past the middle of a leg, whence it would leave on the far side; without it they
    do, which shows that the case tells them apart."""
    case = "contact/self"
    through = deepest(touches=False)
    return [
        bounded(case, "depth of the legs in each other, of the thickness", deepest(touches=True), 0.5, source="apart"),
        bounded(case, "thickness, of the depth without contact", 1 / max(through, 1e-9), 1.0, source="they cross"),
    ]


CASES = {"contact/self": folding}
