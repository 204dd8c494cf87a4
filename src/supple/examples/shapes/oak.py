"""oak: a young oak of 41 branches in five classes and 1394 leaves of one class [BZ11, section 5].

Copies of a class share mesh and modes and differ by place, rotation and scale. Trunk, limbs, boughs, twigs and leaves
are five levels. Up is z; the trunk is held at the ground.
"""

from __future__ import annotations

import numpy as np

from supple.bodies.tree.domains.domain_tree import Domain, DomainTree
from supple.errors import InputError
from supple.examples.shapes.oak_branch import BranchShape, Fork, branch
from supple.examples.shapes.oak_leaf import leaf
from supple.material import Material

LEAVES, SEED = 1394, 11
WOOD = Material(young=1.5e8, poisson=0.3, density=700, stiffness_damping=0.002, name="wood", colour="#7d5f45")
GREEN_WOOD = Material(young=8e7, poisson=0.3, density=700, stiffness_damping=0.002, name="green wood", colour="#8c7150")


def _forks(*rows: tuple[float, float, float]) -> tuple[Fork, ...]:
    """Ports `fork 1`, `fork 2`, ... from rows of place [-], direction around and angle [degrees]."""
    return tuple(Fork(f"fork {k + 1}", place, *np.radians(row)) for k, (place, *row) in enumerate(rows))


TRUNK = BranchShape(
    0.95,
    (0.075, 0.052),
    0.04,
    _forks((0.66, 20, 72), (0.74, 150, 66), (0.82, 265, 62), (0.9, 75, 50), (0.94, 200, 45), (1.0, 320, 14)),
    flare=0.5,
    seed=3,
)
LIMB = BranchShape(
    0.72, (0.036, 0.019), 0.07, _forks((0.4, 60, 52), (0.68, 230, 50), (1.0, 90, 14)), leaves=14, bare=0.45, seed=5
)
BOUGH = BranchShape(0.6, (0.02, 0.008), 0.09, _forks((0.3, 100, 52), (0.55, 280, 50)), leaves=46, bare=0.2, seed=8)
CROOKED_BOUGH = BranchShape(0.55, (0.02, 0.008), 0.14, _forks((0.45, 30, 55)), leaves=46, bare=0.2, seed=13)
TWIG = BranchShape(0.46, (0.011, 0.005), 0.1, (), leaves=44, bare=0.15, seed=21)
LIMB_SCALES = (1.0, 1.0, 0.95, 0.95, 0.9, 0.8)  # from the lowest limb to the one that goes on upward
TWIGS = 16


def oak(*, leaves: int = LEAVES, branch_modes: int = 20, leaf_modes: int = 8) -> DomainTree:
    """The tree. leaves: how many of the interfaces for leaves are used, chosen at random but always alike."""
    shapes = {"trunk": TRUNK, "limb": LIMB, "bough": BOUGH, "crooked bough": CROOKED_BOUGH, "twig": TWIG}
    kinds = {
        name: branch(name, shape, WOOD if name in ("trunk", "limb") else GREEN_WOOD, branch_modes)
        for name, shape in shapes.items()
    }
    kinds["leaf"] = leaf(leaf_modes)
    random = np.random.default_rng(SEED)
    domains = [Domain("trunk", name="trunk")]
    for k, scale in enumerate(LIMB_SCALES):
        domains.append(Domain("limb", 0, f"fork {k + 1}", scale, name=f"limb {k + 1}"))
    for limb in range(1, 1 + len(LIMB_SCALES)):
        for kind, interface in (("bough", "fork 1"), ("crooked bough", "fork 2"), ("bough", "fork 3")):
            scale = domains[limb].scale * random.uniform(0.85, 1.1)
            domains.append(Domain(kind, limb, interface, scale, name=f"{kind} {len(domains)}"))
    boughs = [
        (b, f) for b, d in enumerate(domains) for f in kinds[d.kind].interfaces if "bough" in d.kind and "fork" in f
    ]
    for b, interface in sorted(boughs[k] for k in random.permutation(len(boughs))[:TWIGS]):
        scale = domains[b].scale * random.uniform(0.85, 1.1)
        domains.append(Domain("twig", b, interface, scale, name=f"twig {len(domains)}"))
    return DomainTree(kinds, [*domains, *_leaves(domains, kinds, leaves, random)])


def _leaves(domains: list[Domain], kinds: dict, count: int, random: np.random.Generator) -> list[Domain]:
    """Leaves on `count` of the interfaces for them, of sizes that differ a little."""
    places = [
        (b, interface)
        for b, d in enumerate(domains)
        for interface in kinds[d.kind].interfaces
        if interface.startswith("leaf")
    ]
    if not 0 <= count <= len(places):
        raise InputError("the oak has no such number of leaves", value=count, allowed=f"0 to {len(places)}")
    chosen = sorted(places[k] for k in random.permutation(len(places))[:count])
    scales = random.uniform(0.75, 1.15, count)
    return [
        Domain("leaf", b, interface, float(s), name=f"leaf {k + 1}")
        for k, ((b, interface), s) in enumerate(zip(chosen, scales))
    ]
