"""Trees of reduced deformable domains."""

from supple.bodies.substructure.blueprint import Blueprint, Domain, DomainKind, Port
from supple.bodies.substructure.body import TreeBody
from supple.bodies.substructure.kinematics import TreeKinematics, TreeMeasures, TreeMotion
from supple.bodies.substructure.linearized import LinearizedTree
from supple.bodies.substructure.model import DomainClass, SubstructureModel
from supple.bodies.substructure.tree import OneWayWarning, SubstructureTree, TreeSettings, TreeState

__all__ = [
    "Blueprint",
    "Domain",
    "DomainClass",
    "DomainKind",
    "LinearizedTree",
    "OneWayWarning",
    "Port",
    "SubstructureModel",
    "SubstructureTree",
    "TreeBody",
    "TreeKinematics",
    "TreeMeasures",
    "TreeMotion",
    "TreeSettings",
    "TreeState",
]
