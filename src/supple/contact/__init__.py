"""Contact between surfaces of bodies: which features are near each other, and how far and along which normals."""

from supple.contact.detect import Detector
from supple.contact.pairs import EDGE_EDGE, VERTEX_TRIANGLE, ContactPairs
from supple.contact.surface import ContactSurface

__all__ = ["EDGE_EDGE", "VERTEX_TRIANGLE", "ContactPairs", "ContactSurface", "Detector"]
