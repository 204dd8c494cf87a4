"""Copies: found in surfaces, hung on interfaces, made of surfaces, written as files and read back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from supple.algebra.dense import rotations
from supple.bodies.tree import DomainTemplate, Mount, attach, interface_at
from supple.decompose import decompose, decompose_surface, load_domain_tree, save_domain_tree
from supple.errors import FileFormatError, InputError
from supple.geometry import Region, SurfaceMesh, box_hexes, box_tets, cylinder_tets, load_mesh, sphere_tets
from supple.geometry.meshes.repeats import find_repeats
from supple.geometry.meshes.similarity import fit_similarity, match_points
from supple.material import Material
from supple.modal import Interface

MESHES = Path(__file__).resolve().parents[3] / "shared" / "reference" / "meshes"
RUBBER = Material(young=1e5, poisson=0.3, density=1000.0, stiffness_damping=0.01, name="rubber")
WOOD = Material(young=1e9, poisson=0.2, density=600.0, name="wood")


def turns(count, seed=5):
    return rotations.normalise(np.random.default_rng(seed).normal(size=(count, 4)))


def lopsided(seed=1):
    """A closed surface without symmetry."""
    ball = sphere_tets(1.0, 2).boundary.surface
    return SurfaceMesh(
        ball.nodes * [1.0, 1.4, 2.0] + 0.1 * np.random.default_rng(seed).normal(size=ball.nodes.shape), ball.triangles
    )


def shuffled(surface, seed=2):
    order = np.random.default_rng(seed).permutation(len(surface.nodes))
    where = np.argsort(order)
    triangles = np.random.default_rng(seed).permutation(where[surface.triangles])
    return SurfaceMesh(surface.nodes[order], triangles)


def leaf_kind(name="leaf", modes=4):
    mesh = box_hexes((0.4, 0.1, 0.02), (8, 2, 1))
    return DomainTemplate(name, mesh, RUBBER, modes, mesh.node_region("x_min"))


def branch_tree():
    mesh = box_tets((2.0, 0.1, 0.1), (20, 2, 2))
    labels = np.where(mesh.nodes[mesh.elements].mean(axis=1)[:, 0] < 1, "low", "high")
    return decompose(mesh, labels, material=WOOD, modes=6, fixed="x_min")


@pytest.mark.parametrize("reorder", [False, True], ids=["in order", "shuffled"])
def test_copies_are_found_with_their_placements(reorder):
    template, other = lopsided(), lopsided(seed=9)
    scales, shifts = np.array([1.0, 0.3, 2.0, 1.5, 0.8]), np.arange(15.0).reshape(5, 3) * 9
    q = turns(5)
    q[0], shifts[0] = [1, 0, 0, 0], 0
    whole = template
    for k in range(1, 5):
        copy = template.scaled(scales[k]).moved(at=shifts[k], rotation=q[k])
        whole = whole.merged(shuffled(copy, k) if reorder else copy)
    whole = whole.merged(other.moved(at=(0, 0, -50)))
    found = find_repeats(whole)
    assert found.kinds.tolist() == [0, 0, 0, 0, 0, 1]
    assert found.counts.tolist() == [5, 1]
    assert np.allclose([p.scale for p in found.placements[:5]], scales, rtol=1e-12)
    assert np.allclose(np.abs(np.sum(found.quaternions[:5] * q, axis=1)), 1.0, atol=1e-12)
    assert np.allclose([p.shift for p in found.placements[:5]], shifts, atol=1e-9)
    assert found.errors.max() < 1e-9


@pytest.mark.parametrize("reorder", [False, True], ids=["in order", "shuffled"])
def test_the_error_of_a_copy_is_its_largest_distance(reorder):
    template = lopsided()
    dented = template.nodes.copy()
    dented[3] += 1e-3 * template.diagonal * np.array([0.3, -0.2, 0.1])
    copy = SurfaceMesh(dented, template.triangles).scaled(1.4).moved(at=(9, 8, 7), rotation=turns(2)[1])
    found = find_repeats(template.merged(shuffled(copy, 3) if reorder else copy), tolerance=1e-2)
    assert found.kinds.tolist() == [0, 0]
    moved, there = found.placements[1].apply(template.nodes), np.asarray(copy.nodes)
    apart = np.linalg.norm(moved[:, None] - there[None], axis=2).min(axis=1)
    assert apart.max() > 3 * apart.mean()
    assert found.errors[1] == pytest.approx(apart.max(), rel=1e-9)


def test_mirrored_and_bent_parts_are_no_copies():
    template = lopsided()
    mirrored = SurfaceMesh(template.nodes * [-1, 1, 1] + [20, 0, 0], template.triangles[:, ::-1])
    stretched = SurfaceMesh(template.nodes * [1, 1, 1.05] + [40, 0, 0], template.triangles)
    assert find_repeats(template.merged(mirrored).merged(stretched)).kinds.tolist() == [0, 1, 2]


@pytest.mark.parametrize("noise", [1e-4, 1e-2])
def test_the_tolerance_decides(noise):
    template = lopsided()
    rough = template.nodes + noise * np.random.default_rng(3).uniform(-1, 1, template.nodes.shape) + [9, 0, 0]
    found = find_repeats(template.merged(SurfaceMesh(rough, template.triangles)), tolerance=1e-3)
    assert found.kinds.tolist() == ([0, 0] if noise < 1e-3 else [0, 1])


@pytest.mark.parametrize("shape", [box_tets((1, 1, 1), (2, 2, 2)), cylinder_tets(0.3, 1.0, (2, 3)), sphere_tets(1, 2)])
def test_symmetric_points_are_matched_without_an_order(shape):
    x = shape.boundary.surface.nodes
    order = np.random.default_rng(4).permutation(len(x))
    y = (0.7 * rotations.rotate(turns(1)[0], x) + [3, 2, 1])[order]
    fit, partner = match_points(x, y, 1e-6)
    assert np.allclose(fit.apply(x), y[partner], atol=1e-12)
    assert np.isclose(fit.scale, 0.7, rtol=1e-12)
    assert match_points(x, y + 0.05 * np.random.default_rng(1).normal(size=y.shape), 1e-3) is None


def test_the_fit_is_the_least_squares_one():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9, 3))
    best = fit_similarity(x, y)

    def misfit(scale, R, shift):
        return ((scale * x @ R.T + shift - y) ** 2).sum()

    least = misfit(best.scale, best.rotation, best.shift)
    for _ in range(200):
        turn = rotations.to_matrix(rotations.exp(0.05 * rng.normal(size=3)))
        other = misfit(
            best.scale * np.exp(0.05 * rng.normal()), best.rotation @ turn, best.shift + 0.05 * rng.normal(size=3)
        )
        assert other > least


@pytest.mark.skipif(not MESHES.exists(), reason="meshes of other programs are not here")
def test_the_parts_of_a_real_tree_are_its_branches():
    found = find_repeats(load_mesh(MESHES / "oak_medium_branches.obj"), tolerance=1e-3)
    branches = json.loads((MESHES / "oak_medium_tree.json").read_text())["branches"]
    assert len(found.parts) == len(branches) == 183
    for part, branch in zip(found.parts, branches):
        assert part.elements.tolist() == list(range(*branch["faces"]))
    for k, placement in enumerate(found.placements):  # a copy is as much longer as the generator made it
        template = branches[found.templates[found.kinds[k]]]
        assert placement.scale == pytest.approx(branches[k]["length"] / template["length"], rel=2e-3)
    assert found.counts.max() > 1


def test_leaves_hang_where_they_were_put():
    tree, kind = branch_tree(), leaf_kind()
    places = np.array([[0.33, 0.01, 0.05], [0.77, 0.05, -0.02], [0.5, -0.03, 0.02]])
    q = turns(3)
    mounts = [Mount("low", p, r, scale=s, name=f"leaf{k}") for k, (p, r, s) in enumerate(zip(places, q, (1, 0.5, 2)))]
    grown = attach(tree, kind, mounts)
    assert [d.name for d in grown.domains] == ["low", "high", "leaf0", "leaf1", "leaf2"]
    assert np.allclose(grown.rest_frames[2:, :3], places, atol=1e-9)
    assert np.allclose(np.abs(np.sum(grown.rest_frames[2:, 3:] * q, axis=1)), 1, atol=1e-12)
    assert grown.coordinate_count == tree.coordinate_count + 3 * 4
    for interface in grown.kinds["low"].interfaces.values():
        assert (interface.weights > 0).all()
    twigs = attach(grown, leaf_kind("hair", 2), [Mount(f"leaf{k}", (0.4, 0, 0), scale=0.1) for k in range(3)])
    assert len(twigs.kinds["leaf"].interfaces) == 1  # one interface serves the three copies
    ends = places + rotations.rotate(q, np.array([0.4, 0, 0]) * np.array([1, 0.5, 2])[:, None])
    assert np.allclose(twigs.rest_frames[5:, :3], ends, atol=1e-7)


@pytest.mark.parametrize(
    ("mount", "words"),
    [
        (Mount("trunk", (0, 0, 0)), "no domain of that name"),
        (Mount(7, (0, 0, 0)), "no domain of that number"),
        (Mount("low", (0.5, 3.0, 0)), "not on the mesh .* m away"),
        (Mount("low", (0.5, np.nan, 0)), "three finite numbers"),
        (Mount("low", (0.5, 0, 0), scale=-1), "scale is out of range"),
    ],
)
def test_bad_mounts_are_refused(mount, words):
    with pytest.raises(InputError, match=words):
        attach(branch_tree(), leaf_kind(), [mount])


def test_kinds_that_hold_nothing_cannot_hang():
    mesh = box_hexes((1, 1, 1), (1, 1, 1))
    with pytest.raises(InputError, match="must be held"):
        attach(branch_tree(), DomainTemplate("loose", mesh, RUBBER, 0), [Mount("low", (0.5, 0, 0))])
    with pytest.raises(InputError, match="another kind has that name"):
        attach(branch_tree(), leaf_kind("low"), [Mount("low", (0.5, 0, 0))])


def test_ports_meet_their_place_inside_and_on_the_surface():
    mesh = cylinder_tets(0.5, 2.0, (3, 8))
    rng = np.random.default_rng(8)
    for _ in range(20):
        angle, radius, height = rng.uniform(0, 6.3), 0.48 * np.sqrt(rng.uniform()), rng.uniform(0.05, 1.95)
        at = np.array([radius * np.cos(angle), radius * np.sin(angle), height])
        interface = interface_at(mesh, at)
        assert np.linalg.norm(np.average(mesh.nodes[interface.nodes], axis=0, weights=interface.weights) - at) < 0.02
        assert (interface.weights > 0).all()
        face = Interface(mesh.nodes, interface.nodes, weights=interface.weights)
        spread = np.linalg.eigvalsh((face.weights[:, None] * face.offsets).T @ face.offsets)
        assert spread[1] > 0.05 * spread[2]  # broad enough to hold a rotation


def plant(leaves=5):
    """A stem of boxes with leaves turned and scaled, each reaching a little into it."""
    whole = box_tets((2, 0.2, 0.2), (20, 2, 2)).boundary.surface
    leaf = box_tets((0.6, 0.2, 0.05), (6, 2, 1)).boundary.surface
    for k in range(leaves):
        q = rotations.normalise([1.0, 0.05 * k, 0.0, 0.7])
        whole = whole.merged(leaf.scaled(1 + 0.2 * k).moved(at=(0.3 + 0.35 * k, 0.095, 0), rotation=q))
    return whole


def test_a_surface_of_parts_becomes_a_tree_of_copies():
    whole = plant()
    tree = decompose_surface(whole, material=WOOD, modes=6, cells=16)
    assert len(tree.domains) == 6
    assert len(tree.kinds) == 2  # the stem, one leaf
    assert [d.parent for d in tree.domains] == [-1, 0, 0, 0, 0, 0]
    assert sorted(round(d.scale, 9) for d in tree.domains[1:]) == [1.0, 1.2, 1.4, 1.6, 1.8]
    points = cKDTree(whole.nodes)
    for frame, domain in zip(tree.rest_frames, tree.domains):
        kind = tree.kinds[domain.kind]
        skin = frame[:3] + rotations.rotate(frame[3:], domain.scale * kind.skin.nodes)
        assert points.query(skin)[0].max() < 1e-9  # skins stand where the parts stood
        volume, cells = abs(kind.skin.volume), kind.mesh.volumes.sum()
        assert 0.5 < cells / volume < 2.0
    assert len(tree.kinds["part_1"].held) >= 3


def test_surfaces_that_make_no_tree_are_refused():
    far = plant(1).merged(box_tets((0.1, 0.1, 0.1), (1, 1, 1)).boundary.surface.moved(at=(9, 9, 9)))
    with pytest.raises(InputError, match="part 2: the part touches no other"):
        decompose_surface(far, material=WOOD, modes=3)
    one = plant(1)
    open_one = SurfaceMesh(one.nodes, one.triangles[:-1])
    with pytest.raises(InputError, match="part 1: the part is open"):
        decompose_surface(open_one, material=WOOD, modes=3)
    with pytest.raises(InputError, match="no such root"):
        decompose_surface(one, material=WOOD, modes=3, root=9)
    with pytest.raises(InputError, match="unknown way to fill"):
        decompose_surface(one, material=WOOD, modes=3, fill="foam")


def test_trees_are_written_for_vega_and_read_back(tmp_path):
    mesh = box_tets((2.0, 0.1, 0.1), (20, 2, 2))
    X = mesh.nodes[mesh.elements].mean(axis=1)[:, 0]
    mesh = mesh.with_regions(
        {"core": Region(elements=np.flatnonzero(X < 1.3)), "bark": Region(elements=np.flatnonzero(X >= 1.3))}
    )
    tree = decompose(mesh, (X > 1).astype(int), material={"core": WOOD, "bark": RUBBER}, modes=6, fixed="x_min")
    tree = attach(tree, leaf_kind(), [Mount("domain_1", (0.5, 0.01, 0.02), turns(1)[0], scale=0.7, frequency_factor=2)])
    files = save_domain_tree(tmp_path / "tree", tree)
    assert {p.name for p in files} == {f"{n}.{e}" for n in tree.kinds for e in ("veg", "bou")} | {"tree.json"}
    back = load_domain_tree(tmp_path / "tree")
    assert back.domains == tree.domains
    assert np.array_equal(back.welds, tree.welds)
    assert np.array_equal(back.rest_frames, tree.rest_frames)
    for name, kind in tree.kinds.items():
        other = back.kinds[name]
        assert np.array_equal(other.mesh.nodes, kind.mesh.nodes)
        assert np.array_equal(other.mesh.elements, kind.mesh.elements)
        assert np.array_equal(other.held, kind.held)
        assert other.material == kind.material
        assert other.modes == kind.modes


def test_skins_are_kept(tmp_path):
    tree = decompose_surface(plant(2), material=WOOD, modes=3)
    save_domain_tree(tmp_path, tree)
    back = load_domain_tree(tmp_path)
    for name, kind in tree.kinds.items():
        assert np.array_equal(back.kinds[name].skin.nodes, kind.skin.nodes)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"kinds": {}}', '{"kinds": {"../a": {}}, "domains": [], "welds": []}', "{}\x00"]
)
def test_broken_trees_are_refused(tmp_path, text):
    (tmp_path / "tree.json").write_text(text)
    with pytest.raises(FileFormatError):
        load_domain_tree(tmp_path)


def test_names_that_are_no_files_are_refused(tmp_path):
    mesh = box_hexes((1, 1, 1), (2, 1, 1))
    tree = decompose(mesh, np.array(["a/b", "c"]), material=RUBBER, modes=0)
    with pytest.raises(InputError, match="not usable as a file's"):
        save_domain_tree(tmp_path, tree)
