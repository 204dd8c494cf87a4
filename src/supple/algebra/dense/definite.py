"""Symmetric matrices made definite."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def negative_part(K: Array) -> Array:
    """The negative semi-definite part of the symmetric part of K."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    return (vectors * np.minimum(values, 0.0)) @ vectors.T
