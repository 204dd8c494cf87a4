"""Fields of constants, regions, what is refused in which words, divergence, bends and the step at large strain."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import index_box, touched_by_box, touched_by_cylinder, touched_by_sphere
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.errors import BendWarning, DivergenceError, InputError, SuppleError

Array = np.ndarray
SIZE = 0.01


def grid(shape: tuple[int, int, int] = (4, 3, 2), size: float = SIZE) -> sp.VoxelGrid:
    return sp.VoxelGrid(np.ones(shape, dtype=int), size)


def rubber(**more: Any) -> sp.VoxelMaterial:
    return sp.VoxelMaterial(**{"young": 1e6, "density": 1000.0, "bond_damping": 0.2, **more})


def at_rest(body: sp.VoxelBody) -> LocalState:
    return LocalState(0.0, body.model.rest_frames, np.zeros((body.model.voxel_count, 6)))


# fields


@pytest.mark.parametrize("by", ["voxel", "cell"])
def test_fields_are_a_palette_of_as_many_materials(by: str) -> None:
    rng = np.random.default_rng(0)
    numbers = np.zeros((4, 3, 3), dtype=int)
    numbers[rng.uniform(size=numbers.shape) < 0.8] = 1
    shape = sp.VoxelGrid(numbers, SIZE)
    n = shape.voxel_count
    young, density = rng.uniform(5e5, 2e6, n), rng.uniform(500, 2000, n)
    given: list[Array] = [young, density]
    if by == "cell":
        given = [np.full(shape.shape, np.nan) for _ in range(2)]  # empty cells are not looked at
        for cells, values in zip(given, (young, density)):
            cells[tuple(shape.voxels.T)] = values
    field = sp.VoxelBody(shape, rubber(ground_damping=0.01), young=given[0], density=given[1])
    each = np.zeros(numbers.shape, dtype=int)
    each[tuple(shape.voxels.T)] = np.arange(1, n + 1)
    materials = [rubber(young=E, density=rho, ground_damping=0.01) for E, rho in zip(young, density)]
    palette = sp.VoxelBody(sp.VoxelGrid(each, SIZE), materials)
    assert field.stable_step() == pytest.approx(palette.stable_step(), rel=1e-9)
    dt, planes = field.stable_step(contact=True), [sp.Plane((0, 0, 1), 0.001)]
    ends = [
        b.advance(at_rest(b), dt, 200, gravity=(1, 2, -9.81), planes=planes, fluid=sp.Fluid(100.0))
        for b in (field, palette)
    ]
    np.testing.assert_array_equal(ends[0].x, ends[1].x)
    assert field.total_mass == pytest.approx(density.sum() * SIZE**3)


@pytest.mark.parametrize(
    "bad",
    [np.ones(5), np.ones((4, 3)), np.zeros(24), np.full(24, np.nan), -np.ones((4, 3, 2)), "soft", [[1.0], [1, 2]]],
)
@pytest.mark.parametrize("name", ["young", "density"])
def test_wrong_fields_are_refused(name: str, bad: Any) -> None:
    with pytest.raises(InputError, match=name):
        sp.VoxelBody(grid(), rubber(), **{name: bad})


# regions


def test_boxes_touch_what_they_overlap() -> None:
    """Against exact fractions: a cell is touched where the overlap of both has a length along each axis."""
    rng = np.random.default_rng(0)
    cells = sp.VoxelGrid((rng.uniform(size=(10, 7, 5)) < 0.7).astype(int), SIZE)
    for _ in range(60):
        low = [Fraction(int(k), 20) for k in rng.integers(0, 18, 3)]
        size = [Fraction(int(k), 20) for k in rng.integers(1, 10, 3)]
        found = touched_by_box(cells, [float(f) for f in low], [float(f) for f in size])
        expected = [
            i
            for i, cell in enumerate(cells.voxels.tolist())
            if all(
                min(Fraction(c + 1, n), a + s) > max(Fraction(c, n), a)
                for c, n, a, s in zip(cell, cells.shape, low, size)
            )
        ]
        assert found.tolist() == expected
    assert touched_by_box(grid((10, 1, 1)), (0.1, 0, 0), (0.2, 1, 1)).tolist() == [1, 2]  # 0.1 + 0.2 > 0.3
    assert touched_by_box(grid((10, 1, 1)), (0.55, 0.5, 0.5), (0, 0, 0)).tolist() == [5]  # a point
    assert touched_by_box(grid(), (2, 2, 2), (1, 1, 1)).tolist() == []


def test_spheres_and_cylinders_touch_what_they_overlap() -> None:
    """Against the nearest of many points of each cell."""
    cells = grid((8, 5, 4))
    steps = np.linspace(0, 1, 11)
    inside = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    rng = np.random.default_rng(0)
    shape = np.array(cells.shape)
    for _ in range(6):
        centre, radius = rng.uniform(-0.1, 1.1, 3), rng.uniform(0.05, 0.4)
        nearest = np.array(
            [np.linalg.norm(c + inside - centre * shape, axis=1).min() for c in cells.voxels.astype(float)]
        )
        margin = np.abs(nearest - 8 * radius) > 0.1  # the points are a tenth apart
        found = np.isin(np.arange(160), touched_by_sphere(cells, centre, radius))
        np.testing.assert_array_equal(found[margin], (nearest < 8 * radius)[margin])
        axis, length = int(rng.integers(3)), rng.uniform(0.2, 0.6)
        p = cells.voxels[:, None, :] + inside - centre * shape
        across = np.linalg.norm(np.delete(p, axis, axis=2), axis=2)
        beside = (p[..., axis] > 0) & (p[..., axis] < length * shape[axis])
        sure = (beside & (across < 8 * radius)).any(axis=1)
        never = ~(
            (p[..., axis] > -0.1) & (p[..., axis] < length * shape[axis] + 0.1) & (across < 8 * radius + 0.1)
        ).any(axis=1)
        found = np.isin(np.arange(160), touched_by_cylinder(cells, centre, length * np.eye(3)[axis], radius))
        assert found[sure].all()
        assert not found[never].any()
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="radius"):
            touched_by_sphere(cells, (0, 0, 0), bad)
    with pytest.raises(InputError, match="one axis"):
        touched_by_cylinder(cells, (0, 0, 0), (1, 1, 0), 0.1)
    with pytest.raises(InputError, match="negative"):
        touched_by_box(cells, (0, 0, 0), (-1, 1, 1))


def test_index_boxes() -> None:
    cells = grid((4, 3, 2))
    found = cells.voxels[index_box(cells, (1, 0, 1), (2, -1, 1))]
    assert {tuple(c) for c in found.tolist()} == {(i, j, 1) for i in (1, 2) for j in range(3)}
    for bad in ((4, 0, 0), (-5, 0, 0), (0.5, 0, 0), (0, 0)):
        with pytest.raises(InputError):
            index_box(cells, bad, (-1, -1, -1))


def test_a_force_on_a_region_is_divided_equally() -> None:
    scene = sp.Scene()
    node = scene.add(sp.VoxelBody(grid(), rubber()), name="block")
    region = index_box(node.body.grid, (-1, 0, 0), (-1, -1, -1))
    load = sp.Load(node.points(region), (6.0, 0.0, -3.0))
    np.testing.assert_allclose(load.values(0.0), np.tile([1.0, 0.0, -0.5], (6, 1)))
    with pytest.raises(InputError, match="empty"):
        node.points(touched_by_box(node.body.grid, (5, 5, 5), (1, 1, 1)))
    with pytest.raises(InputError, match="out of range"):
        node.points([24])


# bad input

CASES: list[tuple[Any, str]] = [
    (
        lambda: sp.VoxelBody(sp.VoxelGrid(np.full((2, 2, 2), 3), SIZE), [rubber()]),
        r"lacks a material.*got 3.*allowed: 1",
    ),
    (lambda: sp.VoxelGrid(np.zeros((2, 2, 2), dtype=int), SIZE), "no voxel.*at least one cell"),
    (lambda: sp.VoxelGrid(np.ones((2, 2, 2)), SIZE), "whole numbers"),
    (lambda: rubber(curve=[(0.01, 1e4), (0.02, np.nan)]), "two finite numbers"),
    (lambda: rubber(curve=[(0.01, 1e4), (0.02, 5e3)]), "decreases"),
    (lambda: rubber(curve=[(0.01, 1e4), (0.01, 2e4)]), "do not ascend"),
    (lambda: rubber(curve=[(0.01, 2e4), (0.02, 3e4)]), "start with Young's modulus.*1e"),
    (lambda: rubber(curve=[(0.01, 1e4), (0.02, 4e4)]), "steeper"),
    (lambda: rubber(curve=[(0.01, 1e4)], yield_stress=1e4), "Leave one of them out"),
    (lambda: rubber(bond_damping=1.5), "bond_damping is out of range.*0 to 1"),
    (lambda: rubber(ground_damping=-0.1), "ground_damping is out of range.*0 to 1"),
    (lambda: rubber(contact_damping=float("nan")), "contact_damping is not a finite number"),
    (lambda: rubber(plastic_modulus=2e6, yield_stress=1e4), "plastic modulus.*0 to Young's modulus"),
    (lambda: rubber(plastic_modulus=1e5), "needs a yield stress"),
    (lambda: rubber(fail_strain=0.1, fail_stress=1e4), "Leave one out"),
    (lambda: rubber(fail_strain=0.0), "fail_strain is not positive.*> 0"),
    (lambda: sp.VoxelBody(grid(size=1e150), rubber()), "not finite numbers.*voxel size"),
    (lambda: sp.VoxelBody(grid(size=1e-120), rubber()), "or vanish.*voxel size"),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_bad_input_is_refused_with_a_sentence(case: int) -> None:
    make, sentence = CASES[case]
    with pytest.raises(InputError, match=sentence):
        make()


def test_an_unstable_step_is_refused_and_the_stable_one_named() -> None:
    body = sp.VoxelBody(grid(), rubber())
    largest = body.stable_step(safety=1.0)
    with pytest.raises(InputError, match="larger than stable") as caught:
        body.advance(at_rest(body), 1.01 * largest, 1)
    named = float(str(caught.value.allowed).split()[1])
    assert named == pytest.approx(largest)
    assert np.isfinite(body.advance(at_rest(body), named * (1 - 1e-6), 100).x).all()
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="not positive"):
            body.advance(at_rest(body), bad, 1)
    with pytest.raises(InputError, match="loads"):
        body.advance(at_rest(body), 1e-6, 1, loads=np.ones((3, 6)))
    with pytest.raises(InputError, match=r"held voxel.*got -1"):
        body.advance(at_rest(body), 1e-6, 1, held=[-1])


def test_divergence_names_the_voxel_and_keeps_the_last_good_state() -> None:
    body = sp.VoxelBody(grid(), rubber())
    loads = np.zeros((24, 6))
    loads[17, 1] = 1e300
    with pytest.raises(DivergenceError, match=r"left the finite at t = .*smaller step") as caught:
        body.advance(at_rest(body), 1e-5, 100000, loads=loads)
    good = caught.value.last_good
    assert np.isfinite(good.x).all()
    assert np.isfinite(good.v).all()
    assert f"cell {tuple(body.grid.voxels[int(str(caught.value.where).split()[1])].tolist())}" in str(caught.value)
    step = int(str(caught.value).split("step ")[1].split()[0].rstrip(","))
    assert good.t == pytest.approx((step - 1) * 1e-5)
    again = body.advance(at_rest(body), 1e-5, step - 1, loads=loads) if step > 1 else at_rest(body)
    np.testing.assert_array_equal(again.x, good.x)


def test_a_run_that_diverges_keeps_what_was_good() -> None:
    scene = sp.Scene(solver=sp.LatticeSolver(1e-3, bend_limit=None))
    node = scene.add(sp.VoxelBody(grid(), rubber()), fix="x_min", name="block")
    scene.add(sp.Load(node.points("x_max"), lambda t: (0.0, 0.0, -0.01 if t < 0.0299 else 1e306)))
    with pytest.raises(SuppleError) as caught:
        sp.run(scene, until=0.1, record_every=5e-3, progress=False)
    assert isinstance(caught.value, DivergenceError)
    run = caught.value.run
    assert run.outcome == "diverged"
    assert run.state.is_finite
    assert run.state.t == pytest.approx(0.03, abs=1e-3)


# bends and steps


def bent() -> tuple[Any, Any]:
    scene = sp.Scene()
    node = scene.add(sp.VoxelBody(grid((6, 1, 1)), rubber()), fix="x_min", name="beam")
    scene.add(sp.Load(node.points("x_max"), (0.0, 0.0, 1.0)))
    return scene, scene.compile()


def test_the_bend_is_warned_of_once_a_run() -> None:
    _, system = bent()
    stride = sp.LatticeSolver(2e-3)
    for _ in range(2):  # a second run with the same stride is warned of again
        stride.prepare(system)
        state = system.initial_state()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(30):
                stride.step(system, state)
        said = [w for w in caught if issubclass(w.category, BendWarning)]
        assert len(said) == 1
        assert "rad" in str(said[0].message)
    assert stride.bend_limit == 0.3  # the person's own setting stays
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state, silent = system.initial_state(), sp.LatticeSolver(2e-3, bend_limit=None)
        for _ in range(30):
            silent.step(system, state)


def test_the_stable_step_is_found_again_at_large_strain() -> None:
    """Stretched threefold a lattice is stiffer against turning; the step follows, and is kept in the state."""
    scene = sp.Scene()
    body = sp.VoxelBody(grid((4, 2, 2)), rubber())
    node = scene.add(body, fix="x_min", name="bar")
    scene.add(sp.PrescribedMotion(node, "x_max", displacement=lambda t: (min(t, 1.0) * 3 * 2.5 * SIZE, 0, 0)))
    system = scene.compile()
    stride, state = sp.LatticeSolver(0.02, bend_limit=None), system.initial_state()
    counts = [stride.step(system, state).iterations for _ in range(55)]
    assert counts[-1] > 1.3 * counts[0]
    fresh = body.stable_step(x=state.x.reshape(-1, 7), held=node.indices("x_min"), safety=0.7)
    assert 0.02 / counts[-1] < 1.1 * fresh
    assert state.memory["lattice step"][0] > 2.0
    other = sp.LatticeSolver(0.02, bend_limit=None)
    assert other.step(system, state.copy()).iterations == counts[-1]  # a stride that takes over goes on alike


def test_the_sweep_refuses_other_precisions() -> None:
    model = sp.VoxelBody(grid(), rubber()).model
    with pytest.raises(InputError, match="float64 or float32"):
        LatticeSweep.make(model, dtype=np.float16)
