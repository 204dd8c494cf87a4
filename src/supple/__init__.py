"""Supple: soft-body dynamics for Python. Names are loaded on first use, so that `import supple` stays light."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Material": "material",
    "TetMesh": "geometry",
    "HexMesh": "geometry",
    "SurfaceMesh": "geometry",
    "VoxelGrid": "geometry",
    "box_tets": "geometry",
    "box_hexes": "geometry",
    "cylinder_tets": "geometry",
    "sphere_tets": "geometry",
    "load_mesh": "geometry",
    "save_mesh": "geometry",
    "Actuation": "bodies.voxel",
    "Box": "contact",
    "Commands": "bodies.voxel",
    "Drive": "bodies.voxel",
    "Floor": "contact",
    "Fluid": "interaction.fluid",
    "HeightField": "contact",
    "MeshObstacle": "contact",
    "Motion": "contact",
    "Samples": "bodies.voxel",
    "Sphere": "contact",
    "FemBody": "bodies.fem",
    "FloatingBody": "bodies.floating",
    "LatticeSolver": "solvers",
    "Capsule": "contact",
    "Contact": "contact",
    "LayeredBody": "bodies.layered",
    "Plane": "contact",
    "VoxelBody": "bodies.voxel",
    "VoxelMaterial": "material",
    "DomainTree": "bodies.tree",
    "Domain": "bodies.tree",
    "DomainTemplate": "bodies.tree",
    "DomainInterface": "bodies.tree",
    "TreeModel": "bodies.tree",
    "TreeBody": "bodies.tree",
    "TreeSettings": "bodies.tree",
    "TreeSolver": "solvers",
    "RigidBody": "bodies.rigid",
    "Particles": "bodies.particles",
    "Scene": "scene",
    "Node": "scene",
    "World": "scene",
    "RampInTime": "scene",
    "SineInTime": "scene",
    "Springs": "scene",
    "TableInTime": "scene",
    "join": "scene",
    "State": "scene",
    "System": "scene",
    "Load": "scene",
    "Pressure": "scene",
    "BallJoint": "scene",
    "HingeJoint": "scene",
    "SliderJoint": "scene",
    "FixedJoint": "scene",
    "FixedPoints": "scene",
    "FixedAxes": "scene",
    "SlidingPlane": "scene",
    "PrescribedMotion": "scene",
    "Wind": "scene",
    "Wrench": "scene",
    "check_derivatives": "scene",
    "ImplicitEuler": "solvers",
    "Partitioned": "solvers",
    "Midpoint": "solvers",
    "Newmark": "solvers",
    "GeneralizedAlpha": "solvers",
    "SymplecticEuler": "solvers",
    "RungeKutta4": "solvers",
    "StrideSolver": "solvers",
    "Statics": "solvers",
    "ArcLength": "solvers",
    "equilibrium_path": "solvers",
    "solve_statics": "solvers",
    "vibration_modes": "solvers",
    "run": "running",
    "settle": "settling",
    "load": "files",
    "register_kind": "files",
    "save": "files",
    "export": "exports",
    "plot": "exports",
}

__all__ = [*sorted(_HOME), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'supple' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"supple.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
