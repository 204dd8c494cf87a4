"""Recorded numbers of shapes: generators, meshes, grids, surfaces and their files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.recorded.making import grid, hexes, random, rotation, surface, tets
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.geometry import (
    cylinder_hexes,
    embed,
    load_bou,
    load_mesh,
    load_veg,
    save_bou,
    save_mesh,
    save_veg,
    sphere_hexes,
    voxelize,
)
from supple.geometry.generators.stuffing import stuff
from supple.geometry.generators.swept import (
    HexSketch,
    bezier,
    placed_sections,
    round_profile,
    transported_frames,
)
from supple.geometry.meshes.connectivity import element_pieces, shared_faces, surface_pieces
from supple.geometry.meshes.element_shapes import hex_jacobians, trilinear_gradients
from supple.geometry.meshes.partition import part_of
from supple.geometry.meshes.repeats import find_repeats
from supple.geometry.meshes.similarity import fit_similarity, match_points
from supple.geometry.surfaces.clustering import cluster_vertices
from supple.geometry.surfaces.convex import ConvexShape
from supple.geometry.surfaces.self_crossing import crossing_pair
from supple.geometry.surfaces.signed_distance import SignedDistance
from supple.geometry.surfaces.strain import strain_at_points
from supple.geometry.surfaces.triangle_tree import compute_nearest, make_triangle_tree
from supple.geometry.surfaces.visibility import sightlines

recorded = Recorded(__name__)
MESHES: dict[str, Callable[[], Any]] = {
    "box of tets": lambda: sp.box_tets((0.7, 0.4, 0.3), (3, 2, 1)),
    "box of uniform tets": lambda: sp.box_tets((0.7, 0.4, 0.3), (3, 2, 2), pattern="uniform"),
    "box of hexes": lambda: sp.box_hexes((0.7, 0.4, 0.3), (3, 1, 2)),
    "cylinder of tets": lambda: sp.cylinder_tets(0.3, 0.8, (4, 3)),
    "cylinder of hexes": lambda: cylinder_hexes(0.3, 0.8, (4, 3)),
    "ball of tets": lambda: sp.sphere_tets(0.37, 4),
    "ball of hexes": lambda: sphere_hexes(0.37, 3),
    "crooked tets": tets,
    "crooked hexes": hexes,
    "stuffed": lambda: stuff(
        lambda x: np.linalg.norm((x - (0.1, 0.2, -0.1)) / (1.0, 0.6, 0.8), axis=1) - 1.0 + 0.2 * x[:, 0] * x[:, 1],
        (-1.2, -1.1, -1.3), (1.4, 1.2, 1.1), 0.37,
    ),
    "voxels as hexes": lambda: grid().to_hexes(),
    "voxels as tets": lambda: grid().to_tets(),
}  # fmt: skip


@recorded.over(MESHES)
def mesh(make: Callable[[], Any]) -> Values:
    m = make()
    turned = m.moved(at=(0.3, -0.2, 0.5), rotation=rotation([0.3, 0.5, -0.2])).scaled(1.7)
    double = m.merged(turned)
    shared = shared_faces(m)
    outer = m.boundary.surface
    return {
        "nodes": m.nodes,
        "elements": m.elements,
        "volumes": m.volumes,
        "boundary": [m.boundary.triangles, m.boundary.triangle_elements, m.boundary.node_indices],
        "regions": {name: [r.nodes, r.elements, r.faces] for name, r in m.regions.items()},
        "turned": turned.nodes,
        "two": [double.nodes, double.elements, double.bounds, double.diagonal],
        "pieces": element_pieces(np.arange(len(m.elements)) % 2, shared),
        "shared areas": [shared.areas, shared.node_areas(np.arange(0, len(shared.areas), 2))],
        "area": [outer.area_vectors, outer.area, outer.volume],
        "embedded": _embedded(m),
        "hash": m.content_hash,
    }


def _embedded(m: Any) -> Any:
    centre = m.nodes[m.elements].mean(axis=1)
    found = embed(np.concatenate([centre[:5] + 0.004, m.bounds + 0.03]), m)
    return [found.nodes, found.weights, found.outside_count, found.largest_distance, found.apply(m.nodes)]


@recorded.case
def swept() -> Values:
    curve = bezier([(0, 0, 0), (0.3, 0.5, 0.1), (0.8, 0.2, 0.6), (1.1, 0.9, 0.7)], np.linspace(0, 1, 7) ** 1.3)
    frames = transported_frames(curve, (0.2, 0.1, 1.0), (1.0, 0.8, 0.2))
    size = np.linspace(0.1, 0.04, 7)[:, None, None, None]
    sections = placed_sections(curve, frames, size * round_profile(3, 0.7) * (1.0, 0.6))
    sketch = HexSketch()
    sketch.sweep(sketch.add_nodes(sections[0]), sections[1:], 3)
    made, label = sketch.to_tets()
    return {"curve": curve, "frames": frames, "nodes": made.nodes, "tets": made.tets, "label": label}


@recorded.case
def shapes_of_elements() -> Values:
    points = 0.4 * random(3, 3, seed=1)
    m = hexes()
    return {"gradients": trilinear_gradients(points), "jacobians": hex_jacobians(m.nodes, m.hexes, points)}


@recorded.over({"winding": "winding", "parity": "parity"})
def voxelized(rule: Any) -> Values:
    ball = surface(4)
    filled = voxelize(ball.merged(ball.scaled(0.7).moved(at=(0.04, 0.0, 0.01))), 0.013, rule=rule, material=3)
    return {"materials": filled.materials, "origin": filled.origin, "size": filled.voxel_size}


@recorded.case
def grids() -> Values:
    g = grid()
    return {
        "voxels": g.voxels,
        "centres": g.voxel_centres,
        "volume": g.volume,
        "counts": g.material_counts,
        "surface": [g.surface().nodes, g.surface().triangles],
        "hash": g.content_hash,
    }


@recorded.case
def repeats() -> Values:
    part = surface(2)
    dented = part.nodes + 2e-3 * random(*part.nodes.shape, seed=2)
    copy = sp.SurfaceMesh(dented, part.triangles).scaled(1.4).moved(at=(9, 8, 7), rotation=rotation([0.4, -0.3, 0.9]))
    found = find_repeats(part.merged(copy).merged(surface(3).moved(at=(-3, 2, 0))), tolerance=0.1)
    order = np.random.default_rng(3).permutation(len(part.nodes))
    matched = match_points(part.nodes, copy.nodes[order], 0.1)
    assert matched is not None
    return {
        "kinds": [found.kinds, found.templates, found.counts],
        "placements": [[p.scale, p.rotation, p.shift] for p in found.placements],
        "errors": found.errors,
        "turns": found.quaternions,
        "pieces": surface_pieces(part.merged(copy)),
        "fit": fit_similarity(part.nodes, copy.nodes),
        "matched": list(matched),
    }


@recorded.case
def surfaces() -> Values:
    s = surface(5)
    points = 0.15 * random(40, 3, seed=4) + (0.01, -0.02, 0.04)
    tree = make_triangle_tree(s.nodes, s.triangles)
    triangle, nearest, distance = np.empty(40, dtype=np.int64), np.empty((40, 3)), np.empty(40)
    compute_nearest(points, tree, triangle, nearest, distance)
    moved = s.nodes * (1.03, 0.95, 1.1) + 0.02 * random(*s.nodes.shape, seed=5)
    few = cluster_vertices(s.nodes, s.triangles, 0.05)
    crossing = s.merged(s.moved(at=(0.05, 0.02, 0.01)))
    signed = SignedDistance(s)
    return {
        "volume": s.volume,
        "nearest": [triangle, nearest, distance],
        "signed": signed(points),
        "signed, nearest": list(signed.nearest(points)),
        "strain": strain_at_points(s.nodes, moved, s.triangles, np.zeros((0, 2), dtype=np.int64)),
        "strain of lines": strain_at_points(s.nodes, moved, np.zeros((0, 3), dtype=np.int64), s.triangles[:, :2]),
        "clustered": list(few),
        "crosses": crossing_pair(crossing.nodes, crossing.triangles),
    }


CONVEX = {
    "ball": lambda: ConvexShape.ball(0.37),
    "capsule": lambda: ConvexShape.capsule((0.1, -0.2, 0.3), (0.4, 0.1, 0.2), 0.07),
    "box": lambda: ConvexShape.box((0.3, 0.5, 0.2)),
    "hull": lambda: ConvexShape.hull(random(14, 3, seed=6) * (0.3, 0.5, 0.2) + (0.1, 0.2, 0.3)),
    "of a surface": lambda: ConvexShape.of(sp.box_hexes((0.3, 0.5, 0.2), (1, 1, 1)).boundary.surface),
}


@recorded.over(CONVEX)
def convex(make: Callable[[], ConvexShape]) -> Values:
    s = make()
    found: dict[str, Any] = {"vertices": s.vertices, "faces": s.faces, "radius": s.radius, "half": s.half}
    if s.faces:
        found |= {"planes": list(s.face_planes), "areas": s.face_areas, "edges": s.edges}
    return found | {"width": s.width, "volume": s.volume}


@recorded.case
def sight() -> Values:
    cells = np.ones((7, 3, 2), dtype=int)
    cells[2:5, 1:, :] = 0
    m = sp.VoxelGrid(cells, 0.1, (0.3, -0.2, 0.1)).to_hexes()
    lines = sightlines(m)
    points = m.nodes[m.hexes].mean(axis=1)
    return {
        "groups": list(lines.between_groups(points, np.arange(len(points)) % 3, 3)),
        "share": lines.share_seen(points[::2], points[1::3]),
    }


@recorded.case
def parts() -> Values:
    part = part_of(tets(), np.array([1, 4, 5, 9, 11]))
    return {
        "nodes": part.nodes,
        "elements": part.elements,
        "mesh": [part.mesh.nodes, part.mesh.elements],
        "local": part.local(part.nodes[::2]),
    }


def bare(m: Any) -> Any:
    """Without regions of nodes."""
    return type(m)(m.nodes, m.elements).with_regions({"left": m.regions["left"]})


FILES = {
    "tets.vtk": tets, "hexes.vtu": hexes, "tets.msh": tets,
    "tets.veg": lambda: bare(tets()), "hexes.veg": lambda: bare(hexes()),
    "surface.obj": surface, "surface.stl": surface, "surface.ply": surface,
}  # fmt: skip


@recorded.over({name: (name, make) for name, make in FILES.items()}, rtol=1e-6)
def files(given: tuple[str, Callable[[], Any]]) -> Values:
    """Written and read back."""
    name, make = given
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        save_mesh(path, make())
        back = load_mesh(path)
        return {"nodes": back.nodes, "elements": back.elements, "regions": [
            [key, r.nodes, r.elements, r.faces] for key, r in sorted(back.regions.items())
        ]}  # fmt: skip


@recorded.case
def vega_files() -> Values:
    text = "*VERTICES\n4 3 0 0\n1 0.1 0.2 0.3\n2 1.1 0.2 0.3\n3 0.1 1.3 0.3\n4 0.2 0.2 1.7\n"
    text += "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n"
    text += "*MATERIAL rubber\nENU, 1100, 3e5, 0.37\n*SET all\n1\n*REGION\nall, rubber\n"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "one.veg").write_text(text)
        found = load_veg(Path(folder) / "one.veg")
        save_veg(Path(folder) / "two.veg", found)
        save_bou(Path(folder) / "some.bou", [3, 1, 7])
        return {
            "nodes": found.mesh.nodes,
            "materials": {name: list(vars(m).values()) for name, m in found.materials.items()},
            "written": (Path(folder) / "two.veg").read_text(),
            "held": load_bou(Path(folder) / "some.bou"),
            "held, written": (Path(folder) / "some.bou").read_text(),
        }


test_recorded = recorded.test()
