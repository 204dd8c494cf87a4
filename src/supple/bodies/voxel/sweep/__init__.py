"""The fused explicit sweep over bricks of voxels in SIMD lanes."""
