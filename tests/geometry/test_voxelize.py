"""Filling closed surfaces with voxels and tets."""

import numpy as np
import pytest

from supple.errors import InputError, MissingExtraError
from supple.geometry import SurfaceMesh, box_tets, sphere_tets, tetrahedralize, voxelize


def _turned_inward(surface):
    return SurfaceMesh(surface.nodes, surface.triangles[:, ::-1])


def test_box_is_filled_exactly():
    grid = voxelize(box_tets((1.0, 0.5, 0.25), (4, 2, 1)).boundary.surface, 0.125)
    assert grid.shape == (8, 4, 2)
    assert grid.materials.all()
    np.testing.assert_allclose(grid.origin, (0, -0.25, -0.125))


@pytest.mark.parametrize("rule", ["winding", "parity"])
def test_voxels_agree_with_the_solid_angle_of_every_centre(rule):
    surface = sphere_tets(1.0, 3).boundary.surface.moved(at=(0.1, 0.2, 0.3), rotation=(0.9, 0.1, 0.3, 0.2))
    grid = voxelize(surface, 0.19, rule=rule, material=7)
    # rival: the winding number as the sum of signed solid angles
    centres = grid.origin + grid.voxel_size * (np.argwhere(np.ones(grid.shape)) + 0.5)
    a, b, c = (surface.nodes[surface.triangles[:, k]][None] - centres[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    top = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    dot = lambda u, v: np.einsum("ijk,ijk->ij", u, v)  # noqa: E731
    winding = np.arctan2(top, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb).sum(axis=1) / (2 * np.pi)
    np.testing.assert_array_equal(grid.materials.ravel() == 7, np.abs(winding) > 0.5)


def test_rays_through_nodes_and_edges_leak_nowhere():
    # nodes of the surface lie exactly on voxel centres' columns
    surface = sphere_tets(1.0, 4).boundary.surface
    snapped = SurfaceMesh(np.round(surface.nodes * 8) / 8, surface.triangles)
    grid = voxelize(snapped, 0.25)
    columns = np.diff(grid.materials.astype(int), axis=2, prepend=0, append=0)
    assert (np.abs(columns).sum(axis=2) <= 2).all()  # a ball: each column is entered once and left once
    np.testing.assert_array_equal(grid.materials, voxelize(snapped, 0.25, rule="parity").materials)
    assert grid.volume == pytest.approx(snapped.volume, rel=0.1)


def test_overlap_and_cavity_follow_the_rule():
    ball = sphere_tets(1.0, 4).boundary.surface
    pair = ball.merged(ball.moved(at=(0.9, 0, 0)))
    united, holed = voxelize(pair, 0.1), voxelize(pair, 0.1, rule="parity")
    assert united.voxel_count > holed.voxel_count
    shell = ball.merged(_turned_inward(ball.scaled(0.5)))
    hollow = voxelize(shell, 0.1)
    assert hollow.volume == pytest.approx(shell.volume, rel=0.03)
    assert hollow.materials[tuple(n // 2 for n in hollow.shape)] == 0


def test_surfaces_that_cannot_be_filled_are_refused():
    box = box_tets((1, 1, 1), (2, 2, 2)).boundary.surface
    torn = SurfaceMesh(box.nodes, box.triangles[1:])
    with pytest.raises(InputError, match="3 of 72 edges lack a second triangle"):
        voxelize(torn, 0.1)
    with pytest.raises(InputError, match="3 of 72 edges"):
        tetrahedralize(torn)
    flipped = box.triangles.copy()
    flipped[0] = flipped[0, ::-1]
    with pytest.raises(InputError, match=r"along 3 edges.*parity"):
        voxelize(SurfaceMesh(box.nodes, flipped), 0.1)
    assert voxelize(SurfaceMesh(box.nodes, flipped), 0.1, rule="parity").volume == pytest.approx(1.0)
    with pytest.raises(InputError, match="too many cells"):
        voxelize(box, 1e-6)
    with pytest.raises(InputError, match="smaller voxels"):
        voxelize(box_tets((1, 1, 1), (1, 1, 1)).boundary.surface.merged(box.moved(at=(9, 9, 9))), 10.0)
    with pytest.raises(InputError, match="not positive"):
        voxelize(box, float("nan"))


def test_tets_fill_the_surface_and_are_kept(monkeypatch, tmp_path):
    pytest.importorskip("pytetwild")
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    box = box_tets((1, 1, 1), (1, 1, 1)).boundary.surface
    first = tetrahedralize(box, edge_length=0.9, envelope=1e-2)
    assert first.volumes.sum() == pytest.approx(1.0, rel=0.05)  # the envelope allows 1.7 cm on each side
    assert first.boundary.surface.edges.is_closed
    (kept,) = (tmp_path / "cache" / "tets").glob("*.npz")
    assert tetrahedralize(box, edge_length=0.9, envelope=1e-2).content_hash == first.content_hash
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]  # the mesher leaves nothing where we stand
    kept.write_bytes(kept.read_bytes()[:100])  # a damaged cache is made anew
    assert tetrahedralize(box, edge_length=0.9, envelope=1e-2).volumes.sum() == pytest.approx(1.0, rel=0.05)


def change_entry(path, offset, value):
    """A byte in the zip's directory, of its first entry."""
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + offset] = value
    path.write_bytes(content)


KEPT = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "no zip": lambda path: path.write_bytes(b"no zip"),
    "unknown compression": lambda path: change_entry(path, 10, 99),
    "under a password": lambda path: change_entry(path, 8, 1),
    "not finite": lambda path: np.savez(path, nodes=np.full((4, 3), np.nan), tets=[[0, 1, 2, 3]]),
    "flat": lambda path: np.savez(path, nodes=np.eye(4)[:, :3], tets=[0, 1, 2, 3]),
    "numbers": lambda path: np.savez(path, nodes=np.eye(4)[:, :3], tets=[[0, 1, 2, 9]]),
    "names": lambda path: np.savez(path, points=np.eye(3)),
}  # fmt: skip


@pytest.mark.parametrize("damage", KEPT)
def test_a_kept_mesh_that_is_damaged_is_made_anew(damage, monkeypatch, tmp_path):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    box, runs = box_tets((1, 1, 1), (1, 1, 1)), []

    def run(*given):
        runs.append(given)
        return box.nodes, box.tets

    monkeypatch.setattr("supple.geometry.generators.tetrahedralize._run", run)
    for _ in range(2):
        assert tetrahedralize(box.boundary.surface).content_hash == box.content_hash
    assert len(runs) == 1
    (kept,) = tmp_path.rglob("*.npz")
    before = kept.read_bytes()
    KEPT[damage](kept)
    assert kept.read_bytes() != before
    assert tetrahedralize(box.boundary.surface).content_hash == box.content_hash
    assert len(runs) == 2


def test_missing_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"supple\[mesh\]"):
        tetrahedralize(box_tets((1, 1, 1), (1, 1, 1)).boundary.surface)


def test_the_grid_is_centred_on_the_bounding_box() -> None:
    """Wherever the nodes of the surface crowd: a box whose cells shrink towards one corner."""
    box = box_tets((1.0, 1.0, 1.0), (6, 6, 6)).boundary.surface
    crowded = SurfaceMesh((box.nodes - box.bounds[0]) ** 2 + (0.3, -0.2, 0.1), box.triangles)
    grid = voxelize(crowded, 0.3)
    np.testing.assert_allclose(grid.origin + 0.5 * 0.3 * np.array(grid.shape), (0.8, 0.3, 0.6), atol=1e-12)
    assert grid.shape == (4, 4, 4)
    assert grid.voxel_count == 64
