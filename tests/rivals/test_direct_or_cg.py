"""Linear systems by a factor and by conjugate gradients: which is chosen, and that momentum does not tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.block_factor import BlockFactor, BlockPattern
from supple.solvers.linear import step_blocks
from supple.solvers.linear.costs import Costs, longest_way
from supple.solvers.linear.joint_solve import solve_directly

DT = 0.01
WEIGHTS = {"mass": 1.0, "damping": -DT, "stiffness": -(DT**2)}


def block(cells: tuple[int, int, int], young: float) -> sp.System:
    """Of tets with edges of 2 cm, free, moving and spinning."""
    scene = sp.Scene()
    mesh = sp.box_tets(size=tuple(0.02 * n for n in cells), cells=cells)
    scene.add(sp.FemBody(mesh, sp.Material(young, 0.3, 1000.0)), spin=(1, 2, 3), velocity=(0.1, 0.2, 0.3))
    return scene.compile()


@pytest.mark.parametrize(
    ("cells", "young", "iterates"),
    [
        ((5, 5, 5), 1e5, True),  # 0.9 ms a step by conjugate gradients, 2.3 by the factor
        ((9, 9, 9), 1e5, True),  # 5 ms, 20
        ((40, 3, 3), 1e4, True),  # 1.4 ms, 5.5
        ((40, 3, 3), 1e8, False),  # 7.8 ms, 5.6
        ((40, 1, 1), 1e8, False),  # 2.2 ms, 1.2
    ],
)
def test_the_quicker_one_of_those_measured_is_chosen(cells: tuple[int, int, int], young: float, iterates: bool) -> None:
    assert Costs.of(block(cells, young)).iterates(1e-6, **WEIGHTS) == iterates


@pytest.mark.parametrize(
    ("cells", "thickness", "iterates"),
    [
        ((40, 40, 1), 1.0, True),  # 19 ms a step with aggregates, 31 by the factor
        ((40, 40, 1), 0.1, False),  # 85, 32
        ((40, 40, 1), 0.03, False),  # 222, 31
        ((60, 4, 4), 1.0, True),  # 8.5, 14
        ((24, 24, 4), 0.2, True),  # 27, 68
    ],
)
def test_thin_bodies_take_a_factor_where_it_is_quicker(
    cells: tuple[int, int, int], thickness: float, iterates: bool
) -> None:
    scene, size = sp.Scene(), 0.01 * np.array(cells) * (1.0, 1.0, thickness)
    scene.add(sp.FemBody(sp.box_tets(size=tuple(size), cells=cells), sp.Material(1e7, 0.3, 1000.0)), fix="x_min")
    assert Costs.of(scene.compile()).iterates(1e-6, **WEIGHTS) == iterates


def fallen(scene: sp.Scene, steps: int = 4, **how: Any) -> tuple[list[sp.StepReport], np.ndarray]:
    """Reports of steps, and velocities at their end."""
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(2e-3, **how)
    return [solver.step(system, state) for _ in range(steps)], state.v


@pytest.mark.parametrize("cells", [(5, 4, 4), (8, 6, 6)])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize(("stiffness", "iterates"), [(1e7, True), (1e14, False)])
def test_contacts_too_stiff_for_iterations_take_a_factor(
    stiffness: float, iterates: bool, joined: bool, cells: tuple[int, int, int]
) -> None:
    """A residual in proportion to the forces of such a contact is more than what moves the body, on a joint or not."""
    scene = touching(two=True, speed=0.0 if joined else 0.3, cells=cells, stiffness=stiffness)
    if joined:
        scene.add(sp.BallJoint(scene.nodes[0], at=(-0.05, 0.0, 0.04)))
    reports, v = fallen(scene)
    assert all(report.is_solved for report in reports)
    assert any(report.linear_iterations > 0 for report in reports) == iterates
    _, direct = fallen(scene, linear="direct")
    np.testing.assert_allclose(v, direct, atol=1e-3 * 0.3)


def test_a_step_that_iterations_do_not_solve_takes_a_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.FemBody(sp.box_tets((0.1, 0.1, 0.1), (5, 5, 5)), sp.Material(1e5, 0.3, 1000.0)), fix="x_min")
    iterated, _ = fallen(scene)
    assert all(report.linear_iterations > 2 for report in iterated)
    monkeypatch.setattr(step_blocks, "PATIENCE", 2)
    reports, v = fallen(scene)
    assert all(report.is_solved and report.linear_iterations == 0 for report in reports)
    _, direct = fallen(scene, linear="direct")
    np.testing.assert_allclose(v, direct, atol=1e-3 * np.abs(direct).max())
    asked, _ = fallen(scene, linear="cg", max_iterations=2)
    assert not any(report.is_solved for report in asked)


def test_the_choice_is_that_of_the_system_at_rest() -> None:
    """A resumed run chooses as the one before it did; the system's matrix is left as it was."""
    system = block((3, 3, 3), 1e5)
    assert system.assembly is not None
    system.assembly.matrix.data[:] = 7.0
    known = Costs.of(system)
    assert (system.assembly.matrix.data == 7.0).all()
    again, state = block((3, 3, 3), 1e5), system.initial_state()
    for _ in range(3):
        sp.ImplicitEuler(DT, linear="cg").step(again, state)
    assert Costs.of(again) == known


def test_the_longest_way_is_that_of_the_longest_part() -> None:
    """A line of ten blocks begins in its middle, beside one of three."""
    line = np.array([4, 3, 2, 1, 0, 5, 6, 7, 8, 9])
    one, two = np.r_[line[:-1], 10, 11], np.r_[line[1:], 11, 12]
    assert longest_way(BlockSparse.from_pairs(13, np.r_[one, two], np.r_[two, one])) == 9


def touching(two: bool, speed: float, cells: tuple[int, int, int] = (5, 4, 4), **law: float) -> sp.Scene:
    """A block of more unknowns than a dense matrix is taken for, that moves on a floor, beneath another or not."""
    scene, size = sp.Scene(gravity=(0, 0, -9.81)), (0.1, 0.08, 0.08)
    mesh = sp.box_tets(size=size, cells=cells)
    scene.add(sp.FemBody(mesh, sp.Material(1e6, 0.3, 1000.0)), at=(0, 0, 0.04), velocity=(speed, 0, 0), name="low")
    if two:
        scene.add(sp.FemBody(mesh, sp.Material(1e5, 0.3, 1000.0)), at=(0.02, 0.01, 0.12), name="high")
        scene.add(sp.Contact(**law))
    scene.add(sp.Floor())
    return scene


@pytest.mark.parametrize(("two", "speed"), [(False, 0.3), (True, 0.0), (True, 0.3)])
def test_contacts_by_the_kept_factor_are_those_by_an_unsymmetric_one(
    two: bool, speed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At rest and sliding, where friction makes the symmetric part indefinite."""
    ends, taken = [], []
    for is_kept in (True, False):
        system = touching(two, speed).compile()
        state, solver = system.initial_state(), sp.ImplicitEuler(2e-3, linear="direct")

        def factor(A: BlockSparse, pattern: BlockPattern, is_kept: bool = is_kept) -> BlockFactor:
            if not is_kept:
                raise np.linalg.LinAlgError
            taken.append(BlockFactor(A, pattern))
            return taken[-1]

        def unsymmetric(A: Any, b: np.ndarray, is_kept: bool = is_kept) -> tuple[np.ndarray, float]:
            assert not is_kept
            return solve_directly(A, b)

        monkeypatch.setattr(step_blocks, "BlockFactor", factor)
        monkeypatch.setattr(step_blocks, "solve_directly", unsymmetric)
        for _ in range(6):
            assert solver.step(system, state).outcome.name == "SOLVED"
        ends.append(state)
    assert len(taken) >= 5
    np.testing.assert_allclose(ends[0].v, ends[1].v, atol=1e-7)
    np.testing.assert_allclose(ends[0].x, ends[1].x, atol=1e-9)
