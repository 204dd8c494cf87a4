"""The scene graph: what a person writes, and the system it compiles to."""

from supple.scene.constraints import Ball, FixedJoint, Hinge, Slider
from supple.scene.derivatives import check_derivatives
from supple.scene.filters import FixedAxes, FixedPoints, PrescribedMotion, SlidingPlane
from supple.scene.loads import Load, Pressure, Springs
from supple.scene.node import Node
from supple.scene.points import World, join
from supple.scene.scene import Scene
from supple.scene.state import State
from supple.scene.system import System
from supple.scene.time_functions import RampInTime, SineInTime, TableInTime
from supple.scene.wind import Wind
from supple.scene.wrench import Wrench

__all__ = [
    "Ball",
    "FixedAxes",
    "FixedJoint",
    "FixedPoints",
    "Hinge",
    "Load",
    "Node",
    "PrescribedMotion",
    "Pressure",
    "RampInTime",
    "Scene",
    "SineInTime",
    "Slider",
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
