"""Trees of reduced deformable domains."""

from supple.bodies.tree.body import TreeBody
from supple.bodies.tree.changes import replaced, retuned
from supple.bodies.tree.detach import BrokenTree, detach
from supple.bodies.tree.domains.budget import ModeBudget
from supple.bodies.tree.domains.domain_tree import Blueprint, Domain, DomainKind, Port
from supple.bodies.tree.domains.instances import Mount, attach, port_at
from supple.bodies.tree.dynamics import OneWayWarning, SubstructureTree, TreeSettings, TreeState
from supple.bodies.tree.kinematics import TreeKinematics, TreeMeasures, TreeMotion
from supple.bodies.tree.linearized import LinearizedTree
from supple.bodies.tree.model import DomainClass, SubstructureModel
from supple.bodies.tree.surface.point_springs import PointSprings
from supple.bodies.tree.tied import LinkedTrees, Loads
from supple.bodies.tree.ties import Anchor, Tie, WorldAnchor

__all__ = [
    "Anchor",
    "Blueprint",
    "BrokenTree",
    "Domain",
    "DomainClass",
    "DomainKind",
    "LinearizedTree",
    "LinkedTrees",
    "Loads",
    "ModeBudget",
    "Mount",
    "OneWayWarning",
    "PointSprings",
    "Port",
    "SubstructureModel",
    "SubstructureTree",
    "Tie",
    "TreeBody",
    "TreeKinematics",
    "TreeMeasures",
    "TreeMotion",
    "TreeSettings",
    "TreeState",
    "WorldAnchor",
    "attach",
    "detach",
    "port_at",
    "replaced",
    "retuned",
]
