"""Meshes of each kind of element, deformed at random, and their forces."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.elements.element_set import ElementSet
from supple.geometry import HexMesh, TetMesh, box_hexes, box_tets
from supple.material import Law, Material

LAWS = list(Law)


KINDS = ["tets", "hexes"]


SIZE = np.array([1.0, 0.8, 0.9])


STUFF = Material(young=2.0e5, poisson=0.32, density=900.0)


STEP = 1e-3
"""[m] Richardson's differences at 1e-3 of the body leave 1e-11 of truncation and 1e-12 of rounding."""


DIFFERENCED = 1e-8
"""Relative agreement with differences, ten times what was asked of the tangent and far above their error."""


ROUNDING = 1e-12
"""Sums of some hundred terms of the size of the largest force."""


all_laws = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.label)


all_kinds = pytest.mark.parametrize("kind", KINDS)


@cache
def mesh_of(kind: str) -> TetMesh | HexMesh:
    """A box of 3x3x3 cells whose inner nodes are out of place: irregular, with a boundary known in closed form."""
    regular = (box_tets if kind == "tets" else box_hexes)(size=SIZE, cells=(3, 3, 3))
    nodes = regular.nodes.copy()
    nodes[inner_nodes(nodes)] += np.random.default_rng(1).uniform(-0.07, 0.07, (8, 3))
    return type(regular)(nodes, regular.elements)


def inner_nodes(nodes: np.ndarray) -> np.ndarray:
    low, high = nodes.min(axis=0), nodes.max(axis=0)
    return np.flatnonzero(((nodes > low + 1e-9) & (nodes < high - 1e-9)).all(axis=1))


@cache
def elements_of(kind: str) -> ElementSet:
    mesh = mesh_of(kind)
    return ElementSet.make(mesh.nodes, mesh.elements, np.float64(STUFF.lam), np.float64(STUFF.mu))


def random_rotation(seed: int = 0) -> np.ndarray:
    return rotations.to_matrix(rotations.normalise(np.random.default_rng(seed).normal(size=4)))


def deformed(kind: str, seed: int = 0, amount: float = 0.05) -> np.ndarray:
    """A large stretch and turn of the whole, and a random part of each node: strains of 20 to 40 %."""
    rng = np.random.default_rng(seed)
    X = mesh_of(kind).nodes
    F = random_rotation(seed) @ (np.eye(3) + 0.15 * rng.uniform(-1, 1, (3, 3)))
    return X @ F.T + amount * rng.uniform(-1, 1, X.shape) + rng.normal(size=3)


def force_at(elements: ElementSet, law: Law, x: np.ndarray) -> np.ndarray:
    f = np.zeros_like(x)
    elements.add_force(law, x, f)
    return f


def tangent_at(elements: ElementSet, law: Law, x: np.ndarray, *, definite: bool = False) -> np.ndarray:
    """K = df/dx, dense (3n, 3n)."""
    rows, cols = elements.block_pattern()
    blocks = np.zeros((len(rows), 3, 3))
    elements.add_blocks(law, x, 1.0, np.arange(len(rows), dtype=np.int32), blocks, definite=definite)
    n = elements.node_count
    K = np.zeros((n, 3, n, 3))
    np.add.at(K, (rows, slice(None), cols), blocks)
    return K.reshape(3 * n, 3 * n)
