"""Trees that touch nothing, stepped on a second thread; BLAS on one thread where several ask for it."""

from __future__ import annotations

import threading
import time
import warnings

import numba
import numpy as np
import pytest
from tests.threads import stepped_by_one_and_two, two_threads
from threadpoolctl import threadpool_info

import supple as sp
from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.bodies.tree import TreeBody
from supple.errors import DivergenceError
from supple.examples.shapes import oak
from supple.solvers.coupling.beside import beside, beside_if_free, sharing
from supple.solvers.coupling.trees import part as tree_part


def scene_with_an_oak(at: tuple[float, float, float] = (2, 0, 0.051), velocity: float = 0.0) -> sp.Scene:
    """An oak beside a ball that lies on the ground; together they are one scene, and meet where the ball is thrown."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(1 / 60))
    scene.add(TreeBody(oak(leaves=60), stiffness_damping=0.02), name="oak")
    scene.add(sp.RigidBody.sphere(0.05, density=500), at=at, velocity=(velocity, 0, 0), name="ball")
    scene.add(sp.Plane())
    scene.add(sp.Contact(exclude=[("oak", "plane")], parts={"oak": ["trunk"]}))
    return scene


@two_threads
def test_a_tree_on_a_second_thread_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_with_an_oak()
    ended = stepped_by_one_and_two(scene, 5, tree_part, monkeypatch)
    assert ended.begun == (0, 5)
    assert np.abs(ended.state.v[scene.compile().body("oak").v_slice]).max() > 1e-3


@two_threads
def test_a_tree_that_is_hit_was_stepped_ahead_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second thread steps the tree before its contacts are known: the step in which it is hit is taken anew."""
    scene, steps = scene_with_an_oak((0.6, 0, 0.5), -5.0), 14
    ended = stepped_by_one_and_two(scene, steps, tree_part, monkeypatch)
    assert steps > ended.begun[1] > 1  # not in steps after one in which it was touched
    assert ended.state.v[scene.compile().body("ball").v_slice][0] > 0  # it was thrown back


@two_threads
def test_errors_of_the_second_thread_arrive() -> None:
    scene = scene_with_an_oak()
    system = scene.compile()
    state, before = system.initial_state(), numba.get_num_threads()
    state.v[system.body("oak").v_slice][6:] = 1e200
    numba.set_num_threads(2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(DivergenceError):
                scene.solver.step(system, state)
        assert numba.get_num_threads() == 2
    finally:
        numba.set_num_threads(before)


def test_work_that_the_second_thread_has_not_come_to_is_done_by_the_first() -> None:
    def who() -> str:
        return threading.current_thread().name

    with sharing():
        held = threading.Event()
        beside(held.wait)
        late = beside_if_free(who)
        assert late() == who()
        held.set()
        begun = threading.Event()
        early = beside_if_free(lambda: (begun.set(), who())[1])
        assert begun.wait(10)
        assert early() != who()


def test_work_beside_leaves_its_thread_free() -> None:
    before = numba.get_num_threads()
    with sharing():
        assert beside(numba.get_num_threads).result() == 1
        assert numba.get_num_threads() == max(1, before - 1)
    assert numba.get_num_threads() == before


def test_sharing_ends_after_what_was_begun() -> None:
    done: list[int] = []

    def fail() -> None:
        with sharing():
            beside(lambda: time.sleep(0.05) or done.append(1))
            raise ValueError("something else went wrong, elsewhere")

    with pytest.raises(ValueError, match="elsewhere"):
        fail()
    assert done == [1]


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_for_all_who_share() -> None:
    before = blas_threads()

    def other() -> list[int]:
        with one_blas_thread():
            return blas_threads()

    with sharing():
        assert set(beside(other).result()) == {1}
        assert set(blas_threads()) == {1}  # the other one has left
    assert blas_threads() == before
    with one_blas_thread():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before
