"""dragon: a winged creature with horns, spikes, legs and a long tail, forty domains in five levels [BZ11, section 5].

It looks along x and stands in z; left is +y. The body is the root and is held at its belly. Coordinates are shared out
by the logarithms of the numbers of tets; a domain is softer the farther it is from the body, and tips are softest.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from supple.bodies.tree.domains.domain_tree import DomainTree
from supple.examples.shapes.fields import Part, cone, ellipsoid, fill, part, plate, tube, united
from supple.examples.shapes.labelled import Labelled, share_modes, tree_depths
from supple.geometry import TetMesh
from supple.material import Material

Array = np.ndarray
CELL = 0.02815  # [m]
COORDINATES = 454
YOUNG, SOFTER = 3e6, 0.6  # [Pa] of the body; and times this for every level below it
DENSITY, WING_DENSITY = 1000.0, 300.0  # [kg/m³]
COLOURS = {"wing": "#c0674a", "spike": "#d9c27a", "horn": "#d9c27a"}
SOFT_TIPS = {"horn": 0.5, "ear": 0.3, "spike": 0.2, "jaw": 0.5, "tail tip": 0.5, "wing tip": 0.6}
BELLY = -0.13  # [m]: nodes of the body below this are held

NECK = np.array([[0.38, 0, 0.08], [0.52, 0, 0.2], [0.6, 0, 0.36], [0.62, 0, 0.52], [0.68, 0, 0.66]])
NECK_RADII = np.array([0.15, 0.115, 0.095, 0.085, 0.08])
TAIL = np.array(
    [
        [-0.36, 0, 0.0],
        [-0.55, 0, -0.06],
        [-0.74, 0.02, -0.13],
        [-0.93, 0.07, -0.18],
        [-1.12, 0.15, -0.19],
        [-1.3, 0.23, -0.15],
        [-1.46, 0.28, -0.06],
        [-1.56, 0.29, 0.06],
        [-1.6, 0.28, 0.17],
    ]
)
TAIL_RADII = np.array([0.17, 0.135, 0.11, 0.092, 0.078, 0.066, 0.055, 0.045, 0.036])
SHOULDER, ELBOW, WRIST = np.array([0.12, 0.1, 0.13]), np.array([0.2, 0.42, 0.52]), np.array([0.02, 0.85, 0.78])
FINGERS = np.array([[-0.38, 1.38, 0.62], [-0.48, 1.0, 0.33], [-0.46, 0.6, 0.2]])  # ends of the wing's fingers
MEMBRANE = 0.042  # [m], thickness
HAND = (MEMBRANE / 2 + 0.012, 0.022)  # [m], radii of a finger


def dragon_mesh(cell: float = CELL) -> tuple[TetMesh, Array, tuple[str, ...]]:
    """The whole dragon, the number of its domain for each tet (m,), and their names. cell: of the lattice [m]."""
    whole = _fill(cell)
    return whole.mesh, whole.labels, whole.names


def dragon(*, coordinates: int = COORDINATES, cell: float = CELL) -> DomainTree:
    """The dragon cut into its domains. coordinates: shared out over them. cell: size of the lattice [m]."""
    whole = _fill(cell)
    modes = share_modes(coordinates, np.bincount(whole.labels).tolist())
    depths = tree_depths(whole.parents)
    materials = []
    for name, depth in zip(whole.names, depths):
        tip = min([part for word, part in SOFT_TIPS.items() if word in name], default=1.0)
        density = WING_DENSITY if "wing" in name else DENSITY
        young = YOUNG * SOFTER ** (int(depth) - 1) * tip
        colour = next((c for word, c in COLOURS.items() if word in name), "#7a9e57")
        made = Material(young, 0.45, density, stiffness_damping=0.002, name=f"flesh of {name}", colour=colour)
        materials.append(made)
    body = np.unique(whole.mesh.tets[whole.labels == 0])
    return whole.cut(modes, materials, held=body[whole.mesh.nodes[body, 2] < BELLY])


@lru_cache(maxsize=2)
def _fill(cell: float) -> Labelled:
    return fill([*_trunk(), *_head(), *_wings(), *_legs(), *_spikes()], cell)


def _trunk() -> list[Part]:
    body = united(
        ellipsoid((0.2, 0, 0.03), (0.3, 0.2, 0.23)),
        ellipsoid((-0.18, 0, 0.0), (0.32, 0.17, 0.19)),
        cone((0.1, 0, -0.02), (-0.15, 0, -0.02), 0.18, 0.17),
    )
    found = [part("body", "", body), part("neck", "body", tube(NECK, NECK_RADII))]
    above = "body"
    for k, name in enumerate(("tail 1", "tail 2", "tail 3")):
        found.append(part(name, above, tube(TAIL[2 * k : 2 * k + 3], TAIL_RADII[2 * k : 2 * k + 3])))
        above = name
    end = TAIL[-1]
    barb = [end + d for d in np.array([[0.02, 0, -0.06], [0.1, -0.03, 0.02], [-0.02, 0, 0.2], [-0.14, 0.03, 0.02]])]
    return [*found, part("tail tip", above, united(tube(TAIL[6:], TAIL_RADII[6:]), plate(barb, 0.05)))]


def _head() -> list[Part]:
    skull = united(
        ellipsoid((0.76, 0, 0.74), (0.15, 0.105, 0.1)),
        cone((0.8, 0, 0.74), (1.0, 0, 0.69), 0.085, 0.055),
        *(ellipsoid((0.84, s * 0.065, 0.8), (0.055, 0.03, 0.035)) for s in (1, -1)),
        *(ellipsoid((1.02, s * 0.03, 0.725), (0.03, 0.02, 0.025)) for s in (1, -1)),
    )
    found = [
        part("head", "neck", skull),
        part("jaw", "head", cone((0.79, 0, 0.64), (0.97, 0, 0.565), 0.05, 0.034)),
    ]
    for side, s in (("left", 1), ("right", -1)):
        horn = np.array([[0.72, s * 0.05, 0.8], [0.62, s * 0.1, 0.91], [0.5, s * 0.13, 0.96], [0.4, s * 0.14, 0.95]])
        ear = [(0.73, s * 0.06, 0.77), (0.58, s * 0.2, 0.78), (0.52, s * 0.26, 0.72), (0.67, s * 0.06, 0.68)]
        found.append(part(f"horn {side}", "head", tube(horn, np.array([0.046, 0.04, 0.032, 0.022]))))
        found.append(part(f"ear {side}", "head", plate(ear, 0.046)))
    return found


def _wings() -> list[Part]:
    found = []
    for side, s in (("left", 1), ("right", -1)):
        flip = np.array([1.0, s, 1.0])
        shoulder, elbow, wrist, fingers = SHOULDER * flip, ELBOW * flip, WRIST * flip, FINGERS * flip
        hip = np.array([-0.02, 0.16, 0.13]) * flip
        root = np.array([0.1, 0.16, 0.17]) * flip
        inner, outer, tip = f"wing arm {side}", f"wing hand {side}", f"wing tip {side}"
        arm = united(
            tube(np.array([shoulder, elbow]), np.array([0.06, 0.045])),
            plate([root, elbow, fingers[2]], MEMBRANE),
            plate([root, fingers[2], hip], MEMBRANE),
        )
        hand = united(
            tube(np.array([elbow, wrist]), np.array([0.045, 0.038])),
            tube(np.array([wrist, fingers[1]]), np.array(HAND)),
            plate([elbow, wrist, fingers[1]], MEMBRANE),
            plate([elbow, fingers[1] * 0.97 + fingers[2] * 0.03, fingers[2]], MEMBRANE),
            tube(np.array([elbow, fingers[2]]), np.array(HAND)),
        )
        middle = wrist + 0.62 * (fingers[0] - wrist)
        end = united(
            tube(np.array([wrist, middle, fingers[0]]), np.array([0.038, 0.03, 0.02])),
            plate([wrist, fingers[0], fingers[1]], MEMBRANE),
        )
        found += [part(inner, "body", arm), part(outer, inner, hand), part(tip, outer, end)]
    return found


def _legs() -> list[Part]:
    found = []
    for side, s in (("left", 1), ("right", -1)):
        for place, x, thigh in (("front", 0.27, 0.085), ("hind", -0.22, 0.105)):
            knee = np.array([x - 0.02 if place == "front" else x + 0.09, s * 0.25, -0.27])
            ankle = np.array([x + 0.03 if place == "front" else x - 0.05, s * 0.26, -0.46])
            toe = ankle + np.array([0.15, s * 0.01, -0.035])
            upper, lower, foot = (f"{place} {what} {side}" for what in ("thigh", "shin", "foot"))
            thigh_top = np.array([x, s * 0.15, -0.06])
            found.append(part(upper, "body", tube(np.array([thigh_top, knee]), np.array([thigh, 0.065]))))
            found.append(part(lower, upper, tube(np.array([knee, ankle]), np.array([0.062, 0.045]))))
            heel, spread = ankle + np.array([0.03, 0, -0.02]), np.array([0, 0.06, 0])
            claws = [cone(heel, toe + k * spread, 0.042, 0.026) for k in (-1, 0, 1)]
            found.append(part(foot, lower, united(*claws, cone(ankle, heel, 0.05, 0.046))))
    return found


def _spikes() -> list[Part]:
    """Spikes along the back: three on the neck, four on the body, three on the tail."""
    found = []
    lean = np.array([-0.05, 0.0, 0.1])
    for k, (at, away) in enumerate(zip((1, 2, 3), ((-0.7, 0, 0.7), (-1, 0, 0.25), (-1, 0, 0.1)))):
        out = np.array(away) / np.linalg.norm(away)
        base = NECK[at] + 0.75 * NECK_RADII[at] * out
        found.append(part(f"spike neck {k + 1}", "neck", cone(base, base + 0.14 * out, 0.05, 0.018)))
    for k, (x, z) in enumerate(((0.26, 0.22), (0.09, 0.22), (-0.08, 0.165), (-0.25, 0.15))):
        base = np.array([x, 0.0, z])
        found.append(part(f"spike back {k + 1}", "body", cone(base, base + 1.4 * lean, 0.06, 0.018)))
    for k, (at, above) in enumerate(((1, "tail 1"), (3, "tail 2"), (5, "tail 3"))):
        base = TAIL[at] + np.array([0.0, 0.0, 0.7 * TAIL_RADII[at]])
        size = 1.0 - 0.12 * k
        found.append(part(f"spike tail {k + 1}", above, cone(base, base + 1.25 * size * lean, 0.055 * size, 0.018)))
    return found
