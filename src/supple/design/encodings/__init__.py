"""Encodings of bodies on a grid: cell by cell, by patterns of networks, by waves over a given body, with bones."""

from supple.design.encodings.bodies import design_of
from supple.design.encodings.bones import Bone, Bones
from supple.design.encodings.direct import Direct
from supple.design.encodings.encoding_protocol import BodyGrids, Encoding, VectorEncoding
from supple.design.encodings.network import Network
from supple.design.encodings.patterns import Patterns
from supple.design.encodings.plan import PHASE, STIFFNESS, BodyPlan, FieldRange
from supple.design.encodings.waves import Waves

__all__ = [
    "PHASE",
    "STIFFNESS",
    "BodyGrids",
    "BodyPlan",
    "Bone",
    "Bones",
    "Direct",
    "Encoding",
    "FieldRange",
    "Network",
    "Patterns",
    "VectorEncoding",
    "Waves",
    "design_of",
]
