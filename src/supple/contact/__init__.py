"""Contact between surface points of any bodies, and with obstacles: found, resisted by a penalty, held by friction."""

from __future__ import annotations

from supple.contact.contact import Contact
from supple.contact.detect import Detector
from supple.contact.narrow.check import check_closed, crossing_triangles
from supple.contact.pairs import BALL_TRIANGLE, EDGE_EDGE, POINT_POINT, VERTEX_TRIANGLE, ContactPairs
from supple.contact.surface import ContactSurface
from supple.interaction.motion import Motion
from supple.interaction.obstacles import (
    Box,
    Capsule,
    Floor,
    HeightField,
    MeshObstacle,
    Obstacle,
    Plane,
    Sphere,
    distance,
)

__all__ = [
    "BALL_TRIANGLE",
    "EDGE_EDGE",
    "POINT_POINT",
    "VERTEX_TRIANGLE",
    "Box",
    "Capsule",
    "Contact",
    "ContactPairs",
    "ContactSurface",
    "Detector",
    "Floor",
    "HeightField",
    "MeshObstacle",
    "Motion",
    "Obstacle",
    "Plane",
    "Sphere",
    "check_closed",
    "crossing_triangles",
    "distance",
]
