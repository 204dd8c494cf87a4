"""Trees of reduced deformable domains."""

from supple.bodies.tree.body import TreeBody
from supple.bodies.tree.changes import replaced, retuned
from supple.bodies.tree.detach import BrokenTree, detach
from supple.bodies.tree.domains.budget import ModeBudget
from supple.bodies.tree.domains.domain_tree import Domain, DomainInterface, DomainTemplate, DomainTree
from supple.bodies.tree.domains.instances import Mount, attach, interface_at
from supple.bodies.tree.dynamics import OneWayWarning, TreeDynamics, TreeSettings, TreeState
from supple.bodies.tree.kinematics import TreeKinematics, TreeMeasures, TreeMotion
from supple.bodies.tree.linearized import LinearizedTree
from supple.bodies.tree.model import ReducedTemplate, TreeModel
from supple.bodies.tree.surface.point_springs import PointSprings

__all__ = [
    "BrokenTree",
    "Domain",
    "DomainInterface",
    "DomainTemplate",
    "DomainTree",
    "LinearizedTree",
    "ModeBudget",
    "Mount",
    "OneWayWarning",
    "PointSprings",
    "ReducedTemplate",
    "TreeBody",
    "TreeDynamics",
    "TreeKinematics",
    "TreeMeasures",
    "TreeModel",
    "TreeMotion",
    "TreeSettings",
    "TreeState",
    "attach",
    "detach",
    "interface_at",
    "replaced",
    "retuned",
]
