"""Contact between surface points of any bodies, and with obstacles: found, resisted by a penalty, held by friction."""

from __future__ import annotations

from supple.contact.contact import Contact
from supple.contact.detect import Detector
from supple.contact.pairs import EDGE_EDGE, VERTEX_TRIANGLE, ContactPairs
from supple.contact.surface import ContactSurface

__all__ = ["EDGE_EDGE", "VERTEX_TRIANGLE", "Contact", "ContactPairs", "ContactSurface", "Detector"]
