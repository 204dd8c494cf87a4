"""Contact between surfaces of bodies: which features are near each other, and how far and along which normals."""

from supple.contact.check import check_closed, crossing_triangles
from supple.contact.detect import Detector
from supple.contact.obstacles import Capsule, Obstacle, distance
from supple.contact.pairs import EDGE_EDGE, VERTEX_TRIANGLE, ContactPairs
from supple.contact.surface import ContactSurface

__all__ = [
    "EDGE_EDGE",
    "VERTEX_TRIANGLE",
    "Capsule",
    "ContactPairs",
    "ContactSurface",
    "Detector",
    "Obstacle",
    "check_closed",
    "crossing_triangles",
    "distance",
]
