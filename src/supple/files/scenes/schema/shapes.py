"""Shapes in a scene file: generated, read from a file, or written out as arrays; with named regions."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from supple.files.scenes.section import Section, complaint
from supple.files.scenes.values import IndexRows, Name, Number, Numbers, Positions, Vector


class BoxMesh(Section):
    """A box from x = 0, centred in y and z. size: edges [m]. cells: along x, y, z."""

    size: Vector
    cells: Numbers


class CylinderMesh(Section):
    """A cylinder on z = 0 along z. radius, height [m]. cells: along radius and height."""

    radius: Number
    height: Number
    cells: Numbers


class SphereMesh(Section):
    """A ball around the origin. radius [m]. cells: along the radius."""

    radius: Number
    cells: int


class RegionArrays(Section):
    """A named part of a mesh, by numbers of nodes, elements, and nodes of boundary faces."""

    nodes: Numbers | None = None
    elements: Numbers | None = None
    faces: IndexRows | None = None


class Mesh(Section):
    """A solid mesh: one of box, cylinder, sphere, file, or nodes with tets or hexes."""

    box: BoxMesh | None = None
    cylinder: CylinderMesh | None = None
    sphere: SphereMesh | None = None
    elements: Literal["tet", "hex"] | None = None
    file: Name | None = None
    nodes: Positions | None = None
    tets: IndexRows | None = None
    hexes: IndexRows | None = None
    regions: dict[str, RegionArrays] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        source = self.choose("box", "cylinder", "sphere", "file", "nodes")
        if source == "nodes":
            self.choose("tets", "hexes")
        elif self.choose("tets", "hexes", needed=False):
            raise complaint("'tets' and 'hexes' need 'nodes'")
        if self.elements is not None and source in ("file", "nodes"):
            raise complaint("'elements' is for box, cylinder and sphere")
        return self


class BoxShape(Section):
    """A solid box around its centre. size: edges [m]."""

    size: Vector


class SphereShape(Section):
    """A solid ball around its centre. radius [m]."""

    radius: Number


class CylinderShape(Section):
    """A solid cylinder along z around its centre. radius, height [m]."""

    radius: Number
    height: Number


class Surface(Section):
    """A surface in body axes, the centre of mass at the origin: a file, or nodes with triangles."""

    file: Name | None = None
    nodes: Positions | None = None
    triangles: IndexRows | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        source = self.choose("file", "nodes")
        if (source == "nodes") != (self.triangles is not None):
            raise complaint("'nodes' and 'triangles' need each other")
        return self
