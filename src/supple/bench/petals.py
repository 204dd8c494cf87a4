"""contact/petals: hail on the petals of a flower, one thread.

250 balls of 3 mm lie on the five petals of the flower, a tree of twelve domains and 240 coordinates. They hold by
friction and bend the petals under them, so that every ball feels every other one through the tree.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from supple.bench.row import Row, at_most, measured, threads
from supple.bodies.particles import Particles
from supple.bodies.tree import TreeBody
from supple.contact import Contact
from supple.examples.shapes import flower
from supple.scene.scene import Scene
from supple.solvers import Partitioned

Array = np.ndarray
CASE = "contact/petals"
COUNT, RADIUS, MASS = 250, 0.003, 5e-5  # balls, [m], [kg]
DT, SETTLE, STEPS = 0.01, 60, 100


def petals_scene(count: int = COUNT) -> Scene:
    """The flower with balls on its petals, a tenth of their radius above them."""
    scene = Scene(gravity=(0, 0, -9.81), solver=Partitioned(DT))
    body = TreeBody(flower(), stiffness_damping=0.02, grown=True)
    scene.add(body, name="flower")
    scene.add(Particles(_places(body, count), MASS, radius=RADIUS), name="hail")
    scene.add(Contact(friction=0.8))
    return scene


def _places(body: TreeBody, count: int) -> Array:
    """Centres (count, 3) [m] of balls over the petals, each as far from the others as can be."""
    skin = body.skin
    X = skin.positions(body.rest_coordinates)
    names = [d.name for d in body.model.domain_tree.domains]
    petals = [k for k, name in enumerate(names) if name.startswith("petal")]
    corners = X[skin.triangles[np.isin(skin.domain[skin.triangles], petals).all(axis=1)]]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    share = np.array([(a, b, 1 - a - b) for a, b in ((1 / 3, 1 / 3), (0.6, 0.2), (0.2, 0.6), (0.2, 0.2))])
    up = normal[:, 2] > 0.85
    places = np.einsum("sc,tci->tsi", share, corners[up]) + 1.1 * RADIUS * normal[up, None]
    return _spread(places.reshape(-1, 3), count)


def _spread(places: Array, count: int) -> Array:
    """So many of the places, each the farthest from those before."""
    chosen = [0]
    distance = np.linalg.norm(places - places[0], axis=1)
    while len(chosen) < count:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return places[chosen]


def run_petals() -> list[Row]:
    """Mean time of a step while the balls lie."""
    scene = petals_scene()
    system, solver = scene.compile(), scene.solver
    assert solver is not None
    state, times, iterations, contacts = system.initial_state(), [], [], []
    with threads(1):
        for step in range(SETTLE + STEPS):
            start = perf_counter()
            report = solver.step(system, state)
            if step >= SETTLE:
                times.append(perf_counter() - start)
                iterations.append(report.iterations)
                contacts.append(len(system.contacts[0].touching(state.memory).force))
    return [
        at_most(CASE, f"step_time, {COUNT} balls", 1e3 * float(np.mean(times)), 15.0, unit="ms", threads=1),
        measured(CASE, "contacts", float(np.mean(contacts)), unit="-", threads=1),
        measured(CASE, "iterations a step", float(np.mean(iterations)), unit="-", threads=1),
    ]


CASES = {CASE: run_petals}
