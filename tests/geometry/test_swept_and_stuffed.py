"""Meshes from functions and from sweeps: volumes converge, surfaces are closed, neighbours conform."""

from __future__ import annotations

import numpy as np
import pytest

from supple.errors import InputError
from supple.geometry import TetMesh
from supple.geometry.generators.structured import block_cells, cell_hexes, lattice
from supple.geometry.generators.stuffing import stuff
from supple.geometry.generators.swept import HexSketch, bezier, placed_sections, round_profile, transported_frames
from supple.geometry.meshes.conforming_split import split_hexes, split_prisms, split_pyramids
from supple.material import Material
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support
from supple.modal.vibration import linear_modes


def ball(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x, axis=1) - 1.0


def ring(x: np.ndarray) -> np.ndarray:
    return np.hypot(np.hypot(x[:, 0], x[:, 1]) - 1.0, x[:, 2]) - 0.35


def test_stuffed_volume_converges_at_second_order() -> None:
    """Nodes lie on the surface and faces are chords: the volume lacks O(h²)."""
    lack = [4 / 3 * np.pi - stuff(ball, (-1,) * 3, (1,) * 3, h).volumes.sum() for h in (0.4, 0.2, 0.1)]
    assert np.log2(lack[0] / lack[2]) / 2 == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize(("solid", "holes"), [(ball, 0), (ring, 1)])
def test_stuffed_surfaces_are_closed_and_lie_on_the_solid(solid, holes: int) -> None:
    mesh = stuff(solid, (-1.4, -1.4, -1), (1.4, 1.4, 1), 0.17)
    surface = mesh.boundary.surface
    assert (surface.edges.open, surface.edges.torn) == (0, 0)
    assert len(surface.nodes) - surface.edges.total + len(surface.triangles) == 2 - 2 * holes  # Euler
    assert np.abs(solid(surface.nodes)).max() < 0.01


def test_cuts_of_a_solid_that_is_no_distance_are_of_third_order() -> None:
    """The function steepens along an edge: a straight line through its ends misses the surface by O(h²), the step of
    false position after it by O(h³). The ball lies aside of the grid's middle."""

    def steepening(x: np.ndarray) -> np.ndarray:
        return np.expm1(np.linalg.norm(x - (0.07, -0.03, 0.05), axis=1) - 1.0)

    cells = (0.4, 0.2, 0.1)
    missed = [
        np.abs(steepening(stuff(steepening, (-1.2,) * 3, (1.2,) * 3, h).boundary.surface.nodes)).max() for h in cells
    ]
    assert np.log2(missed[0] / missed[2]) / 2 == pytest.approx(3.0, abs=0.4)


def test_stuffed_tets_have_a_shape() -> None:
    """Normalised volume over cubed longest edge: 1 for a regular tet; flat ones are near 0."""
    mesh = stuff(ring, (-1.4, -1.4, -0.4), (1.4, 1.4, 0.4), 0.13)
    x = mesh.nodes[mesh.tets]
    longest = np.linalg.norm(x[:, :, None] - x[:, None], axis=3).max(axis=(1, 2))
    assert (6 * np.sqrt(2) * mesh.volumes / longest**3).min() > 0.04


def test_stuffing_refuses_nothing() -> None:
    with pytest.raises(InputError, match="negative nowhere"):
        stuff(lambda x: np.ones(len(x)), (0, 0, 0), (1, 1, 1), 0.2)
    with pytest.raises(InputError, match="empty"):
        stuff(ball, (0, 0, 0), (1, 1, 1), 0.0)


def test_split_hexes_conform_in_any_order_of_nodes() -> None:
    """A bent block with shuffled numbers keeps its volume and a closed surface: wrong diagonals would leave gaps."""
    block = (3, 4, 2)
    nodes, hexes = lattice(tuple(np.arange(c + 1.0) for c in block)), cell_hexes(block_cells(block), block)
    random = np.random.default_rng(5)
    number = random.permutation(len(nodes))
    mesh = TetMesh(nodes[np.argsort(number)] + random.uniform(-0.1, 0.1, nodes.shape), split_hexes(number[hexes]))
    assert len(mesh.tets) == 6 * len(hexes)
    surface = mesh.boundary.surface
    assert (surface.edges.open, surface.edges.torn) == (0, 0)
    assert surface.volume == pytest.approx(mesh.volumes.sum(), rel=1e-12)


def test_prisms_and_pyramids_keep_their_volume() -> None:
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], dtype=float)
    for seed in range(20):
        number = np.random.default_rng(seed).permutation(6)
        mesh = TetMesh(corner[np.argsort(number)], split_prisms(number[None]))
        assert mesh.volumes.sum() == pytest.approx(0.5)
        assert len(mesh.boundary.surface.triangles) == 8
    pyramid = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1.0]])
    assert TetMesh(pyramid, split_pyramids(np.arange(5)[None])).volumes.sum() == pytest.approx(1 / 3)


def test_a_swept_ring_has_pappus_volume() -> None:
    """A half torus of radius R and tube radius r: π R times the area of the profile [Pappus]."""
    angle = np.linspace(0, np.pi, 121)
    curve = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    frames = transported_frames(curve, (0, 0, 1), tangent=(0, 1, 0))
    sketch = HexSketch()
    profile = np.repeat(0.2 * round_profile(6, 1.0)[None], len(curve), axis=0)
    grid = sketch.add_nodes(placed_sections(curve, frames, profile))
    sketch.add_hexes(grid, 3)
    mesh, labels = sketch.to_tets()
    area = 12 * 0.2**2 * np.sin(2 * np.pi / 24)  # of the 24 corners, evenly spread or not, a little less than π r²
    assert mesh.volumes.sum() == pytest.approx(np.pi * area, rel=0.01)
    assert set(labels) == {3}


def test_a_swept_rod_swings_like_a_beam() -> None:
    """Frequencies against Euler and Bernoulli's 1.8751² sqrt(E I / ρ A) / (2π L²), I = A² / 4π of a round section.

    Linear tets are too stiff in bending, never too soft, and by O(h²): three cells across by a third, six by a tenth.
    """
    young, density, length = 1e8, 700.0, 0.6
    excess = []
    for cells, layers in ((3, 26), (6, 52)):
        line = np.column_stack([np.zeros((layers + 1, 2)), np.linspace(0, length, layers + 1)])
        profile = np.repeat(0.02 * round_profile(cells, 1.0)[None], layers + 1, axis=0)
        sketch = HexSketch()
        grid = sketch.add_nodes(placed_sections(line, transported_frames(line, (1, 0, 0)), profile))
        sketch.add_hexes(grid, 0)
        mesh, _ = sketch.to_tets()
        area = mesh.volumes.sum() / length
        beam = 1.8751**2 * np.sqrt(young * area / (4 * np.pi * density)) / (2 * np.pi * length**2)
        solid = ElasticSolid(mesh, Material(young, 0.3, density))
        excess.append(linear_modes(Support(solid, grid[0].ravel()), 2).frequencies / beam - 1)
    coarse, fine = np.array(excess)
    assert (fine > 0).all()
    np.testing.assert_allclose(np.log2(coarse / fine), 2.0, atol=0.5)


def test_sweeps_from_a_side_share_its_nodes() -> None:
    """A branch from the side of a post: no node is doubled and the surface is closed."""
    sketch = HexSketch()
    post = sketch.add_nodes(lattice((np.arange(4.0), np.arange(3.0), np.arange(3.0))).reshape(4, 3, 3, 3))
    sketch.add_hexes(post, 0)
    base = post[1:3, :, -1]
    out = sketch.nodes[base] + np.array([0, 0, 1.0])
    sketch.sweep(base, np.stack([out, out + np.array([0, 0.3, 1.0])]), 1)
    mesh, labels = sketch.to_tets()
    assert len(mesh.nodes) == 4 * 9 + 2 * 6
    assert mesh.volumes.sum() == pytest.approx(3 * 4 + 2 * 2)
    assert (mesh.boundary.surface.edges.open, np.bincount(labels).tolist()) == (0, [72, 24])


def test_folded_sweeps_are_refused() -> None:
    sketch = HexSketch()
    points = lattice((np.arange(2.0),) * 3).reshape(2, 2, 2, 3).copy()
    points[1, 0, 0] = -0.5, 0.0, 0.0
    sketch.add_hexes(sketch.add_nodes(points), 4)
    with pytest.raises(InputError, match="folded"):
        sketch.to_tets()


def test_bezier_ends_and_middle() -> None:
    curve = bezier([(0, 0, 0), (1, 2, 0), (2, 0, 0)], [0.0, 0.5, 1.0])
    np.testing.assert_allclose(curve, [[0, 0, 0], [1, 1, 0], [2, 0, 0]], atol=1e-15)


def test_a_profile_lies_between_a_disc_and_a_square() -> None:
    """The disc has the radius 1, the square the side sqrt(3); between them each point is where the two are mixed."""
    disc, square, mixed = (round_profile(4, part).reshape(-1, 2) for part in (1.0, 0.0, 0.8))
    assert np.linalg.norm(disc, axis=1).max() == pytest.approx(1.0, rel=1e-12)
    assert np.abs(square).max(axis=0) == pytest.approx(np.sqrt(3) / 2, rel=1e-12)
    np.testing.assert_allclose(mixed, 0.8 * disc + 0.2 * square, atol=1e-15)


def test_frames_begin_along_the_tangent_that_is_given() -> None:
    """A branch that leaves a side along its normal and bends then; all frames are square and right-handed."""
    curve = bezier([(0, 0, 0), (1, 0, 0.2), (2, 1, 1)], np.linspace(0, 1, 9))
    frames = transported_frames(curve, (0, 1, 0.3), tangent=(2.0, 0.0, 0.0))
    np.testing.assert_allclose(frames[0, 2], [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(frames[0, 0], np.array([0, 1, 0.3]) / np.sqrt(1.09), atol=1e-15)
    free = transported_frames(curve, (0, 1, 0.3))
    np.testing.assert_allclose(free[0, 2], (curve[1] - curve[0]) / np.linalg.norm(curve[1] - curve[0]), atol=1e-15)
    for found in (frames, free):
        np.testing.assert_allclose(found @ found.swapaxes(1, 2), np.broadcast_to(np.eye(3), (9, 3, 3)), atol=1e-12)
        np.testing.assert_allclose(np.linalg.det(found), 1.0, rtol=1e-12)
