"""The vertices of an interface as both sides use them: weighted ones on the parent, held ones on the child.

    w_k = a third of the interface triangles around vertex k                [m²]    weights="area"
    w_k = its share of the parent's elements, volume / corners              [m³]    weights="volume"

as [BZ11, sec. 3] leaves open. An interface without faces has no area, so volumes are its weights. Vertices in line fix
no rotation: such an interface is thickened by one ring, the other vertices of the elements around it, on both sides.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from supple.bodies.tree.domains.domain_tree_checks import spans_plane
from supple.decompose.cut_graph import CutInterface
from supple.errors import InputError
from supple.geometry import HexMesh, TetMesh
from supple.geometry.meshes.connectivity import SharedFaces

Array = np.ndarray
Weights = Literal["area", "volume"]
Thin = Literal["refuse", "thicken"]


class Joint(NamedTuple):
    """In numbers of the whole mesh. parent_nodes (k,) with weights (k,). held (h,): nodes of the child."""

    parent_nodes: Array
    weights: Array
    held: Array


def make_joint(
    mesh: TetMesh | HexMesh,
    labels: Array,
    shared: SharedFaces,
    interface: CutInterface,
    parent: int,
    *,
    weights: Weights,
    thin: Thin,
    where: str,
) -> Joint:
    """Vertices and weights of an interface whose parent is the domain `parent`. where: its name, for messages."""
    child = interface.pair[0] + interface.pair[1] - parent
    nodes = interface.nodes
    around = np.isin(mesh.elements, nodes).any(axis=1)
    volumes = _node_volumes(mesh, around & (labels == parent))
    if spans_plane(mesh.nodes[nodes]):
        shares = shared.node_areas(interface.faces) if weights == "area" and interface.faces.size else volumes
        weighed = nodes[shares[nodes] > 0]
        return Joint(weighed, shares[weighed], nodes)
    if thin == "refuse":
        reason = "has fewer than three vertices" if len(nodes) < 3 else "has its vertices in line"
        raise InputError(
            f"the interface {reason}, so it holds no rotation",
            where=where,
            value=f"{len(nodes)} vertices",
            fix='Pass thin="thicken" to add the vertices around it, or join the two domains.',
        )
    beside, held = (np.unique(mesh.elements[around & (labels == domain)]) for domain in (parent, child))
    return Joint(beside, volumes[beside], held)


def _node_volumes(mesh: TetMesh | HexMesh, inside: Array) -> Array:
    """Each node's share of the elements `inside` [m³], (n,)."""
    width = mesh.elements.shape[1]
    shares = np.repeat(mesh.volumes[inside] / width, width)
    return np.bincount(mesh.elements[inside].ravel(), shares, minlength=len(mesh.nodes))
