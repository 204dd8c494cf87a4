"""Controllers of designs as plain data: `Network`, and signals that are the same on every processor."""

from supple.design.controllers.network import Network
from supple.design.controllers.waves import Waves

__all__ = ["Network", "Waves"]
