"""voxel/scaling: speed per voxel of solid bodies of growing size, as [HL12, figure 6]."""

from __future__ import annotations

from supple.bench.row import Row, measured
from supple.validation.voxel.scaling import rates

CASE = "voxel/scaling"


def scaling() -> list[Row]:
    """Voxel-steps a second."""
    return [
        measured(CASE, f"rate, {'x'.join(map(str, shape))}", value, unit="voxel-steps/s", threads=1)
        for shape, value in rates().items()
    ]


CASES = {CASE: scaling}
