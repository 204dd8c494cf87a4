"""The area that a vertex stands for in a contact: a third of what faces the push of each triangle around it."""

from __future__ import annotations

import numpy as np
import pytest

from supple.contact.narrow.area_kernels import LEAST, compute_facing_areas


@pytest.mark.parametrize("tilt", [0.0, 0.4, -0.4])
def test_a_corner_stands_for_a_third_of_what_faces_the_push(tilt: float) -> None:
    """A corner of a cube with one triangle a side: the push onto the lower side sees that side alone; a tilted one sees
    two sides by the cosines of their normals; one tilted the other way sees the lower side alone, of which the side
    that faces away takes nothing; one from inside sees none, and counts LEAST of all."""
    x = np.array([[0.0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2]])  # outward: -z, -y, -x
    down, aside = 0.3 * 0.2 / 2, 0.3 * 0.1 / 2
    normal = np.array([[0.0, np.sin(tilt), np.cos(tilt)], [-1.0, -1.0, -1.0] / np.sqrt(3)])
    start, around = np.array([0, 3]), np.array([0, 1, 2])
    found = np.full(2, np.nan)
    compute_facing_areas(x, triangles, start, around, np.array([0, 0]), normal, found)
    whole = down + aside + 0.2 * 0.1 / 2
    expected = [(down * np.cos(tilt) + aside * max(0.0, np.sin(tilt))) / 3, LEAST * whole / 3]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
