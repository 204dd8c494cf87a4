"""Kinds of bodies are named in their own folders alone: elsewhere code asks for capabilities.

Files, examples, validation and bench may name kinds, and so may the solvers of single kinds. A kind is named by its
text in a comparison, by its class in `isinstance`, or by an import from its folder.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import supple as sp
from supple.bodies import capabilities as can
from supple.bodies.body_protocol import REQUIRED, Body
from supple.bodies.part_protocol import OwnStride
from supple.solvers.protocol import Solver

PACKAGE = Path(__file__).parents[2] / "src" / "supple"
KINDS = {"fem", "rigid", "voxel", "tree", "floating", "layered", "particles"}
CLASSES = {"FemBody", "RigidBody", "VoxelBody", "TreeBody", "FloatingBody", "LayeredBody", "Particles"}
ROOMS = ("scene", "contact", "record", "exports", "solvers", "interaction")
OWN_SOLVERS = (
    "solvers/methods/lattice_",
    "solvers/methods/tree_solver.py",
    "solvers/coupling/trees/",
    "solvers/coupling/lattice_",
    "solvers/coupling/coupled_points.py",
    "solvers/rigid/",
    "solvers/linkage/",
)


def files() -> list[Path]:
    found = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))] + [PACKAGE / "running.py"]
    return [path for path in found if not path.relative_to(PACKAGE).as_posix().startswith(OWN_SOLVERS)]


def texts(node: ast.expr) -> set[str]:
    """All texts in an expression."""
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def names(node: ast.expr) -> set[str]:
    """All names in an expression."""
    return {
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute)
    }


def named_kinds(source: str) -> list[str]:
    """Where a source names a kind: line and what."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(texts(side) & KINDS for side in sides):
                found.append(f"{node.lineno}: comparison with {sorted(set().union(*map(texts, sides)) & KINDS)}")
        if isinstance(node, ast.Dict) and {t for key in node.keys if key is not None for t in texts(key)} & KINDS:
            found.append(f"{node.lineno}: table by kind")
        if isinstance(node, ast.Call) and names(node.func) & {"isinstance", "issubclass"} and len(node.args) == 2:
            found += [f"{node.lineno}: isinstance of {name}" for name in sorted(names(node.args[1]) & CLASSES)]
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("supple.bodies."):
            module = node.module.removeprefix("supple.")
            if module.split(".")[1] in KINDS:
                found.append(f"{node.lineno}: import of {module}")
    return found


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_kind_is_named(path: Path) -> None:
    assert named_kinds(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        'if body.kind == "fem": pass',
        'x = body.kind in ("rigid", "floating")',
        'PART = {"voxel": 1}',
        "isinstance(body, VoxelBody)",
        "isinstance(body, sp.FemBody | sp.RigidBody)",
        "from supple.bodies.tree.body import TreeElastic",
        "def f():\n    from supple.bodies.layered import solve",
    ],
)
def test_the_check_sees_a_named_kind(source: str) -> None:
    assert named_kinds(source) != []


CAPABILITIES = {
    can.Framed: {"rigid", "floating", "layered"},
    can.Holding: {"floating", "layered"},
    can.Massed: {"fem", "particles", "voxel"},
    can.Faced: {"fem", "floating", "layered"},
    can.Shown: {"tree"},
    can.Dragging: {"rigid", "tree"},
    can.ExplicitContact: {"voxel"},
    can.Inverting: {"fem", "floating", "layered", "tree", "voxel"},
    can.SelfSolving: {"layered"},
    can.Remembering: {"voxel", "tree"},
    can.Breaking: {"tree"},
    can.Gapped: {"tree"},
}
BODIES = {cls.kind: cls for cls in (getattr(sp, name) for name in CLASSES)}


def test_the_required_names_are_those_of_the_contract() -> None:
    assert set(REQUIRED) == {name for name in vars(Body) if not name.startswith("_")}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_keeps_the_contract(kind: str) -> None:
    assert [name for name in REQUIRED if not hasattr(BODIES[kind], name)] == []


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: c.__name__)
def test_kinds_have_their_capabilities(capability: type) -> None:
    assert {kind for kind, cls in BODIES.items() if issubclass(cls, capability)} == CAPABILITIES[capability]


def test_voxels_and_trees_have_strides_of_their_own() -> None:
    for kind in ("voxel", "tree"):
        given = inspect.signature(BODIES[kind].advance).parameters
        expected = inspect.signature(OwnStride.advance).parameters
        assert list(given)[:3] == list(expected)[:3]
        assert set(expected) <= set(given)


SOLVERS = (
    sp.ImplicitEuler, sp.Midpoint, sp.Newmark, sp.GeneralizedAlpha, sp.SymplecticEuler, sp.RungeKutta4,
    sp.LatticeSolver, sp.TreeSolver, sp.Partitioned,
)  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_keeps_its_contract(solver: type) -> None:
    assert isinstance(solver(), Solver)
