"""What voxels touch: obstacles, surfaces, each other, fluid."""
