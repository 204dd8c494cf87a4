"""Materials: numbers with units."""

from supple.material.elastic import Law, Material

__all__ = ["Law", "Material"]
