"""Yielding and failing links against scalar return mapping, closed forms and numpy; what follows a failure."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Collision, LinkMemory, VoxelBody
from supple.bodies.voxel.links.link_laws import LinkLaws, in_series
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.interaction.fluid import Fluid
from supple.material.voxel import VoxelMaterial

Array = np.ndarray
SIZE, YOUNG, DENSITY = 0.01, 1e6, 1000.0
MASS = DENSITY * SIZE**3
CURVE = ((0.0, 0.0), (0.01, 1e4), (0.03, 1.6e4), (0.05, 1.6e4), (0.1, 2.0e4))  # with a plateau


def metal(**law: object) -> VoxelMaterial:
    return VoxelMaterial(young=YOUNG, density=DENSITY, bond_damping=0.5, **law)  # type: ignore[arg-type]


def chain(palette: VoxelMaterial | list[VoxelMaterial], numbers: list[int]) -> VoxelBody:
    return VoxelBody(VoxelGrid(np.array(numbers).reshape(-1, 1, 1), SIZE), palette)


class ScalarPlasticity:
    """Isotropic hardening by return mapping: |stress| <= yield(a), the curve over plastic strain, by bisection."""

    def __init__(self, points: list[tuple[float, float]]) -> None:
        strain, self.stress_at = np.array(points).T
        self.young = self.stress_at[1] / strain[1]
        self.plastic_at = strain - self.stress_at / self.young
        self.p = self.a = 0.0

    def limit(self, a: float) -> float:
        k = min(int(np.searchsorted(self.plastic_at[1:], a, side="right")), len(self.plastic_at) - 2) or 1
        w = (a - self.plastic_at[k]) / (self.plastic_at[k + 1] - self.plastic_at[k])
        return float((1 - w) * self.stress_at[k] + w * self.stress_at[k + 1])

    def stretch(self, e: float) -> float:
        trial = self.young * (e - self.p)
        if abs(trial) > self.limit(self.a):
            low, high = 0.0, abs(trial) / self.young
            for _ in range(200):
                middle = (low + high) / 2
                too_much = abs(trial) - self.young * middle < self.limit(self.a + middle)
                low, high = (low, middle) if too_much else (middle, high)
            self.p, self.a = self.p + np.copysign(low, trial), self.a + low
        return float(self.young * (e - self.p))


def led(material: VoxelMaterial, strains: list[float]) -> list[tuple[float, LinkMemory, float]]:
    """Strain, memory and stress of a link whose second voxel is led to strains in turn and held there."""
    scene = sp.Scene()
    node = scene.add(chain(material, [1, 1]), fix=[0], name="link")
    hold, times, values = 0.02, [0.0], [(0.0, 0.0, 0.0)]
    for k, e in enumerate(strains):
        times += [(2 * k + 1) * hold, (2 * k + 2) * hold]
        values += [(e * SIZE, 0.0, 0.0)] * 2
    scene.add(sp.PrescribedMotion(node, [1], displacement=sp.TableInTime(times, values)))
    system = scene.compile()
    state, stride = system.initial_state(), sp.LatticeSolver(hold / 2)
    found = []
    for e in strains:
        for _ in range(4):
            stride.step(system, state)
        assert state.x.reshape(-1, 7)[1, 0] - state.x.reshape(-1, 7)[0, 0] == pytest.approx((1 + e) * SIZE, abs=1e-16)
        memory = LinkMemory.of_array(state.memory["link/links"])
        local = LocalState(state.t, state.x.reshape(-1, 7), np.zeros((2, 6)), memory)
        found.append((e, memory, -node.body.links(local).force[0, 0] / SIZE**2))
    return found


CYCLE = [0.005, 0.02, 0.012, 0.025, -0.01, -0.03, 0.0, 0.06, 0.05, 0.12, -0.05]


@pytest.mark.parametrize(
    ("law", "points"),
    [
        ({"yield_stress": 1e4, "plastic_modulus": 2e5}, [(0.0, 0.0), (0.01, 1e4), (1.01, 2.1e5)]),
        ({"yield_stress": 1e4}, [(0.0, 0.0), (0.01, 1e4), (1.01, 1e4)]),
        ({"curve": CURVE}, [*CURVE, (1.1, 1.0e5)]),
    ],
)
def test_load_unload_reverse_follows_return_mapping(law: dict[str, object], points: list[tuple[float, float]]) -> None:
    rival = ScalarPlasticity(points)
    for e, memory, stress in led(metal(**law), CYCLE):
        expected = rival.stretch(e)
        assert stress == pytest.approx(expected, abs=1e-6 * YOUNG * 0.01)
        assert memory.plastic[0] == pytest.approx(rival.p, abs=1e-9)
        assert memory.accumulated[0] == pytest.approx(rival.a, abs=1e-9)
        assert memory.alive.all()


def test_a_bar_under_force_hardens_and_stays_longer() -> None:
    """Force control: e = s_y/E + (s - s_y)/E_p at the top, and e - s/E after unloading, in every link."""
    material = metal(yield_stress=1e4, plastic_modulus=2e5, ground_damping=0.2)
    body = chain(material, [1] * 5)
    load, state = np.zeros((5, 6)), LocalState(0.0, body.model.rest_frames, np.zeros((5, 6)))
    dt = body.stable_step(held=[0])
    for part in np.r_[np.linspace(0, 1, 1000), np.ones(200)]:  # so slow that nothing overshoots
        load[-1, 0] = part * 1.5e4 * SIZE**2
        state = body.advance(state, dt, 50, held=[0], loads=load)
    top = 0.01 + 0.5e4 / 2e5
    np.testing.assert_allclose(np.diff(state.x[:, 0]) / SIZE - 1, top, rtol=2e-4)
    state = body.advance(state, dt, 20000, held=[0])
    np.testing.assert_allclose(np.diff(state.x[:, 0]) / SIZE - 1, top - 0.015, rtol=5e-4)


def test_strain_is_where_the_curve_first_reaches_a_stress() -> None:
    """On every segment, at the start of the plateau, and beyond the last point, where the last slope goes on."""
    curved = metal(curve=CURVE)
    stresses, strains = [5e3, 1e4, 1.3e4, 1.6e4, 1.8e4, 2.0e4, 2.4e4], [0.005, 0.01, 0.02, 0.03, 0.075, 0.1, 0.15]
    assert [curved.strain(s) for s in stresses] == pytest.approx(strains, rel=1e-12)
    assert [curved.stress(e) for e in strains] == pytest.approx(stresses, rel=1e-12)


def test_halves_in_series_carry_one_stress() -> None:
    """The composite curve is (e_1(s) + e_2(s)) / 2, at every stress, plateaus included."""
    soft = VoxelMaterial(young=YOUNG, density=DENSITY, curve=CURVE)
    stiff = VoxelMaterial(young=4e6, density=DENSITY, yield_stress=1.2e4, plastic_modulus=1e6)
    knots, changes, _ = in_series(soft, stiff)
    first = 2 * 1e6 * 4e6 / 5e6

    def composite(e: float) -> float:
        return first * (e + sum(c * max(e - k, 0.0) for k, c in zip(knots, changes)))

    def strain_1(s: float) -> float:
        return float(np.interp(s, [0, 1e4, 1.6e4, 1.6e4, 2e4], [0, 0.01, 0.03, 0.05, 0.1]))

    def strain_2(s: float) -> float:
        return s / 4e6 if s < 1.2e4 else 0.003 + (s - 1.2e4) / 1e6

    for s in (5e3, 1.1e4, 1.4e4, 1.59e4, 1.61e4, 1.9e4):
        assert composite((strain_1(s) + strain_2(s)) / 2) == pytest.approx(s, rel=1e-9)
    for e in (0.025, 0.028):  # on the plateau of the softer half
        assert composite((0.03 + 0.007) / 2 + e - 0.025 + 1e-4) == pytest.approx(1.6e4, rel=1e-9)
    alone = in_series(soft, soft)[0]
    np.testing.assert_allclose(alone, [0.01, 0.03, 0.05], rtol=1e-12)


def test_a_half_too_soft_to_be_stressed_by_any_strain_keeps_the_other_from_yielding() -> None:
    """The strain at which the harder half would yield is above the largest number: no knot, whichever half is first."""
    soft = VoxelMaterial(young=1e-296, density=DENSITY)
    hard = VoxelMaterial(young=5e7, density=DENSITY, yield_stress=2e12)
    assert soft.strain(2e12) == np.inf
    assert in_series(soft, hard)[:2] == in_series(hard, soft)[:2] == ([], [])


def test_unlike_halves_fail_where_the_weaker_does() -> None:
    soft = metal(fail_strain=0.05)  # at 5e4 Pa
    stiff = VoxelMaterial(young=4e6, density=DENSITY, fail_stress=3e4)
    assert in_series(soft, stiff)[2] == pytest.approx((3e4 / 1e6 + 3e4 / 4e6) / 2)
    assert in_series(stiff, soft)[2] == pytest.approx((3e4 / 1e6 + 3e4 / 4e6) / 2)
    assert in_series(soft, metal())[2] == pytest.approx(0.05)
    body = chain([soft, stiff], [1, 2])
    assert body.model.laws.failure[0] == pytest.approx(0.01875)
    assert LinkLaws.of([metal()], np.zeros(3, dtype=int), np.zeros(3, dtype=int)).is_linear


@pytest.mark.parametrize("law", [{"fail_strain": 0.03}, {"fail_stress": 3e4}])
def test_links_fail_in_tension_alone_and_for_good(law: dict[str, float]) -> None:
    found = led(metal(**law), [0.029, -0.2, 0.0299, 0.031, 0.0])
    assert [bool(memory.alive[0]) for _, memory, _ in found] == [True, True, True, False, False]
    assert found[2][2] == pytest.approx(0.0299 * YOUNG)
    assert found[3][2] == found[4][2] == 0.0


def test_a_failed_link_carries_nothing() -> None:
    """Pulled apart, the end voxel then moves by F/m alone."""
    body = chain(metal(fail_strain=0.02), [1, 1, 1])
    load = np.zeros((3, 6))
    load[2, 0] = 5e4 * SIZE**2
    dt = body.stable_step(held=[0])
    state = body.advance(LocalState(0.0, body.model.rest_frames, np.zeros((3, 6))), dt, 2000, held=[0], loads=load)
    assert state.memory.alive.tolist() == [True, False]
    before = state.v[2, 0]
    state = body.advance(state, dt, 100, held=[0], loads=load)
    assert state.v[2, 0] - before == pytest.approx(load[2, 0] / MASS * 100 * dt, rel=1e-9)
    np.testing.assert_array_equal(state.v[2, 1:], 0.0)


def test_pieces_collide_after_their_link_has_failed() -> None:
    """Joined voxels never meet; apart, they push back: at rest the overlap is F / k, k = E l."""
    body = chain(metal(fail_strain=0.02, ground_damping=0.1, contact_damping=0.5), [1, 1])
    x = body.model.rest_frames.copy()
    x[1, 0] += 0.05 * SIZE
    load = np.zeros((2, 6))
    load[1, 0] = -0.02 * YOUNG * SIZE**2
    state = LocalState(0.0, x, np.zeros((2, 6)))
    for collision in (Collision(), Collision(scheme="all_pairs")):
        dt = body.stable_step(held=[0], collision=collision)
        end = body.advance(state, dt, 20000, held=[0], loads=load, collision=collision)
        assert not end.memory.alive.any()
        assert end.x[1, 0] - end.x[0, 0] == pytest.approx(SIZE * (1 - 0.02), rel=1e-6)
    through = body.advance(state, dt, 20000, held=[0], loads=load)
    assert through.x[1, 0] < through.x[0, 0]


def test_faces_of_a_failed_link_meet_the_fluid() -> None:
    body = chain(metal(fail_strain=0.02), [1, 1])
    v = np.zeros((2, 6))
    v[:, 0] = 1.0
    fluid, dt = Fluid(500.0, drag=1.0), 1e-8
    drag = 0.5 * 500.0 * SIZE**2 / MASS
    for alive, expected in ((True, [0.0, -drag]), (False, [-drag, -drag])):
        memory = LinkMemory(np.zeros(1), np.zeros(1), np.array([alive]))
        end = body.advance(LocalState(0.0, body.model.rest_frames, v, memory), dt, 1, fluid=fluid)
        np.testing.assert_allclose((end.v[:, 0] - 1.0) / dt, expected, rtol=1e-5, atol=1e-4)


def wide_body(axis: int) -> VoxelBody:
    """Long enough for several slabs; law with yielding and failure."""
    shape = np.roll([8, 8, 44], axis + 1)
    rng = np.random.default_rng(0)
    palette = [metal(yield_stress=1e4, plastic_modulus=1e5, fail_strain=0.08), metal(curve=CURVE, fail_stress=1.9e4)]
    return VoxelBody(VoxelGrid(rng.integers(1, 3, shape), SIZE), palette)


def strained(body: VoxelBody, size: float) -> Array:
    x = body.model.rest_frames.copy()
    x[:, :3] += size * SIZE * np.random.default_rng(1).normal(size=(len(x), 3))
    return x


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_links_at_the_borders_of_slabs_yield_and_fail_like_all_others(axis: int) -> None:
    body = wide_body(axis)
    model = body.model
    x = strained(body, 0.03)
    sweep = LatticeSweep.make(model)
    assert len(sweep.layout.slabs.start) > 2
    sweep.load(x, np.zeros((len(x), 6)))
    sweep.advance(1e-9, 1)
    one, two = model.link_voxels.T
    e = (x[two, :3] - x[one, :3])[np.arange(len(one)), model.link_axis] / SIZE - 1
    size = np.abs(e)
    stress = size + (model.laws.change * np.maximum(size[:, None] - model.laws.knot, 0.0)).sum(axis=1)
    alive = e <= model.laws.failure
    plastic = np.where(alive, np.copysign(size - stress, e), 0.0)
    assert 0 < (~alive).sum() < len(alive)
    np.testing.assert_array_equal(sweep.memory.alive, alive)
    np.testing.assert_allclose(sweep.memory.plastic, plastic, atol=1e-14)
    np.testing.assert_allclose(sweep.memory.accumulated, np.abs(plastic), atol=1e-14)


def test_bits_do_not_depend_on_threads_or_on_calls() -> None:
    body = wide_body(2)
    x, n = strained(body, 0.02), body.model.voxel_count
    v = np.random.default_rng(2).normal(size=(n, 6)) * np.repeat([0.5, 10.0], 3)
    dt, found = body.stable_step(staged=False), []
    before = numba.get_num_threads()
    try:
        for threads, calls in ((1, 1), (1, 40), (2, 1)):
            numba.set_num_threads(min(threads, before))
            sweep = LatticeSweep.make(body.model, collision=Collision() if calls == 1 else None)
            plain = LatticeSweep.make(body.model)
            for each in (sweep, plain):
                each.load(x, v)
                for _ in range(calls):
                    each.advance(dt, 40 // calls)
            out = np.empty((n, 7)), np.empty((n, 6)), np.empty((n, 7)), np.empty((n, 6))
            plain.save(*out[:2])
            sweep.save(*out[2:])
            found.append((*out[:2], plain.memory.to_array(), *(out[2:] if calls == 1 else ())))
    finally:
        numba.set_num_threads(before)
    for a, b, c in zip(found[0][:3], found[1][:3], found[2][:3]):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
    for a, c in zip(found[0][3:], found[2][3:]):
        np.testing.assert_array_equal(a, c)
    memory = found[0][2]
    assert (memory[:, 0] != 0).any()
    assert (memory[:, 2] == 0).any()


def test_what_links_remember_is_saved_and_restored() -> None:
    """A stride that goes on from a copied state gives the same bits as one that never stopped."""
    scene = sp.Scene()
    scene.add(chain(metal(yield_stress=1e4, plastic_modulus=1e5, fail_strain=0.15), [1] * 6), fix=[0], name="bar")
    scene.add(sp.Load(scene.node("bar").points([5]), lambda t: (6.0 * np.sin(60 * t), 1.0, 0)))
    system = scene.compile()
    stride, state = sp.LatticeSolver(1 / 300, bend_limit=None), system.initial_state()
    saved = []
    for _ in range(40):
        saved.append(state.copy())
        stride.step(system, state)
    memory = state.memory["bar/links"]
    assert memory[:, 0].any()
    assert (memory[:, 2] == 0).any()
    assert "lattice step" in state.memory  # the stable step was found again on the way
    for start in (5, 20, 33):
        other, again = sp.LatticeSolver(1 / 300, bend_limit=None), saved[start].copy()
        for _ in range(40 - start):
            other.step(system, again)
        np.testing.assert_array_equal(again.x, state.x)
        np.testing.assert_array_equal(again.v, state.v)
        np.testing.assert_array_equal(again.memory["bar/links"], memory)


def test_pieces_that_fly_apart_do_not_shorten_the_step() -> None:
    """Strains of failed links say nothing about stability, nor do their bends."""
    scene = sp.Scene()
    scene.add(chain(metal(fail_strain=0.02), [1] * 4), fix=[0], name="bar")
    scene.add(sp.Load(scene.node("bar").points([3]), (20.0, 3.0, 0)))
    system = scene.compile()
    stride, state = sp.LatticeSolver(1e-3, bend_limit=None), system.initial_state()
    steps = [stride.step(system, state).iterations for _ in range(30)]
    assert state.x.reshape(-1, 7)[3, 0] > 10 * SIZE
    assert steps[-1] <= 2 * steps[0]


def test_the_general_solvers_refuse_what_they_would_ignore() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(chain(metal(yield_stress=1e4), [1, 1]), fix=[0], name="body")
    system = scene.compile()
    for solver in (sp.ImplicitEuler(1e-3), sp.SymplecticEuler(1e-6)):
        with pytest.raises(InputError, match="LatticeSolver"):
            solver.step(system, system.initial_state())
    with pytest.raises(InputError, match="LatticeSolver"):
        sp.RungeKutta4(1e-6).prepare(system)
    with pytest.raises(InputError, match="LatticeSolver"):
        sp.solve_statics(system)


def test_memory_of_another_lattice_is_refused() -> None:
    body = chain(metal(yield_stress=1e4), [1, 1, 1])
    state = LocalState(0.0, body.model.rest_frames, np.zeros((3, 6)), LinkMemory.fresh(7))
    with pytest.raises(InputError, match="another lattice"):
        body.advance(state, 1e-6, 1)


def test_a_field_of_young_is_a_palette_with_laws_too() -> None:
    rng = np.random.default_rng(0)
    moduli = rng.choice([8e5, 1e6, 2e6], size=8)
    law = {"density": DENSITY, "bond_damping": 0.3, "yield_stress": 1e4, "plastic_modulus": 1e5, "fail_stress": 1.5e4}
    grid = VoxelGrid(np.ones((8, 1, 1), dtype=int), SIZE)
    field = VoxelBody(grid, VoxelMaterial(young=1e6, **law), young=moduli)
    palette = VoxelBody(
        VoxelGrid(np.arange(1, 9).reshape(8, 1, 1), SIZE), [VoxelMaterial(young=E, **law) for E in moduli]
    )
    np.testing.assert_allclose(field.model.laws.failure, palette.model.laws.failure)
    x = field.model.rest_frames.copy()
    x[:, 0] *= 1.03
    ends = [b.advance(LocalState(0.0, x, np.zeros((8, 6))), field.stable_step(), 50) for b in (field, palette)]
    np.testing.assert_array_equal(ends[0].x, ends[1].x)
    with pytest.raises(InputError, match="does not go with a stress-strain curve"):
        VoxelBody(grid, metal(curve=CURVE), young=moduli)
