"""Surfaces of trees: patches for drag, render skins without gaps, gaps measured two ways, steps that are too long."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.tree import TreeBody, TreeModel
from supple.bodies.tree.dynamics import OneWayWarning
from supple.bodies.tree.surface.skin import TreePoints
from supple.bodies.tree.surface.wind_patches import _flattened
from supple.decompose import decompose
from supple.errors import InputError, StepWarning
from supple.scene.mapped.surface_points import render_points

MATERIAL = sp.Material(1e6, 0.3, 1000)
MESH = sp.box_tets(size=(0.8, 0.1, 0.1), cells=(8, 1, 1))
LABELS = (MESH.nodes[MESH.elements].mean(axis=1)[:, 0] // 0.4).astype(int)


def fine_surface() -> sp.SurfaceMesh:
    return sp.box_tets(size=(0.8, 0.1, 0.1), cells=(24, 3, 3)).boundary.surface


@pytest.fixture(scope="module")
def body() -> TreeBody:
    domain_tree = decompose(MESH, LABELS, material=MATERIAL, modes=8)
    return TreeBody(domain_tree, stiffness_damping=0.01, surface=fine_surface())


def bent(body: TreeBody, amount: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng, c, n = np.random.default_rng(seed), body.coordinates, body.model.coordinate_count
    x, v = body.rest_coordinates, np.zeros((1, c.v_width))
    x[0, :3], x[0, 3:7] = rng.normal(size=3), rotations.exp(rng.normal(size=3))
    x[0, 7 : 7 + n], v[0, : 6 + n] = amount * rng.normal(size=n), rng.normal(size=6 + n)
    return x, v


def test_a_flat_patch_stands_where_its_triangles_are() -> None:
    """The triangle that stands for it has its area and centroid, and its corners are carried exactly by its points."""
    rng, n = np.random.default_rng(3), 4
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    flat = np.stack([i, 0.7 * j, 0 * i], axis=-1).reshape(-1, 3) + 0.2 * rng.uniform(size=(n * n, 3)) * (1, 1, 0)
    X = rotations.rotate(rotations.exp(np.array([0.4, -0.3, 0.9])), flat) + np.array([1.0, 2.0, 3.0])
    k = np.arange(n * n).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    corners, weights, points = _flattened(X, triangles)
    assert weights.sum(axis=1) == pytest.approx(np.ones(3))
    assert weights @ X[points] == pytest.approx(corners)
    normals = np.cross(X[triangles[:, 1]] - X[triangles[:, 0]], X[triangles[:, 2]] - X[triangles[:, 0]]) / 2
    areas = np.linalg.norm(normals, axis=1)
    assert corners.mean(axis=0) == pytest.approx(areas @ X[triangles].mean(axis=1) / areas.sum())
    stands = np.cross(corners[1] - corners[0], corners[2] - corners[0]) / 2
    assert stands == pytest.approx(normals.sum(axis=0))


def test_rigid_motion_of_a_render_skin_is_exact(body: TreeBody) -> None:
    x, _ = bent(body, 0.0)
    rest = np.asarray(fine_surface().nodes) - body.model.domain_tree.rest_frames[0, :3]
    root = body.seen.positions(body.rest_coordinates)
    assert root == pytest.approx(rest, abs=1e-12) or np.ptp(root - fine_surface().nodes, axis=0).max() < 1e-12
    moved = x[0, :3] + rotations.rotate(x[0, 3:7], root)
    assert np.abs(body.seen.positions(x) - moved).max() < 1e-12


@pytest.mark.parametrize("which", ["render", "wind_patches", "points"])
def test_mappings_and_their_transposes(body: TreeBody, which: str) -> None:
    mapping = {
        "render": body.seen.points,
        "wind_patches": body.wind_patches.points,
        "points": body.point_mapping(np.arange(20)),
    }[which]
    x, v = bent(body, 0.05)
    tangent, c, h = mapping.linearize(x), body.coordinates, 1e-5
    rate = tangent.product(v)
    ahead, behind = (mapping.apply(c.retract(x, s * h * v)) for s in (1, -1))
    assert np.abs((ahead - behind) / (2 * h) - rate).max() < 1e-6  # h² times a third derivative of some hundreds
    f, pulled = np.random.default_rng(1).normal(size=rate.shape), np.zeros((1, c.v_width))
    tangent.add_transpose(f, pulled)
    assert np.sum(f * rate) == pytest.approx(np.sum(pulled * v), rel=1e-12)
    curved = (ahead + behind - 2 * mapping.apply(x)) / h**2
    assert np.abs(tangent.bias(v) - curved).max() < 1e-3 * np.abs(curved).max()
    if which == "points":
        rival = TreePoints(body.skin, np.arange(20))
        assert np.abs(rival.apply(x) - mapping.apply(x)).max() < 1e-13
        assert np.abs(rival.linearize(x).product(v) - rate).max() < 1e-12


def test_a_render_skin_has_no_gap_where_domains_have_one(body: TreeBody) -> None:
    x, _ = bent(body, 0.1)
    gap = body.largest_gap(x)
    assert gap > 1e-3
    assert gap == pytest.approx(body.deviation.largest(x), rel=1e-9)  # two ways to one number
    eps, at = 1e-7, np.array([[0.4, 0.03, 0.1], [0.4, 0.05, 0.0]])
    sides = np.concatenate([at - [eps, 0, 0], at + np.array([eps, 0, 0])])
    sides = np.vstack([sides, fine_surface().nodes])  # so that the surface has its size
    triangles = np.concatenate([[[0, 1, 2], [1, 2, 3]], fine_surface().triangles + 4])
    two = TreeBody(body.model, surface=sp.SurfaceMesh(sides, triangles)).seen
    assert set(two.domain[:2]) != set(two.domain[2:4])
    seen = two.positions(x)
    assert np.abs(seen[:2] - seen[2:4]).max() < 100 * eps
    assert np.abs(seen[:2] - seen[2:4]).max() < 1e-2 * gap


def test_a_pull_on_a_render_skin_is_momentum(body: TreeBody) -> None:
    scene = sp.Scene()
    node = scene.add(body, name="beam")
    points = render_points(node)
    end = np.flatnonzero(points.rest[:, 0] > points.rest[:, 0].max() - 1e-9)
    scene.add(sp.Load(points.subset(end), (0.0, 0.5, 0.0)))
    run = sp.run(scene, until=0.2, dt=1 / 200)
    momentum = run.frames.columns["momentum"][-1] if run.frames else np.zeros(6)
    assert momentum[:3] == pytest.approx([0, 0.1, 0], rel=2e-3, abs=2e-4)  # of second order in dt
    assert run.frames is not None
    assert len(run.frames.points("beam", 0)) == len(fine_surface().nodes)
    assert run.gaps["beam"] > 0
    assert run.to_json()["largest_gap"] == run.gaps
    assert "apart where they meet" in run.report()


def test_the_gap_of_a_run_is_its_largest(body: TreeBody) -> None:
    scene, gaps = sp.Scene(), []
    node = scene.add(body, name="beam")
    points = node.points()
    scene.add(sp.Load(points.subset(np.flatnonzero(points.rest[:, 0] > 0.79)), lambda t: (0.0, 3.0 * (t < 0.05), 0.0)))
    system = scene.compile()

    def look(state: sp.State, report: object) -> bool:
        gaps.append(body.largest_gap(system.bodies[0].view_x(state.x)))
        return False

    run = sp.run(scene, until=0.3, dt=1 / 200, record_every=1 / 200, on_step=look)
    assert gaps[-1] < 0.5 * max(gaps)
    assert run.gaps["beam"] == pytest.approx(max(gaps), rel=1e-9)


def test_a_surface_elsewhere_is_refused(body: TreeBody) -> None:
    far = fine_surface()
    with pytest.raises(InputError, match="far from all domains"):
        _ = TreeBody(body.model, surface=sp.SurfaceMesh(far.nodes + np.array([0, 5, 0]), far.triangles)).seen
    bare = sp.Scene().add(TreeBody(body.model))
    with pytest.raises(InputError, match="no surface"):
        render_points(bare)


def test_patches_of_a_beam_have_its_area_vectors(body: TreeBody) -> None:
    corners = body.wind_patches.points.apply(body.rest_coordinates)[body.wind_patches.triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    assert np.abs(area.sum(axis=0)).max() < 1e-12  # closed, the cut left out
    assert np.maximum(area, 0).sum(axis=0) == pytest.approx([0.01, 0.08, 0.08], rel=1e-9)


def swung(step: float, gravity: float) -> tuple[list[StepWarning], sp.Run, float]:
    """Warnings, the run, and the largest energy, over that which the whole weight would give falling by the length."""
    beam = decompose(MESH, LABELS, material=MATERIAL, modes=8, fixed="x_min")
    model = TreeModel.of(beam, statics=False)  # bends and hardly stretches
    tree, scene = TreeBody(model, stiffness_damping=0.001), sp.Scene(gravity=(0, 0, -gravity))
    scene.add(tree, name="beam")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = sp.run(scene, until=0.6, solver=sp.TreeSolver(step), record_every=step)
    energy = (run.energies.kinetic + run.energies.potential) / (tree.total_mass * gravity * np.ptp(MESH.nodes[:, 0]))
    return [w.message for w in caught if isinstance(w.message, StepWarning)], run, float(energy.max() - energy[0])


@pytest.mark.parametrize(("step", "gravity"), [(1 / 10, 30.0), (1 / 20, 30.0), (1 / 20, 100.0), (1 / 40, 100.0)])
def test_too_long_a_step_is_halved_until_it_settles(step: float, gravity: float) -> None:
    """The state says how often; a damped beam under its weight gains no energy; short steps are left as they are."""
    told, run, gain = swung(step, gravity)
    assert not told
    assert run.state.memory["beam/halvings"][0] >= 0
    assert run.under_converged == 0
    assert gain < 0.05  # steps that settle to a tenth only, in violent motion
    assert "beam/halvings" not in swung(1 / 960, 1.0)[1].state.memory


def test_one_way_couplings_say_that_they_gain_energy() -> None:
    beam = decompose(MESH, LABELS, material=MATERIAL, modes=8, fixed="x_min")
    with pytest.warns(OneWayWarning, match="one way"):
        TreeBody(beam, coupling="lumped", stiffness_damping=0.0)
