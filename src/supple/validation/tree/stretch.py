"""Chains of domains under loads along their axis, beside unreduced finite elements.

Where the domains have few coordinates, bending wins all of them unless the basis looks at what its loads miss
(`modal.compliance`). The loads: a force at the tip, the weight of the hanging chain, a spin about an axis across its
held end. What is compared is the way of the tip along the axis, and down under a force across for comparison.
"""

from __future__ import annotations

import numpy as np

from supple.bodies.tree import LinearizedTree, TreeBody, TreeKinematics
from supple.modal import ElasticSolid, Support
from supple.validation.row import Row, compare
from supple.validation.tree.coupling import BEAM, LENGTH, SIDE, beam_domain_tree
from supple.validation.tree.reference import block_mesh, face

Array = np.ndarray
CELLS = 36
LOADS = ("force along", "weight", "spin", "force across")


def tip_forces(X: Array, x: float) -> Array:
    """Unit forces along x and z, each shared by the nodes X (n, 3) at x: (2, n, 3) [N]."""
    out, tip = np.zeros((2, *X.shape)), np.abs(X[:, 0] - x) < 1e-9 * LENGTH
    out[0, tip, 0] = out[1, tip, 2] = 1 / np.count_nonzero(tip)
    return out


def field_loads(solid: ElasticSolid, start: float) -> Array:
    """Unit weight along x and a unit spin about z of a part whose nodes begin at x = start: (2, n, 3) [N]."""
    fields = np.zeros((2, solid.node_count, 3))
    fields[0, :, 0] = 1.0
    fields[1, :, :2] = solid.mesh.nodes[:, :2] + [start, 0.0]
    return np.stack([solid.node_mass @ field for field in fields])


def whole_ways() -> Array:
    """Ways of the unreduced beam's tip under `LOADS`, (4,) [m]."""
    mesh = block_mesh((LENGTH, SIDE, SIDE), (CELLS, 2, 2))
    solid = ElasticSolid(mesh, BEAM)
    along, across = tip_forces(mesh.nodes, LENGTH)
    loads = np.stack([along, *field_loads(solid, 0.0), across]).reshape(4, -1)
    ways = Support(solid, face(mesh, 0.0)).static_response(loads.T)
    return np.array([along.ravel() @ ways[:, 0], *(along.ravel() @ ways[:, 1:3]), across.ravel() @ ways[:, 3]])


def chain_ways(count: int, modes: int, *, statics: bool | None = None) -> Array:
    """The same of a chain of domains, by default reduced as a body in a scene is. statics: as of `TreeBody`."""
    tree = TreeBody(beam_domain_tree(count, modes, cells=CELLS), statics=statics).dynamics
    model, length = tree.model, LENGTH / count
    template = model.domain_tree.kinds["part"]
    solid, kind = ElasticSolid(template.mesh, template.material), model.classes[0]
    tip = tip_forces(kind.nodes, length)
    state = tree.state()
    motion = TreeKinematics(model).motion(state.q, state.v, state.frame, np.zeros(6))

    def pulled(parts: list[Array]) -> Array:
        """Generalised forces of loads (n, 3) on each domain."""
        forces = np.concatenate([kind.U.T @ part.ravel() for part in parts])
        wrenches = [[*np.cross(kind.nodes, part).sum(axis=0), *part.sum(axis=0)] for part in parts]
        return motion.pull(forces, np.array(wrenches))[0]

    none = [np.zeros(kind.nodes.shape)] * (count - 1)
    along, across = pulled([*none, tip[0]]), pulled([*none, tip[1]])
    fields = [field_loads(solid, k * length) for k in range(count)]
    weight, spin = (pulled([field[which] for field in fields]) for which in range(2))
    linear = LinearizedTree.of(tree)
    return np.array(
        [*(along @ linear.deflection(Q) for Q in (along, weight, spin)), across @ linear.deflection(across)]
    )


def stretch() -> list[Row]:
    """Four loads on chains of domains."""
    expected, source, rows = whole_ways(), "unreduced finite elements", []
    for count, modes in ((2, 20), (3, 12), (4, 12)):
        for name, found, value in zip(LOADS, chain_ways(count, modes), expected):
            quantity = f"{count} domains of {modes}: tip under {name}"
            rows.append(compare("tree/stretch", quantity, found, value, 0.02, unit="m", source=source))
    return rows


def axial() -> list[Row]:
    """The loads along the axis on chains of few modes."""
    expected, source, rows = whole_ways()[:3], "unreduced finite elements", []
    for count, modes in ((2, 12), (4, 12), (6, 12)):
        for load, found, value in zip(LOADS, chain_ways(count, modes), expected):
            quantity = f"{count} domains of {modes}: tip under {load}"
            rows.append(compare("tree/axial", quantity, found, value, 0.02, unit="m", source=source))
    return rows


CASES = {"tree/stretch": stretch, "tree/axial": axial}
