"""Scene files with trees of reduced domains: written, read, run alike, and refused field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import Domain, DomainInterface, DomainTemplate, DomainTree, TreeBody, TreeModel, TreeSettings
from supple.decompose import decompose, load_domain_tree, save_domain_tree
from supple.errors import FileFormatError, InputError, SuppleError
from supple.files import load, save
from supple.validation.tree.coupling import beam_domain_tree

RUBBER = sp.Material(young=1e6, poisson=0.3, density=1000, name="rubber")
TREE = """
supple = 1
gravity = [0, 0, -9.81]
[materials.rubber]
young = 1e6
poisson = 0.3
density = 1000
[materials.steel]
young = 2e11
poisson = 0.3
density = 7800
[[bodies]]
name = "beam"
kind = "tree"
mesh = { box = { size = [1.2, 0.1, 0.1], cells = [12, 1, 1] } }
material = "rubber"
modes = 5
LABELS
fix = "x_min"
stiffness_damping = 0.002
[solver]
kind = "tree_solver"
dt = 0.01
"""
LABELS = "labels = [" + ", ".join(str(k // 24) for k in range(72)) + "]"


def mesh() -> sp.TetMesh:
    return sp.box_tets((1.2, 0.1, 0.1), (12, 1, 1))


def write(folder: Path, **changes: str) -> Path:
    text = TREE.replace("LABELS", LABELS)
    for old, new in changes.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{old} ="))
        text = text.replace(line, new)
    path = folder / "scene.toml"
    path.write_text(text)
    return path


def end(scene: sp.Scene) -> np.ndarray:
    run = sp.run(scene, until=0.2)
    return np.concatenate([run.state.x.ravel(), run.state.v.ravel()])


def test_a_cut_mesh_is_the_one_of_python(tmp_path: Path) -> None:
    found = load(write(tmp_path))
    body = found.nodes[0].body
    assert [d.name for d in body.model.domain_tree.domains] == ["domain_0", "domain_1", "domain_2"]
    assert body.model.mode_counts.tolist() == [5, 5, 5]
    made = sp.Scene(gravity=(0, 0, -9.81), solver=sp.TreeSolver(0.01))
    tree = decompose(mesh(), np.arange(72) // 24, material=RUBBER, modes=5, fixed="x_min")
    made.add(TreeBody(tree, stiffness_damping=0.002), name="beam")
    assert np.array_equal(end(found), end(made))


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_saved_and_loaded_it_moves_alike_to_the_bit(tmp_path: Path, suffix: str) -> None:
    scene = load(write(tmp_path))
    tree = scene.nodes[0]
    scene.add(sp.Load(tree.points("domain_2"), (0, 1.0, 0)), name="wind")
    scene.add(sp.Load(tree.points([3, 5]), (0, 0.5, 0)))
    path = tmp_path / f"again.{suffix}"
    save(scene, path)
    assert (tmp_path / "again-beam-tree" / "tree.json").exists()
    again = load(path)
    assert np.array_equal(end(again), end(scene))
    assert again.nodes[0].body.model.is_free is False


def test_options_come_back(tmp_path: Path) -> None:
    scene = sp.Scene(solver=sp.TreeSolver(1 / 60, steps=2))
    tree = decompose(mesh(), np.arange(72) // 24, material=RUBBER, modes=3)
    settings = TreeSettings(passes=3, renew_forces=True)
    body = TreeBody(tree, coupling="lumped", torque=False, stiffness_damping=(0.001, 0.002, 0.003), settings=settings)
    scene.add(body, at=(1, 2, 3), spin=(0, 0, 1), name="free")
    save(scene, tmp_path / "free.toml")
    again = load(tmp_path / "free.toml")
    found = again.nodes[0].body
    assert (found.coupling, found.torque, found.settings) == ("lumped", False, settings)
    assert np.array_equal(found.dynamics.stiffness_damping, [0.001, 0.002, 0.003])
    assert found.model.is_free
    assert again.solver.steps == 2
    assert again.nodes[0].placement.at.tolist() == [1, 2, 3]


def test_other_ways_to_cut(tmp_path: Path) -> None:
    regions = (
        "mesh = { box = { size = [1.2, 0.1, 0.1], cells = [12, 1, 1] }, "
        "regions = { stem = { elements = [" + ", ".join(map(str, range(24))) + "] } } }"
    )
    two = load(write(tmp_path, mesh=regions, labels='regions = ["stem"]\nrest = "leaf"')).nodes[0].body.model
    assert [d.name for d in two.domain_tree.domains] == ["stem", "leaf"]
    parts = load(write(tmp_path, labels="parts = 2")).nodes[0].body.model
    assert parts.domain_count == 2
    shared = load(write(tmp_path, modes='modes = { total = 9, by = "logarithm", minimum = 2, rigid = ["domain_1"] }'))
    assert shared.nodes[0].body.model.mode_counts.sum() == 9
    stuff = 'material = { domain_0 = "steel", domain_1 = "rubber", domain_2 = "rubber" }'
    kinds = load(write(tmp_path, material=stuff)).nodes[0].body.model.domain_tree.kinds
    assert kinds["domain_0"].material.name == "steel"


def test_a_saved_tree_beside_the_file(tmp_path: Path) -> None:
    save_domain_tree(
        tmp_path / "stick", decompose(mesh(), np.arange(72) // 24, material=RUBBER, modes=4, fixed="x_min")
    )
    text = 'supple = 1\n[[bodies]]\nkind = "tree"\ntree = "stick"\n'
    (tmp_path / "scene.toml").write_text(text)
    body = load(tmp_path / "scene.toml").nodes[0].body
    assert body.model.coordinate_count == 12
    for bad, words in (
        (text.replace('"stick"', '"stock"'), r"bodies\[0\].tree"),
        (text.replace('"stick"', '"../stick"'), "outside the scene file's folder"),
        (text + "modes = 3\n", "'modes' does not go with 'tree'"),
        (text + 'fix = "x_min"\n', "'fix' does not go with 'tree'"),
    ):
        (tmp_path / "scene.toml").write_text(bad)
        with pytest.raises(SuppleError, match=words):
            load(tmp_path / "scene.toml")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mesh": ""}, "one of tree, mesh"),
        ({"material": ""}, "material.*missing"),
        ({"material": 'material = "rubbr"'}, "no material is called 'rubbr'.*rubber"),
        ({"material": "material = 3"}, "material"),
        ({"modes": "modes = -1"}, "modes.*not a number of modes"),
        ({"modes": "modes = 2.5"}, "modes.*not a number of modes"),
        ({"modes": "modes = { total = 9, bye = 1 }"}, "unknown key.*by"),
        ({"modes": "modes = { domain_7 = 3 }"}, "no domain of that name"),
        ({"modes": "modes = 5000"}, "domain 'domain_0': the domain is too small for its modes"),
        ({"labels": ""}, "one of labels, regions, parts"),
        ({"labels": "labels = [0, 1]"}, "labels are not one"),
        ({"labels": 'labels = [0, "a"]'}, "labels"),
        ({"labels": "parts = 0"}, "number or the size of the parts"),
        ({"labels": "parts = 2\nrest = 'x'"}, "'rest' goes with 'regions'"),
        ({"labels": 'regions = ["a", "a"]'}, "regions.*each name once"),
        ({"labels": 'regions = ["nowhere"]'}, "no region is called 'nowhere'"),
        ({"fix": "fix = true"}, "fix.*region"),
        ({"fix": 'fix = "x_mid"'}, "no region is called 'x_mid'"),
        ({"fix": 'fix = ["x_min", "x_max"]'}, "outside the root"),
        ({"fix": 'root = "trunk"'}, "no such root"),
        ({"fix": 'coupling = "loose"'}, "coupling"),
        ({"fix": "torque = false"}, "no form without torque"),
        ({"fix": "mass_damping = -1"}, "mass_damping"),
        ({"fix": "stiffness = 1"}, "unknown key"),
        ({"fix": "settings = { passes = 0 }"}, "settings.*out of range"),
        ({"fix": "settings = { pases = 2 }"}, "passes"),
        ({"kind": 'kind = "shrub"'}, "unknown kind"),
        ({"dt": "dt = 0.01\nsteps = 0"}, "steps is out of range"),
        ({"dt": "dt = -1"}, "the step is not positive"),
    ],
)
def test_each_bad_field_is_named(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    if "kind" in changes:
        path = write(tmp_path)
        path.write_text(path.read_text().replace('kind = "tree"', changes["kind"]))
    else:
        path = write(tmp_path, **changes)
    with pytest.raises(FileFormatError, match=rf"scene\.toml.*({words})"):
        load(path)


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    tree: Any = decompose(mesh(), np.arange(72) // 24, material=RUBBER, modes=8)
    scene = sp.Scene()
    scene.add(TreeBody(TreeModel.of(tree, attachment_modes=False)), name="own")
    with pytest.raises(InputError, match="options of its own cannot be saved"):
        save(scene, tmp_path / "a.toml")
    plain = sp.Scene()
    plain.add(TreeBody(TreeModel.of(tree)), name="plain")
    save(plain, tmp_path / "b.toml")


def test_rotations_of_interfaces_come_back_to_the_last_bit(tmp_path: Path) -> None:
    """Of many quaternions some are not the same when they are brought to unit length twice."""
    mesh = sp.box_tets(size=(1, 0.1, 0.1), cells=(2, 1, 1))
    rows, face = np.random.default_rng(0).normal(size=(200, 4)), mesh.node_region("x_max")
    interfaces = {f"place {k}": DomainInterface(face, np.ones(len(face)), q) for k, q in enumerate(rows)}
    twice = [DomainInterface(face, np.ones(len(face)), given.rotation) for given in interfaces.values()]
    assert any(not np.array_equal(a.rotation, b.rotation) for a, b in zip(interfaces.values(), twice))
    kind = DomainTemplate("part", mesh, sp.Material(1e6, 0.3, 1000), 4, mesh.node_region("x_min"), interfaces)
    save_domain_tree(tmp_path / "tree", DomainTree({"part": kind}, [Domain("part")]))
    again = load_domain_tree(tmp_path / "tree").kinds["part"].interfaces
    for name, given in interfaces.items():
        assert again[name].rotation.tobytes() == given.rotation.tobytes()


def test_how_a_tree_was_reduced_comes_back(tmp_path: Path) -> None:
    tree = beam_domain_tree(2, 6)
    for number, body in enumerate(
        [
            sp.TreeBody(tree),
            sp.TreeBody(tree, statics=False),
            sp.TreeBody(tree, statics=True, stiffness_damping=0.0),
            sp.TreeBody(tree, stiffness_damping=(0.01, 0.0)),
            sp.TreeBody(sp.TreeModel.of(tree)),
            sp.TreeBody(sp.TreeModel.of(tree), stiffness_damping=0.0),
            sp.TreeBody(sp.TreeModel.of(tree, statics=False)),
        ]
    ):
        scene = sp.Scene()
        scene.add(body, name="tree")
        sp.save(scene, tmp_path / f"{number}.toml")
        again = sp.load(tmp_path / f"{number}.toml").node("tree").body
        assert np.array_equal(again.model.classes[0].U, body.model.classes[0].U), number


def test_static_responses_of_a_tree_that_is_reduced_are_refused() -> None:
    for statics in (False, True):
        with pytest.raises(InputError, match="reduced already"):
            sp.TreeBody(sp.TreeModel.of(beam_domain_tree(2, 6)), statics=statics)
