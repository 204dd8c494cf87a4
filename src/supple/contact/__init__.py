"""Contact between surface points of any bodies, and with obstacles: found, resisted by a penalty, held by friction."""

from __future__ import annotations

from supple.contact.contact import Contact

__all__ = ["Contact"]
