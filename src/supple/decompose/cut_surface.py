"""`decompose_surface`: a triangle mesh of closed parts made a tree of domains, copies found and reused.

Each connected part is filled with voxels or tets; parts that are copies of each other share one kind. Every part hangs
on the part it comes nearest to, as the spanning tree of the smallest gaps says. A part hangs at the middle of what lies
near its parent, and holds its nodes there. Copies share a kind only if they hang by the same place of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial import cKDTree

from supple.algebra.dense import rotations
from supple.bodies.tree.domains.budget import Modes, resolve_modes
from supple.bodies.tree.domains.domain_tree import Domain, DomainInterface, DomainTemplate, DomainTree
from supple.bodies.tree.domains.instances import interface_at
from supple.decompose.cut_interfaces import spans_plane
from supple.errors import InputError, check_choice
from supple.geometry import HexMesh, SurfaceMesh, TetMesh, tetrahedralize, voxelize
from supple.geometry.meshes.connectivity import element_pieces, shared_faces
from supple.geometry.meshes.repeats import Repeats, find_repeats
from supple.geometry.meshes.similarity import Similarity
from supple.material import Material

Array = np.ndarray
SAME_PLACE = 0.05
"""Of a part's diagonal: copies that hang by places nearer than this hang by the same place."""


@dataclass(frozen=True, eq=False)
class _Hanging:
    """parent: part it hangs on. place: of the joint in the whole frame [m], (3,). radius: of what lies near it [m]."""

    parent: int
    place: Array
    radius: float


def decompose_surface(
    surface: SurfaceMesh,
    *,
    material: Material,
    modes: Modes,
    cells: int = 12,
    fill: Literal["voxels", "tets"] = "voxels",
    root: Literal["largest"] | int = "largest",
    gap: float | None = None,
    tolerance: float = 1e-3,
) -> DomainTree:
    """A tree of domains from a surface whose connected parts are closed.

    modes: as for `decompose`, by names of kinds `part_0`, `part_1` ... . cells: voxels or tet edges along a part's
    bounding diagonal. fill: "voxels" gives hexes, "tets" a mesh that follows the surface. root: the part of the largest
    volume, or its number in the order of first triangles. gap: parts farther apart than this [m] do not touch; None: a
    hundredth of the surface's diagonal. tolerance: of copies, as for `find_repeats`.
    """
    check_choice(fill, ("voxels", "tets"), "way to fill a part", where="decompose_surface")
    if isinstance(cells, bool) or not isinstance(cells, int | np.integer) or cells < 1:
        raise InputError("the number of cells is not a positive whole number", where="decompose_surface", value=cells)
    repeats = find_repeats(surface, tolerance=tolerance)
    for number, part in enumerate(repeats.parts):
        if not part.mesh.edges.is_closed:
            raise InputError(
                f"the part is open: {part.mesh.edges.open} of {part.mesh.edges.total} edges lack a second triangle",
                where=f"part {number}",
                fix="Close its holes, or weld doubled nodes with surface.welded().",
            )
    first = _root(repeats, root)
    hanging = _hang(repeats, first, surface.diagonal / 100 if gap is None else gap)
    kinds, kind_of, frames = _kinds(repeats, first, hanging, material, cells, fill)
    counts = _modes(modes, kinds)
    return _assemble(repeats, first, hanging, kinds, kind_of, frames, counts)


def _root(repeats: Repeats, root: str | int) -> int:
    if root == "largest":
        return int(np.argmax([abs(p.mesh.volume) for p in repeats.parts]))
    if isinstance(root, bool) or not isinstance(root, int | np.integer) or not 0 <= root < len(repeats.parts):
        allowed = f"largest, or 0 to {len(repeats.parts) - 1}"
        raise InputError("no such root", where="decompose_surface", value=root, allowed=allowed)
    return int(root)


def _hang(repeats: Repeats, root: int, gap: float) -> dict[int, _Hanging]:
    """Parts below the root, parents before children: Prim's tree of the smallest gaps."""
    points = [_samples(p.mesh) for p in repeats.parts]
    trees = [cKDTree(p) for p in points]
    nearest = {k: (np.inf, -1) for k in range(len(points)) if k != root}
    out: dict[int, _Hanging] = {}
    new = root
    while nearest:
        for k in nearest:
            apart = _box_gap(points[k], points[new])
            if apart <= gap and apart < nearest[k][0]:
                distance = float(trees[new].query(points[k])[0].min())
                nearest[k] = min(nearest[k], (distance, new))
        child, (distance, parent) = min(nearest.items(), key=lambda item: (item[1][0], item[0]))
        spacing = repeats.parts[child].mesh.diagonal / 20
        if not distance <= gap + spacing:
            raise InputError(
                f"the part touches no other: the nearest is {distance:.3g} m away",
                where=f"part {child}",
                allowed=f"{gap:.3g} m",
                fix="Pass a larger gap, or leave the part out.",
            )
        away = trees[parent].query(points[child])[0]
        near = points[child][away <= distance + spacing]
        place = near.mean(axis=0)
        out[child] = _Hanging(parent, place, float(np.linalg.norm(near - place, axis=1).max()))
        del nearest[child]
        new = child
    return out


def _samples(surface: SurfaceMesh) -> Array:
    """Nodes, centres of triangles and points on edges, dense enough that long triangles have no holes, (k, 3)."""
    a, b, c = (surface.nodes[surface.triangles[:, k]] for k in range(3))
    longest = max(float(np.linalg.norm(p - q, axis=1).max()) for p, q in ((a, b), (b, c), (c, a)))
    steps = int(np.clip(np.ceil(20.0 * longest / surface.diagonal), 1, 12))
    grid = [(i / steps, j / steps) for i in range(steps + 1) for j in range(steps + 1 - i)]
    return np.unique(np.concatenate([a + u * (b - a) + v * (c - a) for u, v in grid]), axis=0)


def _box_gap(a: Array, b: Array) -> float:
    """Distance between the bounding boxes of two sets of points [m]."""
    apart = np.maximum(np.maximum(a.min(axis=0) - b.max(axis=0), b.min(axis=0) - a.max(axis=0)), 0.0)
    return float(np.linalg.norm(apart))


def _kinds(
    repeats: Repeats, root: int, hanging: Mapping[int, _Hanging], material: Material, cells: int, fill: str
) -> tuple[dict[str, DomainTemplate], dict[int, str], dict[int, Similarity]]:
    """Kinds without interfaces and modes by name; kind of each part; placement of each part's kind in the whole
    frame."""
    kinds: dict[str, DomainTemplate] = {}
    kind_of: dict[int, str] = {}
    frames: dict[int, Similarity] = {}
    origins: dict[int, list[tuple[str, Array]]] = {}  # of the kinds made of each template, in the template's frame
    meshes: dict[int, TetMesh | HexMesh] = {}
    for part in [root, *hanging]:
        # the root stands in the whole frame, unturned and at its size: it is its own template
        template = part if part == root else int(repeats.templates[repeats.kinds[part]])
        placed, shape = repeats.placements[part], repeats.parts[template].mesh
        if part == root:
            placed = Similarity(1.0, np.eye(3), np.zeros(3))
        local = np.zeros(3) if part == root else placed.apply_inverse(hanging[part].place[None])[0]
        alike = [
            (name, origin)
            for name, origin in origins.get(template, [])
            if part != root and np.linalg.norm(origin - local) < SAME_PLACE * shape.diagonal
        ]
        if alike:
            name, origin = alike[0]
        else:
            if template not in meshes:
                meshes[template] = _filled(shape, cells, fill, part)
            name, origin = f"part_{len(kinds)}", local
            mesh = meshes[template].moved(at=-origin)
            radius = 0.0 if part == root else hanging[part].radius / placed.scale
            held = np.empty(0, np.int64) if part == root else _held(mesh, radius)
            kinds[name] = DomainTemplate(name, mesh, material, 0, held, {}, shape.moved(at=-origin))
            if part != root:
                origins.setdefault(template, []).append((name, origin))
        kind_of[part] = name
        frames[part] = Similarity(placed.scale, placed.rotation, placed.apply(origin[None])[0])
    return kinds, kind_of, frames


def _filled(shape: SurfaceMesh, cells: int, fill: str, part: int) -> TetMesh | HexMesh:
    """The inside of a part; refuses, by number, what is too thin for its cells."""
    size = shape.diagonal / cells
    if fill == "tets":
        return tetrahedralize(shape, edge_length=size)
    try:
        mesh = voxelize(shape, size).to_hexes()
    except InputError as error:
        raise InputError(f"voxels do not fill the part: {error.what}", where=f"part {part}", fix=error.fix) from error
    if element_pieces(np.zeros(len(mesh.elements), np.int64), shared_faces(mesh)).max() > 0:
        raise InputError("the voxels of the part do not hang together", where=f"part {part}", fix="Choose more cells.")
    return mesh


def _held(mesh: TetMesh | HexMesh, radius: float) -> Array:
    """Nodes within the radius of the origin, and at least those of the element nearest to it."""
    near = np.flatnonzero(np.linalg.norm(mesh.nodes, axis=1) <= radius)
    if spans_plane(mesh.nodes[near]):
        return near
    element = np.argmin(np.linalg.norm(mesh.nodes[mesh.elements].mean(axis=1), axis=1))
    return np.union1d(near, mesh.elements[element])


def _modes(modes: Modes, kinds: Mapping[str, DomainTemplate]) -> dict[str, int]:
    names = list(kinds)
    free = [len(k.mesh.nodes) - len(k.held) for k in kinds.values()]
    capacity = [max(3 * n - (0 if k.held.size else 6), 0) for n, k in zip(free, kinds.values())]
    return resolve_modes(modes, names, [len(k.mesh.elements) for k in kinds.values()], capacity)


def _assemble(
    repeats: Repeats,
    root: int,
    hanging: Mapping[int, _Hanging],
    kinds: Mapping[str, DomainTemplate],
    kind_of: Mapping[int, str],
    frames: Mapping[int, Similarity],
    counts: Mapping[str, int],
) -> DomainTree:
    number = {part: k for k, part in enumerate([root, *hanging])}
    interfaces: dict[str, dict[str, DomainInterface]] = {name: {} for name in kinds}
    domains = [Domain(kind_of[root], scale=frames[root].scale, name=f"part_{root}")]
    for part, hang in hanging.items():
        above, own = frames[hang.parent], frames[part]
        at = above.apply_inverse(own.shift[None])[0]
        turn = rotations.from_matrix(above.rotation.T @ own.rotation)
        carrier, interface = kind_of[hang.parent], f"to_{part}"
        mesh = kinds[carrier].mesh
        interfaces[carrier][interface] = interface_at(mesh, at, turn, reach=mesh.diagonal / 4)
        domains.append(Domain(kind_of[part], number[hang.parent], interface, own.scale, name=f"part_{part}"))
    ready = {
        name: DomainTemplate(name, k.mesh, k.material, counts[name], k.held, interfaces[name], k.skin)
        for name, k in kinds.items()
    }
    return DomainTree(ready, domains)
