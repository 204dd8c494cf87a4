"""Trees of reduced deformable domains."""

from supple.bodies.substructure.blueprint import Blueprint, Domain, DomainKind, Port

__all__ = ["Blueprint", "Domain", "DomainKind", "Port"]
