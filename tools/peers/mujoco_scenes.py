"""Two scenes in Supple and in MuJoCo: a step of each, processor time of one thread.

A tower: ten boxes of 0.1 m at rest on each other and on a floor, steps of 5 ms (`supple bench contact/tower`). A beam:
1 m x 0.1 m x 0.1 m, 525 nodes, 1,920 tets, E = 1 MPa, clamped and sagging under gravity: Supple by implicit Euler to a
residual of 1e-6, MuJoCo by its integrator for flexible bodies, "discrete". Laws of elasticity and integrators differ,
so that the beams move alike and not equally. Needs `pip install mujoco` beside Supple.

    python tools/peers/mujoco_scenes.py
"""

from __future__ import annotations

import os

os.environ["NUMBA_NUM_THREADS"] = "1"

import sys
from collections.abc import Callable
from time import process_time

import mujoco
import numpy as np

import supple as sp
from supple.bench.fem_beam import sagging_beam
from supple.bench.rigid_contact import DENSITY, DT, SIDE, tower_scene

STEPS, ROUNDS = 50, 6


def best(step: Callable[[], object]) -> float:
    """Least processor time of a step [ms] over several windows."""
    times = []
    for _ in range(ROUNDS + 1):
        start = process_time()
        for _ in range(STEPS):
            step()
        times.append((process_time() - start) / STEPS)
    return 1e3 * min(times[1:])


def supple_tower() -> float:
    scene = tower_scene()
    system = scene.compile()
    state = system.initial_state()
    for _ in range(100):
        scene.solver.step(system, state)
    value = best(lambda: scene.solver.step(system, state))
    print(f"  Supple's tower: height {system.positions(state, 'box 9')[:, 2].mean():.5f} m of {9.5 * SIDE:.4f}")
    return value


def mujoco_tower() -> float:
    half = SIDE / 2
    box = f'<freejoint/><geom type="box" size="{half} {half} {half}" density="{DENSITY}"/>'
    boxes = "".join(f'<body pos="0 0 {(0.5 + k) * SIDE}">{box}</body>' for k in range(10))
    text = f'<mujoco><option timestep="{DT}"/><worldbody><geom type="plane" size="2 2 1"/>{boxes}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(400):
        mujoco.mj_step(model, data)
    print(f"  MuJoCo's tower: height {data.qpos[65]:.4f} m of {9.5 * SIDE:.4f}, {data.ncon} contacts")
    return best(lambda: mujoco.mj_step(model, data))


def supple_beam(dt: float) -> float:
    system, state = sagging_beam((20, 4, 4))
    solver = sp.ImplicitEuler(dt, linear="cg", tolerance=1e-6)
    value = best(lambda: solver.step(system, state))
    lowest = state.x.reshape(-1, 3)[:, 2].min()
    print(f"  Supple's beam at {1e3 * dt:g} ms after {state.t:.3f} s: lowest point {lowest:.3f} m")
    return value


def mujoco_beam(dt: float) -> float:
    mesh = sp.box_tets(size=(1.0, 0.1, 0.1), cells=(20, 4, 4), pattern="uniform")
    points = " ".join(f"{x:.9g}" for x in np.asarray(mesh.nodes).ravel())
    tets = " ".join(str(i) for i in np.asarray(mesh.elements).ravel())
    pins = " ".join(str(i) for i in np.flatnonzero(np.asarray(mesh.nodes)[:, 0] < 1e-9))
    text = f"""<mujoco><option timestep="{dt}" integrator="discrete"/><worldbody>
      <flexcomp name="beam" type="direct" dim="3" mass="10" point="{points}" element="{tets}">
        <contact selfcollide="none"/><elasticity young="1e6" poisson="0.3" damping="0"/><pin id="{pins}"/>
      </flexcomp></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    value = best(lambda: mujoco.mj_step(model, data))
    warned, lowest = sum(w.number for w in data.warning), data.flexvert_xpos[:, 2].min()
    print(f"  MuJoCo's beam at {1e3 * dt:g} ms after {data.time:.3f} s: lowest point {lowest:.3f} m, {warned} warnings")
    return value


def main() -> None:
    print(f"MuJoCo {mujoco.__version__}, Python {sys.version.split()[0]}")
    print(f"tower: Supple {supple_tower():.3f} ms, MuJoCo {mujoco_tower():.3f} ms a step")
    for dt in (1e-3, 1e-2):
        print(f"beam, dt = {1e3 * dt:g} ms: Supple {supple_beam(dt):.2f} ms, MuJoCo {mujoco_beam(dt):.2f} ms a step")


if __name__ == "__main__":
    main()
