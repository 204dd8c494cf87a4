"""Natural parts found automatically: known parts of built shapes, trees on real meshes, the same every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from supple.decompose import automatic_labels, cut
from supple.decompose.cut_automatic import join_cycles
from supple.decompose.cut_graph import domain_graph
from supple.decompose.cut_patches import diffusion_distances
from supple.errors import InputError
from supple.geometry import VoxelGrid, box_hexes, box_tets, load_mesh
from supple.geometry.meshes.connectivity import shared_faces
from supple.geometry.surfaces.visibility import sightlines
from supple.material import Material

MESHES = Path(__file__).resolve().parents[3] / "shared" / "reference" / "meshes"
RUBBER = Material(young=1e5, poisson=0.3, density=1000.0)


def solid(parts, lower, upper, size):
    """A grid whose cells have the number of the first part that holds their centre, counted from 1."""
    cells = np.round((np.array(upper) - lower) / size).astype(int)
    axes = [low + size * (np.arange(count) + 0.5) for low, count in zip(lower, cells)]
    X = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    labels = np.zeros(X.shape[:3], dtype=int)
    for number, holds in reversed(list(enumerate(parts, start=1))):
        labels[holds(X)] = number
    return VoxelGrid(labels, size, lower)


def upright(radius, low, high):
    """A capsule around the z axis."""

    def holds(X):
        past = X[..., 2] - np.clip(X[..., 2], low, high)
        return X[..., 0] ** 2 + X[..., 1] ** 2 + past**2 <= radius**2

    return holds


def petal(angle):
    """An ellipsoid that leaves the stem at an angle [rad]."""
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])

    def holds(X):
        u, v, w = X[..., :2] @ along - 0.7, X[..., :2] @ across, X[..., 2] - 0.7
        return (u / 0.55) ** 2 + (v / 0.22) ** 2 + (w / 0.1) ** 2 <= 1

    return holds


def flower(petals, size):
    parts = [upright(0.2, -1.5, 0.9), *(petal(2 * np.pi * k / petals) for k in range(petals))]
    return solid(parts, (-1.3, -1.3, -1.75), (1.3, 1.3, 1.15), size)


def comb(teeth, size=0.1):
    """A spine with teeth on one side, two cells wide with gaps of two cells."""
    grid = np.zeros((4 * teeth + 2, 14, 3), dtype=int)
    grid[:, :4] = 1
    for k in range(teeth):
        grid[4 * k + 2 : 4 * k + 4, 4:] = k + 2
    return VoxelGrid(grid, size)


def truth(mesh):
    out = np.empty(len(mesh.elements), dtype=int)
    for name, region in mesh.regions.items():
        out[region.elements] = int(name.removeprefix("material_")) - 1
    return out


def recovered(known, found):
    """Share of elements with the right label under the best matching of labels."""
    table = np.zeros((known.max() + 1, found.max() + 1))
    np.add.at(table, (known, found), 1)
    rows, columns = linear_sum_assignment(-table)
    return table[rows, columns].sum() / len(known)


def is_tree(mesh, labels):
    return domain_graph(mesh, labels, [str(k) for k in range(labels.max() + 1)]).is_tree


@pytest.mark.parametrize(
    ("grid", "kind"),
    [
        (flower(5, 0.08), "hexes"),
        (flower(6, 0.07), "hexes"),  # neighbouring petals touch
        (flower(5, 0.1), "tets"),
        (comb(5), "hexes"),
    ],
    ids=["five petals", "six petals", "tets", "comb"],
)
def test_known_parts_are_recovered(grid, kind):
    mesh = grid.to_hexes() if kind == "hexes" else grid.to_tets()
    known = truth(mesh)
    found = automatic_labels(mesh, parts=int(known.max()) + 1)
    assert found.max() == known.max()
    assert is_tree(mesh, found)
    assert recovered(known, found) >= 0.95


def test_the_same_mesh_gives_the_same_parts():
    mesh = comb(5).to_hexes()
    assert np.array_equal(automatic_labels(mesh, parts=6), automatic_labels(mesh, parts=6))


def test_recovery_tells_wrong_labels():
    known = truth(flower(5, 0.1).to_hexes())
    assert recovered(known, (known + 2) % 6) == 1.0
    assert recovered(known, np.arange(len(known)) % 6) < 0.5
    assert recovered(known, np.zeros_like(known)) < 0.95


def test_a_beam_is_cut_into_a_chain_of_like_parts():
    mesh = box_tets((8.0, 1.0, 1.0), (32, 4, 4))
    found = automatic_labels(mesh, parts=4)
    made = cut(mesh, found, material=RUBBER, modes=6, fixed="x_min")
    assert made.domain_tree.depths.tolist() == [1, 2, 3, 4]
    assert max(made.interface_sizes.values()) == 25  # straight across
    share = np.bincount(found) / len(found)
    assert share.min() > 0.15
    assert share.max() < 0.35


def test_a_plate_gives_a_chain_and_no_tiles():
    mesh = box_hexes((4.0, 2.0, 0.2), (20, 10, 1))
    found = automatic_labels(mesh, size=50)
    assert found.max() + 1 == 4
    assert is_tree(mesh, found)


def test_a_ring_comes_back_without_cycle():
    grid = np.zeros((26, 26, 3), dtype=int)
    i, j = np.meshgrid(np.arange(26) - 12.5, np.arange(26) - 12.5, indexing="ij")
    grid[(np.hypot(i, j) > 8) & (np.hypot(i, j) < 12)] = 1
    mesh = VoxelGrid(grid, 0.1).to_hexes()
    found = automatic_labels(mesh, parts=5)
    assert is_tree(mesh, found)
    assert 2 <= found.max() + 1 <= 5


def test_cycles_are_joined_and_contacts_given_away():
    mesh = box_hexes((4.0, 4.0, 1.0), (8, 8, 2))
    X = mesh.nodes[mesh.elements].mean(axis=1)
    tiles = (X[:, 0] > 2).astype(int) * 2 + (X[:, 1] > 0)
    assert not is_tree(mesh, tiles)
    joined = join_cycles(mesh, tiles, shared_faces(mesh))
    assert is_tree(mesh, joined)
    assert joined.max() >= 1


def test_lines_of_sight():
    bent = np.zeros((10, 10, 2), dtype=int)
    bent[:, :2] = 1
    bent[:2] = 1
    mesh = VoxelGrid(bent, 0.1).to_hexes()
    lines = sightlines(mesh)
    ends = np.array([[0.95, 0.1, 0.1], [0.1, 0.95, 0.1]])
    assert lines.share_seen(ends[:1], ends[1:]).tolist() == [0.0]  # around the corner
    corner = np.array([[0.1, 0.1, 0.1]])
    assert lines.share_seen(corner, ends).tolist() == [1.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "either the number"),
        ({"parts": 0}, "whole number"),
        ({"parts": 2, "size": 3}, "either"),
        ({"size": 1.5}, "whole"),
    ],
)
def test_bad_counts_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        automatic_labels(box_hexes((1, 1, 1), (2, 2, 2)), **options)


def test_meshes_in_two_pieces_are_refused():
    two = box_hexes((1, 1, 1), (3, 3, 3)).merged(box_hexes((1, 1, 1), (3, 3, 3)).moved(at=(5, 0, 0)))
    with pytest.raises(InputError, match="2 pieces"):
        automatic_labels(two, parts=3)


@pytest.mark.skipif(not MESHES.exists(), reason="meshes of other programs are not here")
def test_a_real_mesh_gives_a_tree():
    mesh = load_mesh(MESHES / "comb.tet.veg")
    found = automatic_labels(mesh, parts=6)
    assert is_tree(mesh, found)
    assert found.max() + 1 == 6


@pytest.mark.slow
@pytest.mark.skipif(not MESHES.exists(), reason="meshes of other programs are not here")
@pytest.mark.parametrize("parts", [6, 12])
def test_an_animal_gives_a_tree_of_limbs(parts):
    mesh = load_mesh(MESHES / "Armadillo13K.msh")
    found = automatic_labels(mesh, parts=parts)
    made = cut(mesh, found, material=RUBBER, modes=20)
    assert len(made.names) == parts
    assert max(made.interface_sizes.values()) < 0.02 * len(mesh.nodes)
    assert max(made.interface_patches.values()) == 1


def test_distances_of_diffusion_are_those_of_its_inverse() -> None:
    """With all modes d_ab is the norm of L⁻¹ V L⁻¹ (e_a - e_b) in the metric of the volumes V."""
    rng, count = np.random.default_rng(4), 7
    middle, volume = rng.normal(size=(count, 3)), rng.uniform(0.2, 1.5, count)
    area = np.triu(rng.uniform(size=(count, count)) * (rng.uniform(size=(count, count)) < 0.5), 1)
    area[np.arange(count - 1), np.arange(1, count)] = rng.uniform(0.2, 1.0, count - 1)  # nobody is alone
    area += area.T
    flow = area / np.where(area > 0, np.linalg.norm(middle[:, None] - middle, axis=-1), 1.0)
    L = np.diag(flow.sum(axis=1)) - flow

    def inverse(sources):
        """Of sources that sum to zero, without a mean."""
        found = np.linalg.lstsq(L, sources, rcond=None)[0]
        return found - volume @ found / volume.sum()

    ones = np.eye(count) - volume[:, None] / volume.sum()
    spread = inverse(volume[:, None] * inverse(ones))
    squares = (volume[:, None, None] * (spread[:, :, None] - spread[:, None]) ** 2).sum(axis=0)
    assert diffusion_distances(area, middle, volume) == pytest.approx(squares / squares.max(), abs=1e-12)
