"""Files of VoxCAD, evosoro and voxcraft."""
