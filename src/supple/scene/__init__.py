"""The scene graph: what a person writes, and the system it compiles to."""

from supple.scene.acting.filters import FixedAxes, FixedPoints, PrescribedMotion, SlidingPlane
from supple.scene.acting.loads import Load, Pressure, Springs
from supple.scene.acting.time_functions import RampInTime, SineInTime, TableInTime
from supple.scene.acting.wind import Wind
from supple.scene.acting.wrench import Wrench
from supple.scene.derivatives import check_derivatives
from supple.scene.joints.joints import BallJoint, FixedJoint, HingeJoint, SliderJoint
from supple.scene.mapped.points import World, join
from supple.scene.node import Node
from supple.scene.scene import Scene
from supple.scene.state import State
from supple.scene.system import System

__all__ = [
    "BallJoint",
    "FixedAxes",
    "FixedJoint",
    "FixedPoints",
    "HingeJoint",
    "Load",
    "Node",
    "PrescribedMotion",
    "Pressure",
    "RampInTime",
    "Scene",
    "SineInTime",
    "SliderJoint",
    "SlidingPlane",
    "Springs",
    "State",
    "System",
    "TableInTime",
    "Wind",
    "World",
    "Wrench",
    "check_derivatives",
    "join",
]
