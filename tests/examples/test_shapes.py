"""Objects made of domains: their counts, their trees, and that copies and cuts fit together."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.tree import DomainTree
from supple.errors import InputError
from supple.examples import shapes
from supple.examples.shapes.labelled import Labelled, settle, share_modes
from supple.examples.shapes.stroke_font import strokes
from supple.geometry import TetMesh, box_tets
from supple.material import Material
from supple.modal import Interface
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support
from supple.modal.vibration import linear_modes

# [BZ11, table 1]: domains, coordinates, depth, elements. The meshes are our own: elements within 2 %.
PUBLISHED = {
    "flower": (12, 240, 3, 7602),
    "letters": (15, 160, 8, 83753),
    "dragon": (40, 454, 5, 160553),
    "space_station": (48, 921, 4, 107556),
    "oak": (1435, 11972, 5, 626734),
}
WELDED = ("flower", "letters", "dragon")
FREE = ("letters", "space_station")


@cache
def made(name: str) -> DomainTree:
    return getattr(shapes, name)()


@cache
def whole(name: str) -> tuple[TetMesh, np.ndarray]:
    mesh, labels, names = getattr(shapes, f"{name}_mesh")()
    assert names == tuple(d.name for d in made(name).domains)
    return mesh, labels


@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_are_the_published_ones(name: str) -> None:
    domain_tree = made(name)
    domains, coordinates, depth, elements = PUBLISHED[name]
    assert (len(domain_tree.domains), domain_tree.coordinate_count, domain_tree.depths.max()) == (
        domains,
        coordinates,
        depth,
    )
    assert domain_tree.element_count == pytest.approx(elements, rel=0.02)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_domain_hangs_by_an_interface_that_has_a_rotation(name: str) -> None:
    for kind in made(name).kinds.values():
        for nodes in (kind.held, *(interface.nodes for interface in kind.interfaces.values())):
            if nodes.size == 0:
                continue
            assert len(np.unique(nodes)) == len(nodes) >= 6
            Interface(kind.mesh.nodes, nodes)  # refuses nodes in line
            spread = np.linalg.svd(kind.mesh.nodes[nodes] - kind.mesh.nodes[nodes].mean(axis=0), compute_uv=False)
            assert spread[1] > 0.05 * spread[0], f"{kind.name}: in line"


@pytest.mark.parametrize("name", PUBLISHED)
def test_roots_are_held_or_fly(name: str) -> None:
    domain_tree = made(name)
    held = len(domain_tree.kinds[domain_tree.domains[0].kind].held)
    assert (held == 0) == (name in FREE)
    assert all(len(domain_tree.kinds[d.kind].held) for d in domain_tree.domains[1:])


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_child_is_held_where_its_parent_has_the_port(name: str) -> None:
    """In the child's own frame the middle of its held nodes is near the origin, measured by its own size."""
    for kind in made(name).kinds.values():
        if kind.held.size:
            middle = kind.mesh.nodes[kind.held].mean(axis=0)
            is_root = kind.name == made(name).domains[0].kind and name in WELDED
            assert is_root or np.linalg.norm(middle) < 0.1 * kind.mesh.diagonal


@pytest.mark.parametrize("name", PUBLISHED)
def test_domains_are_in_one_piece(name: str) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    for kind in made(name).kinds.values():
        mesh = kind.mesh
        faces = np.sort(mesh.elements[:, mesh.element_faces].reshape(-1, mesh.element_faces.shape[1]), axis=1)
        order = np.lexsort(faces.T)
        same = np.flatnonzero((faces[order[1:]] == faces[order[:-1]]).all(axis=1))
        pairs = order[same] // len(mesh.element_faces), order[same + 1] // len(mesh.element_faces)
        graph = coo_array((np.ones(len(same)), pairs), shape=(len(mesh.elements),) * 2)
        assert connected_components(graph, directed=False)[0] == 1, kind.name


@pytest.mark.parametrize("name", WELDED)
def test_cut_meshes_put_together_are_the_whole(name: str) -> None:
    """Domains at their rest frames fill the whole's volume, welded nodes meet, held nodes are those of the parent."""
    domain_tree, (mesh, labels) = made(name), whole(name)
    assert set(np.unique(labels)) == set(range(len(domain_tree.domains)))
    placed = [
        rotations.rotate(frame[3:], domain_tree.kinds[d.kind].mesh.nodes * d.scale) + frame[:3]
        for d, frame in zip(domain_tree.domains, domain_tree.rest_frames)
    ]
    volume = sum(domain_tree.kinds[d.kind].mesh.volumes.sum() for d in domain_tree.domains)
    assert volume == pytest.approx(mesh.volumes.sum(), rel=1e-12)
    group, domain, node = domain_tree.welds.T
    x = np.array([placed[d][n] for d, n in zip(domain, node)])
    first = np.unique(group, return_index=True)[1]
    assert np.abs(x - x[first][group]).max() < 1e-12 * mesh.diagonal
    assert len(np.concatenate(placed)) - len(group) + len(first) == len(mesh.nodes)
    for number, d in enumerate(domain_tree.domains[1:], start=1):
        with_parent = np.intersect1d(group[domain == number], group[domain == d.parent])
        shared = node[(domain == number) & np.isin(group, with_parent)]
        assert np.array_equal(np.sort(shared), np.sort(domain_tree.kinds[d.kind].held))


@pytest.mark.parametrize("name", WELDED)
def test_only_parents_and_children_share_nodes(name: str) -> None:
    domain_tree = made(name)
    group, domain, _ = domain_tree.welds.T
    assert (np.bincount(group) == 2).all()
    pairs = domain.reshape(-1, 2)
    parent = np.array([d.parent for d in domain_tree.domains])
    assert ((parent[pairs[:, 0]] == pairs[:, 1]) | (parent[pairs[:, 1]] == pairs[:, 0])).all()


@pytest.mark.parametrize("name", WELDED)
def test_whole_meshes_are_closed(name: str) -> None:
    mesh, _ = whole(name)
    edges = mesh.boundary.surface.edges
    assert edges.torn == 0
    assert mesh.boundary.surface.volume == pytest.approx(mesh.volumes.sum(), rel=1e-9)


def test_the_oak_and_the_station_use_copies() -> None:
    oak, station = made("oak"), made("space_station")
    kinds = [d.kind for d in oak.domains]
    assert kinds.count("leaf") == 1394
    assert len(oak.kinds) == 6
    assert len({round(d.scale, 6) for d in oak.domains}) > 1000
    assert [d.kind for d in station.domains].count("panel") == 24
    assert len(station.kinds) == 13


def test_leaves_hang_in_the_crown() -> None:
    """No leaf below half the height of the trunk, and every one within the reach of the tree."""
    oak = made("oak")
    is_leaf = np.array([d.kind == "leaf" for d in oak.domains])
    height = oak.rest_frames[is_leaf, 2]
    trunk = oak.kinds["trunk"].mesh.bounds[1, 2]
    assert height.min() > 0.5 * trunk
    assert height.max() < 3 * trunk


def test_the_leaf_carries_its_skin() -> None:
    """The finer outline stays near the coarse one."""
    from supple.geometry import embed

    leaf = made("oak").kinds["leaf"]
    assert leaf.skin is not None
    assert embed(leaf.skin.nodes, leaf.mesh).largest_distance < 0.05 * leaf.mesh.diagonal


def test_the_station_does_not_run_into_itself() -> None:
    """Bounding boxes of any two domains touch at most: all stand along the axes."""
    station = made("space_station")
    boxes = []
    for d, frame in zip(station.domains, station.rest_frames):
        x = rotations.rotate(frame[3:], station.kinds[d.kind].mesh.nodes) + frame[:3]
        boxes.append((x.min(axis=0), x.max(axis=0)))
    for a, d in enumerate(station.domains):
        for b in range(a):
            overlap = np.minimum(boxes[a][1], boxes[b][1]) - np.maximum(boxes[a][0], boxes[b][0])
            assert overlap.min() < 1e-9, f"{d.name} and {station.domains[b].name}"


@pytest.mark.parametrize("name", ["flower", "oak"])
def test_kinds_can_be_reduced(name: str) -> None:
    """Every kind has as many elastic modes as it asks for, and the lowest are neither still nor a hum."""
    for kind in made(name).kinds.values():
        frequencies = linear_modes(Support(ElasticSolid(kind.mesh, kind.material), kind.held), kind.modes).frequencies
        assert 1.0 < frequencies[0] < (1000.0 if kind.name == "bloom" else 60.0), kind.name


def test_words_of_any_length() -> None:
    """The middle is a letter or a bar by turns; deeper words have more levels."""
    for text, depth, first in (("I", 1, "I 1"), ("to", 2, "bar 1"), ("abc", 3, "B 2")):
        word = shapes.letters(text, cell=0.014)
        assert (word.depths.max(), word.domains[0].name) == (depth, first)
        assert [word.kinds[d.kind].modes == 0 for d in word.domains].count(True) == len(text) - 1


def test_bad_words_are_refused() -> None:
    with pytest.raises(InputError, match="character"):
        strokes("?")
    with pytest.raises(InputError, match="no letter"):
        shapes.letters("")
    with pytest.raises(InputError, match="leaves"):
        shapes.oak(leaves=10**6)


def test_modes_are_shared_by_logarithms() -> None:
    modes = share_modes(454, [100] * 20 + [10_000] * 20)
    assert sum(modes) == 454
    assert np.mean(modes[20:]) == pytest.approx(2 * np.mean(modes[:20]), rel=0.05)  # ln 10^4 = 2 ln 10^2


def test_strangers_are_parted() -> None:
    """Three blocks in a ring of neighbours, labelled as a tree: the grandchild leaves the root alone."""
    mesh = box_tets((4, 4, 1), (8, 8, 2))
    x, y, _ = mesh.nodes[mesh.tets].mean(axis=1).T
    labels = np.where(x < 2, 0, np.where(y < 0, 1, 2))  # both 1 and 2 touch 0
    settled = settle(mesh, labels, ("root", "child", "grandchild"), (-1, 0, 1))
    root, grandchild = (set(np.unique(mesh.tets[settled.labels == d])) for d in (0, 2))
    assert not root & grandchild
    assert len(grandchild) > 50
    soft = Material(1e6, 0.3, 1000)
    cut = settled.cut([1, 1, 1], [soft] * 3)
    assert cut.depths.tolist() == [1, 2, 3]


def test_a_domain_apart_from_its_parent_is_refused() -> None:
    mesh = box_tets((3, 1, 1), (3, 1, 1))
    labels = np.repeat([0, 1, 2], 6)  # along x, six tets a cell
    apart = Labelled(mesh, labels, ("a", "b", "c"), (-1, 0, 0))
    with pytest.raises(InputError, match="touch"):
        apart.cut([1] * 3, [Material(1e6, 0.3, 1000)] * 3)
