"""flower: a potted flower with a side stem, twelve domains in three levels [BZ11, section 5].

Everything grows from common nodes, as sweeps of hexes split into tets: pot and main stem (the root, held at the pot),
a bloom of a disc and five petals, two leaves, and a side stem with a bud and a leaf of its own. Up is z.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.bodies.tree.domains.domain_tree import DomainTree
from supple.examples.shapes.labelled import Labelled
from supple.geometry import TetMesh
from supple.geometry.generators.swept import HexSketch, bezier, placed_sections, round_profile, transported_frames
from supple.material import Material

Array = np.ndarray
MODES = 20
NAMES = (
    "main stem",
    "bloom",
    *(f"petal {k + 1}" for k in range(5)),
    "leaf left",
    "leaf right",
    "small stem",
    "small bloom",
    "small leaf",
)
PARENTS = (-1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 9, 9)
BLOOM, PETAL, LEAF, SMALL_STEM, SMALL_BLOOM, SMALL_LEAF = 1, 2, 7, 9, 10, 11
STEM = Material(young=6e7, poisson=0.4, density=900, stiffness_damping=0.002, name="stem", colour="#6aa84f")
GREEN = Material(young=1.5e6, poisson=0.4, density=700, stiffness_damping=0.002, name="leaf", colour="#57933f")
WHITE = Material(young=1e6, poisson=0.4, density=500, stiffness_damping=0.002, name="petal", colour="#f08fb4")
DISC = replace(STEM, name="disc", colour="#f0b93a")
POT_TOP, STEM_RADIUS = 0.09, 0.008  # [m]
STEM_LAYERS, SMALL_LAYERS, BUD_LAYERS = 30, 12, 9


@dataclass(frozen=True)
class Blade:
    """A leaf or petal. curve: control points (outward, upward) in lengths. outline: half widths, in half_width.

    length, half_width, half_thickness: [m]. fold: how far the sides stand up, in half_width. point: how far the tip
    stands out, in lengths. layers: along it.
    """

    length: float
    half_width: float
    half_thickness: float
    curve: tuple[tuple[float, float], ...]
    outline: tuple[float, ...]
    fold: float
    point: float
    layers: int


PETAL_SHAPE = Blade(
    0.085,
    0.026,
    0.0035,
    ((0, 0), (0.4, 0.05), (0.75, 0.3), (1.0, 0.25)),
    (0.3, 0.5, 0.85, 1.0, 0.95, 0.55),
    0.15,
    0.05,
    13,
)
LEAF_SHAPE = Blade(
    0.16,
    0.034,
    0.0035,
    ((0, 0), (0.25, 0.25), (0.65, 0.6), (1.0, 0.2)),
    (0.14, 0.16, 0.6, 0.95, 1.0, 0.84, 0.52, 0.1),
    0.3,
    0.012,
    13,
)
SMALL_LEAF_SHAPE = replace(LEAF_SHAPE, length=0.09, half_width=0.02, half_thickness=0.0025, layers=11)


def flower_mesh() -> tuple[TetMesh, Array, tuple[str, ...]]:
    """The whole flower, the number of its domain for each tet (m,), and the names of the domains."""
    whole, _ = _grow()
    return whole.mesh, whole.labels, whole.names


def flower(*, modes: int = MODES) -> DomainTree:
    """The flower cut into its twelve domains, each with `modes` coordinates.

    >>> flower().coordinate_count
    240
    """
    whole, held = _grow()
    soft = {BLOOM: DISC, SMALL_STEM: STEM, SMALL_BLOOM: WHITE} | {PETAL + k: WHITE for k in range(5)}
    materials = [STEM, *(soft.get(d, GREEN) for d in range(1, len(NAMES)))]
    return whole.cut([modes] * len(NAMES), materials, held=held)


def _grow() -> tuple[Labelled, Array]:
    """The labelled whole, and the nodes of the pot."""
    sketch = HexSketch()
    pot, start = _pot(sketch)
    curve = bezier(
        [(0, 0, POT_TOP), (0.01, 0, 0.2), (-0.025, 0, 0.35), (0.015, 0, 0.5)], np.linspace(0, 1, STEM_LAYERS + 1)
    )
    stem = _stem(sketch, start, curve, (STEM_RADIUS, 0.75 * STEM_RADIUS), 0)
    _bloom(sketch, stem[-1], curve[-1], curve[-1] - curve[-2])
    up = np.array([0.0, 0.0, 1.0])
    _blade(sketch, stem[4:7, :, -1].T, LEAF, LEAF_SHAPE, np.array([0.3, 1.0, 0.0]), up)
    _blade(sketch, stem[9:12, 0, :].T, LEAF + 1, LEAF_SHAPE, np.array([-1.0, -0.3, 0.0]), up)
    _small_stem(sketch, stem[13:17, -1, :])
    mesh, labels = sketch.to_tets()
    return Labelled(mesh, labels, NAMES, PARENTS), np.unique(pot)


def _pot(sketch: HexSketch) -> tuple[Array, Array]:
    """A pot full of earth, seven cells across with a rim; its nodes, and those where the stem starts, (4, 4)."""
    profile = round_profile(7, 0.9)
    height = np.array([0.0, 0.061, 0.066, POT_TOP])
    radius = np.array([0.042, 0.057, 0.066, 0.068])
    points = np.empty((4, 8, 8, 3))
    points[..., :2] = radius[:, None, None, None] * profile
    points[..., 2] = height[:, None, None]
    inner = points[-1, 2:6, 2:6, :2]
    inner[:] = STEM_RADIUS * 1.3 * round_profile(3)
    points[-1, 1:-1, 1:-1, 2] -= 0.006  # the earth lies below the rim
    points[-1, 2:6, 2:6, 2] = POT_TOP
    grid = sketch.add_nodes(points)
    sketch.add_hexes(grid, 0)
    return grid, grid[-1, 2:6, 2:6]


def _stem(sketch: HexSketch, base: Array, curve: Array, radii: tuple[float, float], label: int) -> Array:
    """A tapering stem from base nodes (4, 4) along a curve (n, 3); its grid of nodes."""
    frames = transported_frames(curve, _across(sketch, base))
    radius = np.linspace(*radii, len(curve))[:, None, None, None]
    sections = placed_sections(curve, frames, radius * round_profile(3))
    return sketch.sweep(base, _oriented(sketch, base, sections)[1:], label)


def _across(sketch: HexSketch, base: Array) -> Array:
    x = sketch.nodes[base]
    return (x[-1] - x[0]).mean(axis=0)


def _oriented(sketch: HexSketch, base: Array, sections: Array) -> Array:
    """Sections with their second axis turned round where it runs against that of the base."""
    x = sketch.nodes[base]
    over, ours = (x[:, -1] - x[:, 0]).mean(axis=0), (sections[1, :, -1] - sections[1, :, 0]).mean(axis=0)
    return sections if over @ ours > 0 else sections[:, :, ::-1]


def _bloom(sketch: HexSketch, top: Array, at: Array, along: Array) -> None:
    """A disc five cells across on the stem's last nodes (4, 4), with a petal on three of every four cells around it."""
    frame = transported_frames(np.array([at, at + along]), _across(sketch, top))[0]
    disc, rim = _pentagonal_disc()
    size = np.array([0.02, 0.025, 0.021])[:, None, None, None]
    dome = 1 - (disc**2).sum(axis=-1)
    height = np.stack([0.002 + 0 * dome, 0.008 + 0.003 * dome, 0.013 + 0.012 * dome])
    profile = np.concatenate([size * disc, height[..., None]], axis=-1)
    sections = placed_sections(np.repeat(at[None], 3, axis=0), np.repeat(frame[None], 3, axis=0), profile)
    grid = sketch.add_nodes(_oriented(sketch, top, sections))
    grid[0, 1:5, 1:5] = top
    sketch.add_hexes(grid, BLOOM)
    around = grid[:, rim[:, 0], rim[:, 1]]
    for k in range(5):
        base = around[:, 4 * k : 4 * k + 4].T
        out = sketch.nodes[base].mean(axis=(0, 1)) - at
        out = out - (out @ frame[2]) * frame[2]
        _blade(sketch, base, PETAL + k, PETAL_SHAPE, out, frame[2])


def _pentagonal_disc() -> tuple[Array, Array]:
    """A disc of 5 x 5 cells, (6, 6, 2), and its rim, (20, 2), of five times three long cells and a short one."""
    disc = round_profile(5, 1.0)
    k = np.arange(5)
    rim = np.concatenate(
        [np.stack(pair, axis=1) for pair in ((0 * k, k), (k, 0 * k + 5), (0 * k + 5, 5 - k), (5 - k, 0 * k))]
    )
    place = disc[rim[:, 0], rim[:, 1]]
    angle = np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
    long, short = np.radians(17), np.radians(21)
    wanted = np.cumsum(np.r_[0.0, np.tile([long, long, long, short], 5)[:-1]]) * np.sign(angle[-1] - angle[0])
    wanted += (angle - wanted).mean()
    here, radius = np.arctan2(disc[..., 1], disc[..., 0]), np.linalg.norm(disc, axis=-1, keepdims=True)
    turned = here + np.interp(here, angle, wanted - angle, period=2 * np.pi)
    return radius * np.stack([np.cos(turned), np.sin(turned)], axis=-1), rim


def _blade(sketch: HexSketch, base: Array, label: int, shape: Blade, out: Array, up: Array) -> None:
    """A leaf or petal from base nodes (4, 3), across and over, growing outward and up."""
    start, out, up = sketch.nodes[base].mean(axis=(0, 1)), out / np.linalg.norm(out), up / np.linalg.norm(up)
    t = np.linspace(0.0, 1.0, shape.layers + 1)
    control = [start + shape.length * (x * out + z * up) for x, z in shape.curve]
    curve = bezier(control, t)
    frames = transported_frames(curve, _across(sketch, base))
    width = shape.half_width * np.interp(t, np.linspace(0, 1, len(shape.outline)), shape.outline)
    thick = shape.half_thickness * (1.0 - 0.6 * t)
    u, v = np.linspace(-1, 1, base.shape[0])[:, None], np.linspace(-1, 1, base.shape[1])[None, :]
    profile = np.zeros((len(t), *base.shape, 3))
    profile[..., 0] = width[:, None, None] * u
    profile[..., 1] = thick[:, None, None] * v * _sense(sketch, base, frames[0])
    lift = (shape.fold * shape.half_width * np.minimum(1.0, 4 * t) * (1 - t**2))[:, None, None] * (u**2 - 0.4)
    profile[..., 1] += lift * np.sign(frames[0, 1] @ up)
    profile[..., 2] = -(shape.point * shape.length * t**2)[:, None, None] * u**2
    sketch.sweep(base, placed_sections(curve, frames, profile)[1:], label)


def _sense(sketch: HexSketch, base: Array, frame: Array) -> float:
    """1 where the base's second axis runs along the frame's, -1 where it runs against it."""
    x = sketch.nodes[base]
    return float(np.sign((x[:, -1] - x[:, 0]).mean(axis=0) @ frame[1]))


def _small_stem(sketch: HexSketch, base: Array) -> None:
    """A side stem from nodes (4, 4) of the main stem's side, with a bud at its end and a leaf."""
    start = sketch.nodes[base].mean(axis=(0, 1))
    control = start + np.array([[0, 0, 0], [0.05, 0, 0.005], [0.09, 0, 0.03], [0.1, 0, 0.115]])
    curve = bezier(control, np.linspace(0, 1, SMALL_LAYERS + 1))
    stem = _stem(sketch, base, curve, (0.0055, 0.0045), SMALL_STEM)
    tangent = curve[-1] - curve[-2]
    t = np.linspace(0, 1, BUD_LAYERS + 1)
    line = curve[-1] + 0.055 * t[:, None] * tangent / np.linalg.norm(tangent)
    frames = transported_frames(line, _across(sketch, stem[-1]))
    radius = np.interp(t, [0, 0.15, 0.35, 0.6, 0.85, 1.0], [0.0045, 0.011, 0.0165, 0.0145, 0.0075, 0.003])
    bud = placed_sections(line, frames, radius[:, None, None, None] * round_profile(3))
    sketch.sweep(stem[-1], _oriented(sketch, stem[-1], bud)[1:], SMALL_BLOOM)
    leaf = stem[SMALL_LAYERS // 2 : SMALL_LAYERS // 2 + 3]
    for face in (leaf[:, :, 0], leaf[:, :, -1], leaf[:, 0], leaf[:, -1]):
        out = sketch.nodes[face].mean(axis=(0, 1)) - sketch.nodes[leaf].mean(axis=(0, 1, 2))
        if out[1] / np.linalg.norm(out) < -0.8:  # the side that looks to the front
            _blade(sketch, face.T, SMALL_LEAF, SMALL_LEAF_SHAPE, out, np.array([0.0, 0.0, 1.0]))
            return
