"""VoxCAD files: scenes and objects of VoxCAD, evosoro and voxcraft, as records and voxel bodies."""

from supple.files.voxcad.body import voxcad_body, voxcad_held, voxcad_loads, voxcad_planes
from supple.files.voxcad.reader import load_voxcad
from supple.files.voxcad.record import (
    BoundaryRegion,
    RegionShape,
    StopKind,
    VoxcadEnvironment,
    VoxcadFile,
    VoxcadSimulator,
)
from supple.files.voxcad.scene import voxcad_notes, voxcad_scene, voxcad_settings
from supple.files.voxcad.writer import save_voxcad
from supple.files.voxcad.xml import UnreadTag

__all__ = [
    "BoundaryRegion",
    "RegionShape",
    "StopKind",
    "UnreadTag",
    "VoxcadEnvironment",
    "VoxcadFile",
    "VoxcadSimulator",
    "load_voxcad",
    "save_voxcad",
    "voxcad_body",
    "voxcad_held",
    "voxcad_loads",
    "voxcad_notes",
    "voxcad_planes",
    "voxcad_scene",
    "voxcad_settings",
]
