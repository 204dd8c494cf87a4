"""contact/surfaces and contact/patch: finding contacts of large surfaces, one thread.

surfaces: two bumpy balls of 101,568 triangles each, pressed flat against each other over about 1 % of them.
patch: two cubes of 1e4 to 1e6 vertices with elements of one size, in contact over the same patch of 200 vertices; the
time beyond the refit must not grow with the bodies, the slowest against the fastest. It is measured twice: after other
work, as in a run, where a step lies between two searches, with the limit on this; and the same search again and again,
which a small body does with data and branches that the processor still holds of the last one, and a large one, whose
refit drives these out, does not.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.bench.row import Row, at_most, measured, threads
from supple.contact import ContactSurface, Detector
from supple.validation.contact import ball_surface

Array = np.ndarray
REPEATS = 60


def cube_sphere(cells: int) -> tuple[Array, Array]:
    """Unit ball of 12 cells² triangles: nodes (n, 3), triangles (m, 3) outward."""
    ball = ball_surface(cells)
    return ball.nodes, ball.triangles


def pressed(nodes: Array) -> Array:
    """The ball with bumps 1 mm high, pressed flat where x > 0.98 m: 1 % of its surface."""
    x, y, z = nodes.T
    return np.stack([np.minimum(x, 0.98) + 0.001 * np.sin(23 * y) * np.sin(31 * z), y, z], axis=1)


def best_times(
    detector: Detector, x: Array, v: Array, repeats: int = REPEATS, between: Callable[[], object] = lambda: None
) -> tuple[float, float, float]:
    """Best times of the refit, of the search after it, and of both [s]; what is done between is not counted."""
    times = []
    detector.find(x, v, 1e-3)
    for _ in range(repeats):
        between()
        start = perf_counter()
        detector.refit(x, v, 1e-3)
        middle = perf_counter()
        detector.search()
        times.append((middle - start, perf_counter() - middle, perf_counter() - start))
    return tuple(min(column) for column in zip(*times))  # type: ignore[return-value]


@compiled
def walk(numbers: Array) -> int:
    """A sum over numbers with branches that depend on them: what another part of a step leaves to a processor."""
    total = 0
    for i in range(len(numbers) - 2):
        if numbers[i] & 1:
            total += 3
            if numbers[i + 1] & 2:
                total ^= 5
        elif numbers[i + 2] & 4:
            total *= 3
        if total & 7 == 3:
            total += numbers[i]
    return total


def surfaces() -> list[Row]:
    """Time to find the contacts of two surfaces of 100,000 triangles."""
    case = "contact/surfaces"
    nodes, triangles = cube_sphere(92)
    ball = ContactSurface.of((pressed(nodes), triangles))
    surface = ContactSurface.joined([ball, ball])
    detector = Detector(surface, margin=0.005)
    x = np.concatenate([ball.rest, ball.rest * (-1.0, 1.0, -1.0) + (1.96, 0.005, 0.003)])
    v = np.zeros_like(x)
    v[len(nodes) :, 0] = -1.0
    with threads(1):
        refit, search, both = best_times(detector, x, v)
        pairs = detector.find(x, v, 1e-3)
    touched = np.zeros(surface.count, dtype=bool)
    touched[pairs.points[pairs.points >= 0]] = True
    near = 100 * touched[surface.triangles].any(axis=1).mean()
    return [
        at_most(case, f"find, 2 x {len(triangles)} triangles", 1e3 * both, 30.0, unit="ms", threads=1),
        measured(case, "of this the refit", 1e3 * refit, unit="ms", threads=1),
        measured(case, "of this the search", 1e3 * search, unit="ms", threads=1),
        measured(case, "contacts", pairs.size, unit="-", threads=1),
        measured(case, "triangles near the other surface", near, unit="%", threads=1),
    ]


def cubes(cells: int, size: float) -> tuple[ContactSurface, Array]:
    """Two cubes of equal elements of a size [m], and positions: a shallow bowl under the second touches the first."""
    nodes, triangles = cube_sphere(cells)
    cube = 2.0 / np.pi * cells * size * np.arctan(nodes / np.abs(nodes).max(axis=1)[:, None])
    body = ContactSurface.of((cube, triangles))
    upper = cube + size * np.array([0.31, 0.17, cells])
    square = (upper[:, :2] ** 2).sum(axis=1)
    upper[:, 2] += np.where(cube[:, 2] < 0, np.minimum(square / (60 * size), size), 0.0) - 0.05 * size
    return ContactSurface.joined([body, body]), np.concatenate([cube, upper])


def patch() -> list[Row]:
    """Time beyond the refit of a patch of 200 vertices on bodies of 1e4, 1e5 and 1e6 vertices."""
    case, rows, searches, later = "contact/patch", [], [], []
    memory, numbers = np.zeros(12_000_000), np.random.default_rng(0).integers(0, 8, 3_000_000)

    def other_work() -> None:
        memory.__iadd__(1.0)
        walk(numbers)

    other_work()
    for cells in (41, 129, 408):
        surface, x = cubes(cells, 0.01)
        detector, repeats = Detector(surface, margin=0.005, depth=0.005), REPEATS if cells < 400 else 20
        with threads(1):
            refit, search, _ = best_times(detector, x, np.zeros_like(x), repeats)
            later.append(best_times(detector, x, np.zeros_like(x), repeats, other_work)[1])
        found = detector.find(x).size
        searches.append(search)
        name = f"{surface.count // 2} vertices a body"
        rows += [
            measured(case, f"refit, {name}", 1e3 * refit, unit="ms", threads=1),
            measured(case, f"search, {name}, {found} contacts", 1e3 * search, unit="ms", threads=1),
            measured(case, f"the same after other work, {name}", 1e3 * later[-1], unit="ms", threads=1),
        ]
    growth = max(searches) / min(searches)
    after = max(later) / min(later)
    # Again and again, a small body's search finds data and branches that the processor still knows. After the refit of
    # a large one it knows them no more, which costs 0.3 ms whatever the size. After other work all begin alike.
    rows.append(at_most(case, "slowest over fastest search, after other work", after, 1.2, unit="-", threads=1))
    rows.append(measured(case, "the same, again and again", growth, unit="-", threads=1))
    return rows


CASES = {"contact/surfaces": surfaces, "contact/patch": patch}
