"""Kinds and copies that make no tree are refused by name, with what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supple.bodies.tree import Domain, DomainInterface, DomainTemplate, DomainTree, Mount, TreeModel, attach
from supple.decompose import cut
from supple.errors import InputError
from supple.geometry import TetMesh, VoxelGrid, box_tets
from supple.material import Material

RUBBER = Material(young=1e6, poisson=0.3, density=1000.0, name="rubber")
MESH = box_tets((1.0, 0.1, 0.1), (6, 1, 1))
FOOT, TIP = (np.flatnonzero(np.abs(MESH.nodes[:, 0] - x) < 1e-9) for x in (0.0, 1.0))
EDGE = np.flatnonzero((np.abs(MESH.nodes[:, 1:] - MESH.nodes[0, 1:]) < 1e-9).all(axis=1))


def stick(**changes: Any) -> DomainTemplate:
    given = {"modes": 4, "held": FOOT, "interfaces": {"tip": DomainInterface(TIP, np.ones(len(TIP)))}, **changes}
    return DomainTemplate("stick", given.pop("mesh", MESH), given.pop("material", RUBBER), **given)


def interface(nodes: Any) -> dict[str, DomainInterface]:
    return {"tip": DomainInterface(nodes, np.ones(len(nodes)))}


def pair(kind: DomainTemplate, other: DomainTemplate | None = None) -> DomainTree:
    child = kind if other is None else other
    return DomainTree({kind.name: kind, child.name: child}, [Domain(kind.name), Domain(child.name, 0, "tip", name="b")])


BAD: list[tuple[str, Callable[[], object], str]] = [
    (
        "two nodes",
        lambda: stick(interfaces=interface(TIP[:2])),
        "kind 'stick': interface 'tip' has fewer than three .*Add the nodes",
    ),
    ("in line", lambda: stick(interfaces=interface(EDGE)), "kind 'stick': interface 'tip' has its nodes in line"),
    (
        "twice",
        lambda: stick(interfaces=interface([*TIP, TIP[0]])),
        "kind 'stick': a node of interface 'tip' is there twice",
    ),
    (
        "beyond",
        lambda: stick(interfaces=interface([0, 1, 999])),
        "kind 'stick': a node of interface 'tip' is out of range",
    ),
    ("held by two", lambda: stick(held=FOOT[:2]), "kind 'stick': what the domain is held by has fewer than three"),
    ("held in line", lambda: stick(held=EDGE), "kind 'stick': what the domain is held by has its nodes in line"),
    ("too small", lambda: stick(modes=500), "kind 'stick': the domain is too small for its modes .*at most 72"),
    ("half a mode", lambda: stick(modes=4.5), "kind 'stick': the number of modes is not a whole number"),
    ("no mesh", lambda: stick(mesh=3), "kind 'stick': a domain needs a TetMesh"),
    ("no domain", lambda: DomainTree({}, []), "a tree needs a domain"),
    ("no kind", lambda: DomainTree({"stick": stick()}, [Domain("stik")]), "domain 0 .*no kind of that name"),
    (
        "held nowhere",
        lambda: pair(stick(), DomainTemplate("loose", MESH, RUBBER, 4)),
        "domain 1 'b': kind 'loose' hangs on a parent but is held nowhere",
    ),
    ("soft as air", lambda: stick(material=Material(0.0, 0.3, 1000.0, name="air")), "material 'air': Young's modulus"),
]


@pytest.mark.parametrize(("make", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_kinds_that_make_no_tree_are_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_what_reduction_finds_names_the_kind() -> None:
    two = MESH.merged(MESH.moved(at=(5, 0, 0)))
    with pytest.raises(InputError, match=r"domain kind 'stick', linear_modes: .*not connected"):
        TreeModel.of(pair(stick(mesh=two)), keep=False)
    with pytest.raises(InputError, match=r"domain kind 'stick', .*snapshots do not hold so many"):
        TreeModel.of(pair(stick(modes=70)), keep=False)


def test_templates_must_fit_their_place() -> None:
    tree = DomainTree({"stick": stick()}, [Domain("stick", name="stem")])
    leaf = DomainTemplate("leaf", box_tets((0.2, 0.05, 0.02), (4, 1, 1)), RUBBER, 2)
    leaf = replace(leaf, held=leaf.mesh.node_region("x_min"))
    assert len(attach(tree, leaf, [Mount("stem", (0.5, 0, 0))]).domains) == 2
    with pytest.raises(InputError, match=r"mount 1 of 'leaf' on domain 'stem': the place is not on the mesh .*Move it"):
        attach(tree, leaf, [Mount("stem", (0.5, 0, 0)), Mount("stem", (0.5, 2, 0))])
    moved = replace(leaf, mesh=leaf.mesh.moved(at=(0.3, 0, 0)))
    with pytest.raises(InputError, match=r"kind 'leaf': the template does not fit its place.*0.301 m from its origin"):
        attach(tree, moved, [Mount("stem", (0.5, 0, 0))])


def test_a_ring_in_two_halves_hides_a_loop() -> None:
    grid = np.ones((9, 9, 3), dtype=int)
    grid[3:6, 3:6] = 0
    mesh = VoxelGrid(grid, 0.1).to_hexes()
    halves = np.where(mesh.nodes[mesh.elements].mean(axis=1)[:, 0] < 0.45, "left", "right")
    with pytest.raises(InputError, match=r"interface 'left' - 'right': .* 2 patches .*Cut one of them .*join the two"):
        cut(mesh, halves, material=RUBBER, modes=3)
    made = cut(mesh, halves, material=RUBBER, modes=3, patches="join")
    assert set(made.interface_patches.values()) == {2}


def test_one_tet_is_no_domain_of_many_modes() -> None:
    tet = TetMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]]))
    assert DomainTemplate("tet", tet, RUBBER, 3, [0, 1, 2]).modes == 3
    with pytest.raises(InputError, match="at most 3, its free unknowns"):
        DomainTemplate("tet", tet, RUBBER, 4, [0, 1, 2])
