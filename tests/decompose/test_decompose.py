"""Meshes cut into trees of domains: nothing lost, interfaces as brute force finds them, bad cuts refused by name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.tree import ModeBudget
from supple.decompose import cut, decompose
from supple.errors import InputError
from supple.geometry import HexMesh, Region, TetMesh, VoxelGrid, box_hexes, box_tets
from supple.material import Material
from supple.modal import ElasticSolid, Interface, Support

RUBBER = Material(young=1e5, poisson=0.3, density=1000.0, name="rubber")
STEEL = Material(young=2e11, poisson=0.3, density=7800.0, name="steel")


def centres(mesh):
    return mesh.nodes[mesh.elements].mean(axis=1)


def beam(make=box_tets, cells=(12, 2, 2)):
    return make((1.2, 0.1, 0.1), cells)


def thirds(mesh):
    return np.array(["root", "middle", "tip"])[(centres(mesh)[:, 0] / 0.4).astype(int)]


def cross(make="hexes"):
    """A plus of five cells, arms in four directions, one voxel wide, 3 x 3 x 3 cells each."""
    grid = np.zeros((9, 9, 3), dtype=int)
    for k, (i, j) in enumerate([(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)], start=1):
        grid[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = k
    return VoxelGrid(grid, 0.1).to_hexes() if make == "hexes" else VoxelGrid(grid, 0.1).to_tets()


def shared_by_brute_force(mesh, labels):
    """Vertices of each pair of labels, by sets."""
    owners = {}
    for row, label in zip(mesh.elements.tolist(), labels.tolist()):
        for node in row:
            owners.setdefault(node, set()).add(label)
    pairs = {}
    for node, domains in owners.items():
        for a in domains:
            for b in domains:
                if a < b:
                    pairs.setdefault((a, b), set()).add(node)
    return pairs


def world_nodes(domain_tree):
    """Positions of all nodes of each domain in the root's frame."""
    out = []
    for frame, domain in zip(domain_tree.rest_frames, domain_tree.domains):
        nodes = domain_tree.kinds[domain.kind].mesh.nodes
        out.append(frame[:3] + rotations.rotate(frame[3:], domain.scale * nodes))
    return out


@pytest.mark.parametrize("weights", ["area", "volume"])
def test_domains_stand_where_they_were_beyond_uneven_interfaces(weights):
    """Cells shrink towards one side: the mean of an interface's vertices by their shares is none of the vertices."""
    even = beam(box_tets)
    y = even.nodes[:, 1] - even.nodes[:, 1].min()
    nodes = even.nodes + np.outer(y * y / y.max(), [0.0, 0.7, 0.2])
    mesh = TetMesh(nodes, even.tets)
    made = cut(mesh, thirds(mesh), material=RUBBER, modes=4, fixed="x_min", weights=weights)
    for part, found in zip(made.parts, world_nodes(made.domain_tree)):
        assert np.allclose(found, mesh.nodes[part.nodes], atol=1e-14)


@pytest.mark.parametrize("make", [box_tets, box_hexes])
def test_nothing_is_lost_and_domains_stand_where_they_were(make):
    mesh = beam(make)
    made = cut(mesh, thirds(mesh), material=RUBBER, modes=4, fixed="x_min")
    assert made.names == ("root", "middle", "tip")
    assert [d.parent for d in made.domain_tree.domains] == [-1, 0, 1]
    assert sorted(np.concatenate([p.elements for p in made.parts]).tolist()) == list(range(len(mesh.elements)))
    for part, nodes, number in zip(made.parts, world_nodes(made.domain_tree), range(3)):
        assert np.allclose(nodes, mesh.nodes[part.nodes], atol=1e-14)
        assert (made.labels[part.elements] == number).all()
    masses = [ElasticSolid(k.mesh, k.material).total_mass for k in made.domain_tree.kinds.values()]
    assert np.isclose(sum(masses), 1000 * 1.2 * 0.01, rtol=1e-12)


@pytest.mark.parametrize("make", ["hexes", "tets"])
def test_interfaces_are_the_shared_vertices(make):
    mesh = cross(make)
    regions = [f"material_{k}" for k in range(1, 6)]
    made = cut(mesh, regions=regions, material=RUBBER, modes=3, root="material_1")
    labels = np.array([made.graph.names.index(made.names[k]) for k in made.labels])
    expected = shared_by_brute_force(mesh, labels)
    found = {i.pair: set(i.nodes.tolist()) for i in made.graph.interfaces}
    # arms that touch at the corners of the middle share an edge with it: no interface of their own
    assert set(found) == {(0, 1), (0, 2), (0, 3), (0, 4)}
    assert found == {pair: expected[pair] for pair in found}
    assert made.interface_sizes == dict.fromkeys(regions[1:], 16)
    for domain in made.domain_tree.domains[1:]:
        assert len(made.domain_tree.kinds[domain.kind].held) == 16


@pytest.mark.parametrize("make", [box_tets, box_hexes])
@pytest.mark.parametrize("weights", ["area", "volume"])
def test_weights_are_the_cross_section_or_the_volume_around_it(make, weights):
    mesh = beam(make)
    tree = decompose(mesh, thirds(mesh), material=RUBBER, modes=4, fixed="x_min", weights=weights)
    interface = tree.kinds["root"].interfaces["middle"]
    if weights == "area":
        assert np.isclose(interface.weights.sum(), 0.01, rtol=1e-12)
        assert np.allclose(tree.rest_frames[1, :3], [0.4, 0, 0], atol=1e-13)
    elif make is box_hexes:  # half of the last layer of cells, 0.1 long
        assert np.isclose(interface.weights.sum(), 0.01 * 0.05, rtol=1e-12)
    assert np.allclose(tree.kinds["root"].mesh.nodes[interface.nodes, 0], 0.4)
    assert np.allclose(tree.rest_frames[:, 3:], [1, 0, 0, 0])


def test_the_area_of_a_vertex_is_a_third_of_its_triangles():
    mesh = beam(box_hexes, (4, 1, 1))
    tree = decompose(mesh, np.arange(4) // 2, material=RUBBER, modes=3)
    # one quad of area 0.01 in two triangles: two corners have both, two have one
    assert sorted(tree.kinds["domain_0"].interfaces["domain_1"].weights.round(12)) == pytest.approx(
        [0.01 / 6, 0.01 / 6, 0.01 / 3, 0.01 / 3]
    )


def test_welds_join_what_was_one():
    mesh = cross("tets")
    made = cut(mesh, regions=[f"material_{k}" for k in range(1, 6)], material=RUBBER, modes=3)
    X, numbers = world_nodes(made.domain_tree), [p.nodes for p in made.parts]
    welds = made.domain_tree.welds
    for group in range(welds[:, 0].max() + 1):
        rows = welds[welds[:, 0] == group]
        assert len(rows) > 1
        assert len({int(numbers[d][n]) for _, d, n in rows}) == 1
        assert np.ptp([X[d][n] for _, d, n in rows], axis=0).max() < 1e-14
    together = sum(len(n) for n in numbers) - len(mesh.nodes)
    assert len(welds) - (welds[:, 0].max() + 1) == together  # every doubled vertex is welded, none twice


def quadrants(sizes=((2, 2), (2, 3))):
    """Four blocks around an edge; columns of two and two cells, rows of two and three."""
    mesh = box_hexes((sum(sizes[0]) * 0.1, sum(sizes[1]) * 0.1, 0.2), (sum(sizes[0]), sum(sizes[1]), 2))
    X = centres(mesh)
    split_y = mesh.bounds[0, 1] + 0.1 * sizes[1][0]
    names = np.array([["sw", "nw"], ["se", "ne"]])
    return mesh, names[(X[:, 0] > 0.1 * sizes[0][0]).astype(int), (X[:, 1] > split_y).astype(int)]


def test_cycles_are_refused_by_name():
    mesh, labels = quadrants()
    with pytest.raises(InputError, match=r"1 cycle\(s\): (\w\w - ){4}\w\w") as error:
        decompose(mesh, labels, material=RUBBER, modes=3)
    loop = error.value.what.split(": ")[1].split(" - ")
    assert loop[0] == loop[-1]
    assert set(loop) == {"sw", "se", "ne", "nw"}
    beside = {frozenset(p) for p in (("sw", "se"), ("se", "ne"), ("ne", "nw"), ("nw", "sw"))}
    assert {frozenset(p) for p in itertools.pairwise(loop)} == beside  # in order around the edge


def test_cycles_are_broken_at_the_smallest_interface():
    mesh, labels = quadrants(((3, 2), (2, 2)))
    made = cut(mesh, labels, material=RUBBER, modes=3, cycles="break")
    areas = {tuple(sorted(made.graph.names[d] for d in i.pair)): i.area for i in made.graph.interfaces}
    assert len(made.open) == 1
    assert areas[tuple(sorted(made.open_names[0]))] == min(areas.values())
    assert len(made.domain_tree.domains) == 4
    # the opened pair is welded nowhere but where the tree joins it
    opened = {made.names.index(n) for n in made.open_names[0]}
    welds = made.domain_tree.welds
    for group in range(welds[:, 0].max() + 1):
        together = set(welds[welds[:, 0] == group, 1].tolist())
        assert together != opened


def test_three_tets_around_an_edge_are_no_cycle():
    nodes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 1], [1, 1, 1]], dtype=float)
    mesh = TetMesh(nodes, [[0, 1, 2, 3], [0, 1, 3, 4], [1, 2, 3, 5]])
    made = cut(mesh, [0, 1, 2], material=RUBBER, modes=3)
    assert [i.pair for i in made.graph.interfaces] == [(0, 1), (0, 2)]
    assert len(made.domain_tree.domains) == 3


def edge_to_edge():
    """Two hexes that share an edge only."""
    return VoxelGrid(np.array([[[1], [0]], [[0], [2]]]), 1.0).to_hexes()


def test_thin_interfaces_are_refused_or_thickened():
    mesh = edge_to_edge()
    regions = ["material_1", "material_2"]
    with pytest.raises(InputError, match=r"interface 'material_1' - 'material_2': .*fewer than three"):
        decompose(mesh, regions=regions, material=RUBBER, modes=0)
    tall = VoxelGrid(np.array([[[1, 1], [0, 0]], [[0, 0], [2, 2]]]), 1.0).to_hexes()
    with pytest.raises(InputError, match="vertices in line"):
        decompose(tall, regions=regions, material=RUBBER, modes=0)
    long = VoxelGrid(np.array([[[1], [0]], [[1], [0]], [[0], [2]], [[0], [2]]]), 1.0).to_hexes()
    tree = decompose(long, regions=regions, material=RUBBER, modes=6, thin="thicken", root="material_1")
    interface, kind = tree.kinds["material_1"].interfaces["material_2"], tree.kinds["material_2"]
    assert len(interface.nodes) == 8
    assert len(kind.held) == 8
    Interface(tree.kinds["material_1"].mesh.nodes, interface.nodes, weights=interface.weights)  # has a rotation
    assert Support(ElasticSolid(kind.mesh, RUBBER), kind.held).rigid_modes.shape[1] == 0
    assert np.allclose(tree.rest_frames[1, :3], [1.5, 0.5, 0.5])  # the mean of the parent's last cell


def test_children_are_held_against_every_rigid_motion():
    mesh = cross("tets")
    tree = decompose(mesh, regions=[f"material_{k}" for k in range(1, 6)], material=RUBBER, modes=3)
    for domain in tree.domains[1:]:
        kind = tree.kinds[domain.kind]
        assert Support(ElasticSolid(kind.mesh, kind.material), kind.held).rigid_modes.shape[1] == 0


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        (np.zeros(5, int), {}, "one whole number or name an element"),
        (None, {}, "either labels or regions"),
        (None, {"regions": ["left", "right"]}, "region 'right', element .*: .* are also in region 'left'"),
        (None, {"regions": ["left"]}, "elements are in no region"),
        (None, {"regions": ["left"], "rest": "left"}, "already a region's"),
        (None, {"regions": ["lefd"]}, "no region is called 'lefd'"),
        ("ends", {}, "domain 'ends': the domain is in 2 pieces"),
        ("thirds", {"root": "trunk"}, "no such root"),
        ("thirds", {"root": "fixed"}, "no node is fixed"),
        ("thirds", {"fixed": "x_max", "root": "root"}, "domain 'tip', node .*outside the root 'root'"),
        ("thirds", {"fixed": [0]}, "domain 'root': the fixed nodes do not hold"),
        ("thirds", {"weights": "mass"}, "weights is not a known choice"),
        ("thirds", {"root": "root", "modes": -1}, "domain 'root': the number of modes"),
        ("thirds", {"modes": {"root": 3}}, "domain 'middle': the domain has no number of modes"),
        ("thirds", {"modes": {"root": 3, "middle": 3, "tip": 3, "leaf": 3}}, "no domain of that name .*leaf"),
        ("thirds", {"root": "root", "modes": 5000}, "domain 'root': the domain is too small for its modes"),
        ("thirds", {"modes": ModeBudget(2)}, "cannot be shared out"),
        ("thirds", {"material": {"root": RUBBER}}, "domain 'middle': the domain has no material"),
        ("thirds", {"material": {"left": RUBBER}}, "domain 'middle': .* elements have no material"),
    ],
)
def test_bad_cuts_are_refused_by_name(labels, options, words):
    mesh = beam(box_hexes)
    X = centres(mesh)[:, 0]
    mesh = mesh.with_regions(
        {"left": Region(elements=np.flatnonzero(X < 0.6)), "right": Region(elements=np.flatnonzero(X > 0.5))}
    )
    if isinstance(labels, str):
        labels = thirds(mesh) if labels == "thirds" else np.where(thirds(mesh) == "middle", "middle", "ends")
    with pytest.raises(InputError, match=words):
        cut(mesh, labels, **{"material": RUBBER, "modes": 3, **options})


def test_a_domain_between_two_interfaces_without_free_nodes_can_only_be_rigid():
    mesh = beam(box_hexes, (3, 1, 1))
    labels = np.array([0, 1, 1])
    with pytest.raises(InputError, match="domain 'domain_0': the domain is too small"):
        decompose(mesh, labels, material=RUBBER, modes=13, root="domain_1")
    assert decompose(mesh, labels, material=RUBBER, modes=12, root="domain_1").coordinate_count == 24


def test_materials_must_be_stiff_to_the_name():
    with pytest.raises(InputError, match="material 'jelly': Young's modulus is not positive"):
        decompose(beam(), thirds(beam()), material=Material(0.0, 0.3, 1000, name="jelly"), modes=3)


def test_meshes_in_two_pieces_are_refused_by_name():
    two = box_hexes((1, 1, 1), (2, 2, 2)).merged(box_hexes((1, 1, 1), (2, 2, 2)).moved(at=(5, 0, 0)))
    with pytest.raises(InputError, match="do not hang together: domain_1"):
        decompose(two, np.repeat([0, 1], 8), material=RUBBER, modes=3)


def test_pieces_are_split_on_request():
    mesh = beam(box_hexes)
    labels = np.where(thirds(mesh) == "middle", "middle", "ends")
    tree = decompose(mesh, labels, material=RUBBER, modes=3, pieces="split")
    assert sorted(d.name for d in tree.domains) == ["ends.1", "ends.2", "middle"]


def test_roots():
    mesh = beam(box_hexes, (12, 1, 1))
    labels = np.repeat([0, 1, 2, 3, 4], [6, 1, 2, 2, 1])  # the first is the largest, the third in the middle
    names = {
        r: decompose(mesh, labels, material=RUBBER, modes=3, root=r).domains[0].name for r in ("largest", "central")
    }
    assert names == {"largest": "domain_0", "central": "domain_2"}
    assert decompose(mesh, labels, material=RUBBER, modes=3).domains[0].name == "domain_0"
    held = decompose(mesh, labels, material=RUBBER, modes=3, fixed="x_max")
    assert held.domains[0].name == "domain_4"
    assert len(held.kinds["domain_4"].held) == 4
    assert decompose(mesh, labels, material=RUBBER, modes=3, root="central").depths.max() == 3


def test_materials_by_domain_and_by_region():
    mesh = beam(box_hexes)
    X = centres(mesh)[:, 0]
    by_domain = decompose(mesh, thirds(mesh), material={"root": STEEL, "middle": RUBBER, "tip": RUBBER}, modes=3)
    assert by_domain.kinds["root"].material is STEEL
    assert by_domain.kinds["tip"].material is RUBBER
    mesh = mesh.with_regions(
        {"a": Region(elements=np.flatnonzero(X < 0.6)), "b": Region(elements=np.flatnonzero(X > 0.6))}
    )
    tree = decompose(mesh, thirds(mesh), material={"a": STEEL, "b": RUBBER}, modes=3)
    assert tree.kinds["root"].material is STEEL
    assert set(tree.kinds["middle"].material) == {"a", "b"}
    mass = sum(ElasticSolid(k.mesh, k.material).total_mass for k in tree.kinds.values())
    assert np.isclose(mass, 0.006 * (7800 + 1000), rtol=1e-12)


def test_regions_follow_their_domain():
    mesh = beam(box_hexes)
    faces = mesh.boundary.faces[(mesh.nodes[mesh.boundary.faces][:, :, 0] > 1.2 - 1e-9).all(axis=1)]
    mesh = mesh.with_regions({"end": Region(faces=faces), "start": mesh.node_region("x_min")})
    tree = decompose(mesh, thirds(mesh), material=RUBBER, modes=3)
    assert set(tree.kinds["root"].mesh.regions) == {"start"}
    end = tree.kinds["tip"].mesh
    assert len(end.faces_region("end")) == 8
    assert np.allclose(end.nodes[end.node_region("end"), 0], end.bounds[1, 0])


def test_an_interface_in_several_patches_is_refused_or_joined():
    grid = np.zeros((9, 3, 7), dtype=int)
    grid[:, :, :3] = 1
    grid[:3, :, 3:] = grid[6:, :, 3:] = grid[:, :, 5:] = 2  # a handle on two feet
    mesh, parts = VoxelGrid(grid, 0.1).to_hexes(), ["material_1", "material_2"]
    with pytest.raises(InputError, match=r"interface 'material_1' - 'material_2': .* 2 patches .* hides a loop"):
        cut(mesh, regions=parts, material=RUBBER, modes=3)
    made = cut(mesh, regions=parts, material=RUBBER, modes=3, patches="join")
    assert list(made.interface_patches.values()) == [2]
    beam_cut = cut(beam(), thirds(beam()), material=RUBBER, modes=3, root="root")
    assert beam_cut.interface_patches == {"middle": 1, "tip": 1}


def test_the_whole_mesh_with_its_domains_as_regions():
    mesh = beam(box_hexes)
    made = cut(mesh, thirds(mesh), material=RUBBER, modes=3)
    regions = made.labelled_mesh.regions
    assert {name: len(r.elements) for name, r in regions.items()} == {"root": 16, "middle": 16, "tip": 16}
    assert (thirds(mesh)[regions["tip"].elements] == "tip").all()


def test_budgets_are_shared_exactly():
    rng = np.random.default_rng(3)
    for _ in range(200):
        count = int(rng.integers(1, 9))
        names, elements = [f"d{k}" for k in range(count)], rng.integers(1, 5000, count)
        capacity, minimum = rng.integers(4, 60, count), int(rng.integers(0, 4))
        rigid = [name for name in names if rng.random() < 0.2]
        soft = [k for k in range(count) if names[k] not in rigid]
        low, high = minimum * len(soft), int(capacity[soft].sum())
        total = int(rng.integers(low, high + 1))
        by = str(rng.choice(["elements", "logarithm"]))
        shares = ModeBudget(total, by, minimum=minimum, rigid=rigid).share(names, elements, capacity)
        assert sum(shares) == total
        assert all(minimum <= shares[k] <= capacity[k] for k in soft)
        assert all(shares[k] == 0 for k in range(count) if k not in soft)


def test_budgets_follow_the_elements_or_their_logarithm():
    ample = [10_000] * 2
    assert ModeBudget(1000).share(["a", "b"], [9000, 1000], ample) == [900, 100]
    assert ModeBudget(100, minimum=20).share(["a", "b"], [9000, 1000], ample) == [80, 20]
    assert ModeBudget(100).share(["a", "b"], [9000, 1000], [70, 99]) == [70, 30]
    a, b = ModeBudget(1000, "logarithm").share(["a", "b"], [9000, 1000], ample)
    assert abs(a / b - np.log1p(9000) / np.log1p(1000)) < 0.01
    assert ModeBudget(7).share(["a", "b", "c"], [10, 10, 10], [9, 9, 9]) == [3, 2, 2]


@pytest.mark.parametrize("make", [box_tets, box_hexes])
def test_a_cut_is_the_same_every_time(make):
    mesh = beam(make)
    one, two = (decompose(mesh, thirds(mesh), material=RUBBER, modes=ModeBudget(20, minimum=2)) for _ in range(2))
    for a, b in zip(one.kinds.values(), two.kinds.values()):
        assert a.mesh.content_hash == b.mesh.content_hash
        assert a.modes == b.modes
        assert np.array_equal(a.held, b.held)
    assert isinstance(one.kinds["tip"].mesh, TetMesh | HexMesh)
