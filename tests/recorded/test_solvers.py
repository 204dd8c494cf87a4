"""Recorded numbers of solvers: every method with options of its own on an uneven scene, statics, modes, paths."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from tests.recorded.making import BODIES, GRAVITY, moved, scene_of, seen, tets, two
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.solvers import stable_step
from supple.solvers.methods.modes import fastest_growth

recorded = Recorded(__name__)
SOLVERS: dict[str, Any] = {
    "implicit": lambda: sp.ImplicitEuler(0.004),
    "newton": lambda: sp.ImplicitEuler(0.004, newton=True),
    "direct": lambda: sp.ImplicitEuler(0.004, linear="direct"),
    "gradients": lambda: sp.ImplicitEuler(0.004, linear="cg", tolerance=1e-11, preconditioner="incomplete_cholesky"),
    "midpoint": lambda: sp.Midpoint(0.004),
    "newmark": lambda: sp.Newmark(0.004, beta=0.3025, gamma=0.6),
    "alpha": lambda: sp.GeneralizedAlpha(0.004, rho=0.63),
    "symplectic": lambda: sp.SymplecticEuler(1e-4),
    "runge-kutta": lambda: sp.RungeKutta4(2e-4),
    "partitioned": lambda: sp.Partitioned(0.004, tree_steps=2),
    "stride": lambda: sp.StrideSolver(1e-3, steps=3),
}
REFUSED = {
    ("midpoint", "layered"), ("newmark", "floating"), ("newmark", "layered"), ("newmark", "rigid"),
    ("alpha", "layered"), ("symplectic", "floating"), ("symplectic", "layered"),
    ("runge-kutta", "floating"), ("runge-kutta", "layered"), ("stride", "layered"),
}  # fmt: skip
FOR = {"stride": ("floating", "layered")}
KINDS = ("rigid", "particles", "fem", "fem, neo-hookean", "floating", "layered")


def loaded(kind: str) -> sp.Scene:
    scene, node = scene_of(BODIES[kind]())
    if kind == "rigid":
        scene.add(sp.Springs(node.points(local=[[0.05, 0.01, 0.02]]), sp.World.points([(0.5, 0.1, 0.3)]), 70.0, 0.3))
    else:
        scene.add(sp.Load(node.points([0, 2]), lambda t: (0.3 + t, -0.2, 30 * t)))
    return scene


@recorded.over(
    {f"{s}, {k}": (s, k) for s in SOLVERS for k in FOR.get(s, KINDS) if (s, k) not in REFUSED}, rtol=1e-6
)  # fmt: skip
def steps(given: tuple[str, str]) -> Values:
    scene = loaded(given[1])
    if given[0] == "stride":
        scene.forces.clear()
    return moved(scene, SOLVERS[given[0]](), steps=3)


@recorded.over(
    {name: name for name in ("implicit", "midpoint", "newmark", "alpha", "symplectic", "runge-kutta", "partitioned")}
)
def held(name: str) -> Values:
    """Held at one end, led at the other, joined to a ball by springs."""
    scene = sp.Scene(gravity=GRAVITY)
    node = scene.add(
        sp.FemBody(tets(), two(), law="stvk"), at=(0.1, 0.2, 0.3), rotation=(0.3, 0.1, 0.2), fix="tip", name="bar"
    )
    scene.add(sp.PrescribedMotion(node, [0, 3], lambda t: (0.3 * t, -t * t, 0.1 * t)))
    dots = scene.add(
        sp.Particles([(0.2, 0.1, 0.4), (0.25, 0.12, 0.41)], [0.1, 0.07]), velocity=(0.3, 0, 0.1), name="dots"
    )
    scene.add(sp.Springs(dots.points([0, 1]), node.points([5, 8]), [70.0, 30.0], [0.2, 0.1]))
    return moved(scene, SOLVERS[name](), steps=3)


def hanging(kind: str = "fem") -> tuple[sp.Scene, sp.Node]:
    scene = sp.Scene(gravity=GRAVITY)
    node = scene.add(BODIES[kind](), at=(0.1, 0.2, 0.3), rotation=(0.3, 0.1, 0.2), name="bar", fix=[0, 1, 2, 3])
    scene.add(sp.Load(node.points([4] if kind == "particles" else [5, 8]), (0.1, -0.05, 0.2)))
    return scene, node


@recorded.over({name: name for name in ("fem", "fem, hexes", "fem, neo-hookean", "fem, stvk", "particles")}, rtol=1e-6)
def statics(kind: str) -> Values:
    scene, _ = hanging(kind)
    system = scene.compile()
    state = sp.solve_statics(system, load_steps=2, tolerance=1e-11)
    found = seen(system, state)
    return {name: found[name] for name in ("way", "potential energy", "centre of mass")}


@recorded.over(
    {name: name for name in ("fem", "fem, hexes", "particles", "voxel, plain", "floating", "layered", "tree", "rigid")},
    rtol=1e-5,
)
def modes(kind: str) -> Values:
    """Frequencies at rest and in a bent equilibrium."""
    scene = sp.Scene(gravity=(0, 0, 0))
    node = scene.add(BODIES[kind](), at=(0.1, 0.2, 0.3), rotation=(0.3, 0.1, 0.2), name="bar")
    ends = node.points([0, 5, 7]) if kind in ("particles",) == False and kind not in ("rigid", "particles") else None
    if kind == "rigid":
        ends = node.points(local=[[0.05, 0.01, 0.02], [-0.03, 0.04, 0.0], [0.0, -0.02, 0.05]])
    else:
        ends = node.points([0, 1, 3] if kind == "particles" else [0, 5, 7])
    scene.add(sp.Springs(ends, sp.World.points(ends.rest), [3000.0, 4000.0, 5000.0], rest_length=0.0))
    found = sp.vibration_modes(scene.compile(), 5)
    return {"frequencies": found.frequencies, "shapes": np.abs(found.shapes)}


@recorded.case(rtol=1e-6)
def path() -> Values:
    """A crooked truss that snaps through."""
    X, springs = [(-1.0, 0.03, 0), (0.05, 0.0, 0.2), (1.1, -0.02, 0.01)], [(0, 1), (1, 2)]
    scene = sp.Scene()
    body = scene.add(
        sp.Particles(X, [0.1, 0.2, 0.3], springs=springs, stiffness=[1000.0, 1300.0]), fix=[0, 2], name="truss"
    )
    scene.add(sp.FixedAxes(body, [1], axes="y"))
    scene.add(sp.Load(body.points([1]), (0.3, 0, -10.0)))
    found = sp.equilibrium_path(scene.compile(), load_steps=12)
    return {"loads": found.loads, "limits": found.limit_loads, "lengths": found.lengths, "at": found.positions("truss")}


@recorded.case
def stable() -> Values:
    found: dict[str, Any] = {}
    for kind in ("fem", "particles"):
        system = loaded(kind).compile()
        found[kind] = stable_step(system, system.initial_state(), safety=0.83)
    return found


@recorded.case(rtol=1e-6)
def growth() -> Values:
    scene = sp.Scene()
    X = [(0, 0, 0), (0.1, 0.01, 0), (0.21, 0.0, 0.02)]
    node = scene.add(sp.Particles(X, [0.1, 0.2, 0.3], springs=[(0, 1), (1, 2)], stiffness=[100.0, 130.0]), name="rod")
    scene.add(sp.Load(node.points([0, 2]), [(9.0, 0, 0), (-9.0, 0, 0)]))
    system = scene.compile()
    return {"rate": fastest_growth(system, system.initial_state())}


@recorded.case(rtol=1e-5)
def settled() -> Values:
    scene, _ = hanging("fem")
    found = sp.settle(scene, dt=0.02, tolerance=1e-6)
    return {"state": found.system.difference(found.system.x0, found.state.x), "steps": found.steps, "time": found.time}


MIXES = {
    "lattice and tree": ("voxel", "tree"),
    "tree and fem": ("tree", "fem"),
    "lattice and rigid": ("voxel", "rigid"),
    "floating and layered": ("floating", "layered"),
    "all": ("fem", "rigid", "tree", "voxel", "floating"),
}


@recorded.over(MIXES, rtol=1e-6)
def mixed(kinds: tuple[str, ...]) -> Values:
    """Bodies of several kinds in a row, joined by springs, with wind and a load."""
    scene = sp.Scene(gravity=GRAVITY)
    nodes = []
    for k, kind in enumerate(kinds):
        turn = (0.3 * k, 0.1, 0.2)
        nodes.append(
            scene.add(
                BODIES[kind](), at=(0.45 * k, 0.1 * k, 0.3), rotation=turn, velocity=(0.1, 0.1 * k, 0), name=f"b{k}"
            )
        )
    for a, b in pairwise(nodes):
        ends = [n.points(at=n.rest[:2] * 0.999 + 0.0005) for n in (a, b)]
        scene.add(sp.Springs(*ends, [50.0, 80.0], [0.2, 0.4]))
    scene.add(sp.Wind(velocity=(2.0, -1.0, 0.5), modes=6, seed=3))
    return moved(scene, steps=3, dt=0.005)


test_recorded = recorded.test()
