"""The public check names each fault of a mapping."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.laws.mappings.implementers import MAPPINGS, RNG

from supple.bodies.mappings import FramePoints, FramePointsTangent
from supple.scene.derivatives import check_derivatives


@dataclass(frozen=True)
class Faulty:
    """Points on frames with one fault."""

    inner: FramePoints
    fault: str

    @property
    def count(self):
        return self.inner.count

    def apply(self, x):
        return self.inner.apply(x)

    def linearize(self, x):
        return FaultyTangent(self.inner.linearize(x), self.fault)


@dataclass(frozen=True)
class FaultyTangent:
    inner: FramePointsTangent
    fault: str

    def product(self, v):
        if self.fault == "body axes forgotten":
            return v[self.inner.mapping.frame, :3] + np.cross(v[self.inner.mapping.frame, 3:], self.inner.mapping.local)
        return self.inner.product(v)

    def add_transpose(self, f, f_out):
        if self.fault == "torque sign":
            m = self.inner.mapping
            flipped = replace(m, local=-m.local)
            return FramePointsTangent(flipped, self.inner.R).add_transpose(f, f_out)
        return self.inner.add_transpose(f, f_out)

    def bias(self, v):
        sign = {"no bias": 0.0, "bias sign": -1.0}.get(self.fault, 1.0)
        return sign * self.inner.bias(v)

    def add_geometric(self, f, dv, df_out, factor):
        sign = {"no geometric term": 0.0, "geometric sign": -1.0}.get(self.fault, 1.0)
        if self.fault == "symmetric part only":
            blocks = self.inner.geometric_blocks(f, definite=False)
            symmetric = (blocks + np.swapaxes(blocks, 1, 2)) / 2
            df_out[:, 3:] += factor * np.einsum("nij,nj->ni", symmetric, dv[:, 3:])
        else:
            self.inner.add_geometric(f, dv, df_out, sign * factor)


ADJOINT, GEOMETRIC = "<J d, f> = <d, J^T f>", "geometric d(J^T f)/dx"


MAPPING_FAULTS = {
    "none": set(),
    "body axes forgotten": {"J = dm/dx", ADJOINT},
    "torque sign": {ADJOINT, GEOMETRIC},
    "no bias": {"bias (dJ/dt) v"},
    "bias sign": {"bias (dJ/dt) v"},
    "no geometric term": {GEOMETRIC},
    "geometric sign": {GEOMETRIC},
    "symmetric part only": {GEOMETRIC},
}


@pytest.mark.parametrize("size", [1.0, 1e-3], ids=["metres", "millimetres"])
@pytest.mark.parametrize("fault", MAPPING_FAULTS)
def test_the_check_names_each_fault_of_a_mapping(fault, size):
    mapping, _, x = MAPPINGS["frame points"]
    small = replace(mapping, local=size * mapping.local)
    x = np.hstack([size * x[:, :3], x[:, 3:]])
    report = check_derivatives(Faulty(small, fault), x, RNG.normal(size=(3, 6)), step=1e-3)
    wrong = {name for name, error in report.errors.items() if not error <= report.tolerance}
    expected = MAPPING_FAULTS[fault]
    if fault == "body axes forgotten":
        wrong -= {"bias (dJ/dt) v"}  # its J does not change with time as the bias says
    assert wrong == expected, str(report)
