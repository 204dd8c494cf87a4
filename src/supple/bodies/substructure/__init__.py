"""Trees of reduced deformable domains."""

from supple.bodies.substructure.blueprint import Blueprint, Domain, DomainKind, Port
from supple.bodies.substructure.budget import ModeBudget
from supple.bodies.substructure.cut_automatic import automatic_labels
from supple.bodies.substructure.decompose import Decomposition, cut, decompose
from supple.bodies.substructure.decompose_files import load_blueprint, save_blueprint
from supple.bodies.substructure.decompose_surface import decompose_surface
from supple.bodies.substructure.instances import Mount, attach, port_at

__all__ = [
    "Blueprint",
    "Decomposition",
    "Domain",
    "DomainKind",
    "ModeBudget",
    "Mount",
    "Port",
    "attach",
    "automatic_labels",
    "cut",
    "decompose",
    "decompose_surface",
    "load_blueprint",
    "port_at",
    "save_blueprint",
]
