"""Trees of reduced deformable domains."""

from supple.bodies.substructure.blueprint import Blueprint, Domain, DomainKind, Port
from supple.bodies.substructure.body import TreeBody
from supple.bodies.substructure.budget import ModeBudget
from supple.bodies.substructure.changes import replaced, retuned
from supple.bodies.substructure.cut_automatic import automatic_labels
from supple.bodies.substructure.decompose import Decomposition, cut, decompose
from supple.bodies.substructure.decompose_files import load_blueprint, save_blueprint
from supple.bodies.substructure.decompose_surface import decompose_surface
from supple.bodies.substructure.detach import BrokenTree, detach
from supple.bodies.substructure.instances import Mount, attach, port_at
from supple.bodies.substructure.kinematics import TreeKinematics, TreeMeasures, TreeMotion
from supple.bodies.substructure.linearized import LinearizedTree
from supple.bodies.substructure.linked import LinkedTrees, Loads
from supple.bodies.substructure.model import DomainClass, SubstructureModel
from supple.bodies.substructure.point_springs import PointSprings
from supple.bodies.substructure.ties import Anchor, Tie, WorldAnchor
from supple.bodies.substructure.tree import OneWayWarning, SubstructureTree, TreeSettings, TreeState

__all__ = [
    "Anchor",
    "Blueprint",
    "BrokenTree",
    "Decomposition",
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
    "automatic_labels",
    "cut",
    "decompose",
    "decompose_surface",
    "detach",
    "load_blueprint",
    "port_at",
    "replaced",
    "retuned",
    "save_blueprint",
]
