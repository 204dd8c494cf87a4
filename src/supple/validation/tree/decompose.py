"""Natural parts found automatically: flowers whose parts are known; a comb and an animal where their files are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from supple.decompose import automatic_labels
from supple.decompose.cut_graph import domain_graph
from supple.examples.shapes import flower_mesh
from supple.geometry import HexMesh, TetMesh, VoxelGrid, load_mesh
from supple.validation.figure import make_figure, save_figure
from supple.validation.reference_forces import reference_file
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
PETALS = 6


def flower(*, petals: int = PETALS, size: float = 0.07) -> VoxelGrid:
    """A stem, a capsule of material 1, with ellipsoids around it, materials 2, 3 ...; size: of a voxel [m]."""
    lower, upper = np.array([-1.3, -1.3, -1.75]), np.array([1.3, 1.3, 1.15])
    axes = [np.arange(low + size / 2, high, size) for low, high in zip(lower, upper)]
    x, y, z = np.meshgrid(*axes, indexing="ij")
    materials = np.zeros(x.shape, dtype=int)
    for k in range(petals):
        angle = 2 * np.pi * k / petals
        u, v = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        materials[((u - 0.7) / 0.55) ** 2 + (v / 0.22) ** 2 + ((z - 0.7) / 0.1) ** 2 <= 1] = k + 2
    materials[x**2 + y**2 + (z - np.clip(z, -1.5, 0.9)) ** 2 <= 0.2**2] = 1
    return VoxelGrid(materials, size, lower)


def wrong_share(known: Array, found: Array) -> float:
    """Share of elements with another label than the known one, under the best matching of labels [-]."""
    table = np.zeros((known.max() + 1, found.max() + 1))
    np.add.at(table, (known, found), 1)
    rows, columns = linear_sum_assignment(-table)
    return 1.0 - float(table[rows, columns].sum()) / len(known)


def cycle_count(mesh: TetMesh | HexMesh, labels: Array) -> int:
    """Interfaces that close a cycle of domains."""
    return len(domain_graph(mesh, labels, [str(k) for k in range(int(labels.max()) + 1)]).cycles)


def parts() -> list[Row]:
    """A flower of six petals, neighbours of which touch."""
    case, source, mesh = "tree/parts", "the parts it was built of", flower().to_hexes()
    known = np.empty(len(mesh.elements), dtype=np.int64)
    for name, region in mesh.regions.items():
        known[region.elements] = int(name.removeprefix("material_")) - 1
    found = automatic_labels(mesh, parts=PETALS + 1)
    return [
        bounded(case, "elements in another part", wrong_share(known, found), 0.05, source=source),
        bounded(case, "cycles", cycle_count(mesh, found), 0.0, source="a tree"),
        compare(case, "parts", found.max() + 1, PETALS + 1, 0.0, unit="-", source=source),
    ]


def example_parts() -> list[Row]:
    """The example flower, twelve domains of its own. Elements between the wide foot of a leaf or petal and its thinnest
    section go to what it stands on, which makes the interface smaller than the flower's own."""
    mesh, known, names = flower_mesh()
    case, found = "tree/parts-flower", automatic_labels(mesh, parts=len(names))
    joined = joined_share(known, found)
    return [
        bounded(case, "elements in another part", wrong_share(known, found), 0.05, source="the flower's own domains"),
        bounded(case, "elements in a part of mostly another", joined, 0.05, source="the flower's own domains"),
        *_tree_rows(case, mesh, found, len(names)),
    ]


def joined_share(known: Array, found: Array) -> float:
    """Share of elements whose part is mostly of another label, parts of one label being taken together [-]."""
    table = np.zeros((known.max() + 1, found.max() + 1))
    np.add.at(table, (known, found), 1)
    return 1.0 - float(table.max(axis=0).sum()) / len(known)


def comb_parts() -> list[Row]:
    """The comb's cage, a plate of coarse tets: a chain, no tiles."""
    return _found_parts("tree/parts-comb", COMB, 6)


def armadillo_parts() -> list[Row]:
    """An animal of some 55,000 tets: body and limbs."""
    return _found_parts("tree/parts-armadillo", ARMADILLO, 12)


def _found_parts(case: str, name: str, parts: int) -> list[Row]:
    mesh = load_mesh(reference_file(name))
    assert isinstance(mesh, TetMesh)
    return _tree_rows(case, mesh, automatic_labels(mesh, parts=parts), parts)


def _tree_rows(case: str, mesh: TetMesh, found: Array, parts: int) -> list[Row]:
    graph = domain_graph(mesh, found, [str(k) for k in range(int(found.max()) + 1)])
    patches = max(graph.patch_count(i) for i in graph.interfaces)
    return [
        bounded(case, "cycles", len(graph.cycles), 0.0, source="a tree"),
        compare(case, "patches of an interface, at most", patches, 1, 0.0, unit="-", source="a tree"),
        compare(case, "parts", found.max() + 1, parts, 0.0, unit="-", source="asked for"),
    ]


def draw_parts(path: Path) -> None:
    """The flower in the colours of its parts, as they were found, from the side and from above."""
    mesh = flower().to_hexes()
    labels = automatic_labels(mesh, parts=PETALS + 1)
    figure, axes = make_figure(8.0, 4.5, columns=2)
    for ax, sight, across in zip(axes[0], (1, 2), ((0, 2), (0, 1))):
        centres = mesh.nodes[mesh.elements].mean(axis=1)
        order = np.argsort(-centres[:, sight] if sight == 1 else centres[:, sight], kind="stable")
        ax.scatter(*centres[order][:, across].T, c=labels[order], cmap="tab10", vmin=0, vmax=9, s=9, marker="s")
        ax.set_aspect("equal")
        ax.set_xlabel("x [m]")
        ax.set_ylabel("z [m]" if sight == 1 else "y [m]")
    save_figure(figure, path)


COMB, ARMADILLO = "meshes/comb.tet.veg", "meshes/Armadillo13K.msh"
CASES = {
    "tree/parts": parts,
    "tree/parts-armadillo": armadillo_parts,
    "tree/parts-comb": comb_parts,
    "tree/parts-flower": example_parts,
}
NEEDS = {"tree/parts-armadillo": ARMADILLO, "tree/parts-comb": COMB}
PICTURES = {"tree/parts": draw_parts}
