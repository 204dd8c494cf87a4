"""Exports: a run as files for other programs and for people."""

from supple.exports import plot
from supple.exports.export import FORMATS, export

__all__ = ["FORMATS", "export", "plot"]
