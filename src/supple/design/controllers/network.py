"""Network: a small network of tanh layers that every cell of a robot runs on what it observes, with shared weights.

    x_0 = what a cell observes,   x_k = tanh(W_k x_(k-1) + b_k),   action of the cell = x_last

It is plain data and does not depend on the body: one network drives every robot of a task. tanh is our own, so that the
same weights give the same bits on every x86 processor with FMA.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from supple.algebra.dense.function_kernels import compute_layer
from supple.errors import NOT_NUMBERS, InputError, check_instance

Array = np.ndarray
KIND = "network"


@dataclass(frozen=True, eq=False)
class Network:
    """layers: pairs of weights (m, k) and biases (m,); the k of a layer is the m of the one before.

    >>> Network([([[1.0, 0.0]], [0.0])])(np.zeros((3, 2))).tolist()
    [[0.0], [0.0], [0.0]]
    """

    layers: Sequence[tuple[Array, Array]]

    def __post_init__(self) -> None:
        check_instance(self.layers, (list, tuple), "a row of layers", where="Network")
        checked: list[tuple[Array, Array]] = []
        for number, layer in enumerate(self.layers):
            where = f"Network, layer {number}"
            try:
                weights, biases = (np.array(a, dtype=float, order="C") for a in layer)
            except NOT_NUMBERS:
                raise InputError("a layer is not weights and biases", where=where, value=type(layer).__name__) from None
            if weights.ndim != 2 or biases.shape != (len(weights),) or not weights.size:
                raise InputError(
                    "weights and biases do not fit each other", where=where,
                    value=f"{weights.shape}, {biases.shape}", allowed="(m, k), (m,)",
                )  # fmt: skip
            if checked and weights.shape[1] != len(checked[-1][1]):
                raise InputError(
                    "the layer does not fit the one before", where=where,
                    value=weights.shape[1], allowed=f"{len(checked[-1][1])} inputs",
                )  # fmt: skip
            if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
                raise InputError("a weight is not finite", where=where)
            checked.append((weights, biases))
        if not checked:
            raise InputError("there is no layer", where="Network", value=0, allowed=">= 1")
        object.__setattr__(self, "layers", tuple(checked))

    @property
    def inputs(self) -> int:
        """Numbers that it takes."""
        return int(self.layers[0][0].shape[1])

    @property
    def outputs(self) -> int:
        """Numbers that it returns."""
        return len(self.layers[-1][1])

    def __call__(self, given: Array) -> Array:
        """Its values (n, outputs) of rows (n, inputs)."""
        values = np.ascontiguousarray(given, dtype=float)
        if values.ndim != 2 or values.shape[1] != self.inputs:
            raise InputError(
                "the network does not take so many numbers", where="Network",
                value=values.shape, allowed=f"(n, {self.inputs})",
            )  # fmt: skip
        for weights, biases in self.layers:
            out = np.empty((len(values), len(biases)))
            compute_layer(weights, biases, values, out)
            values = out
        return values

    def act(self, t: float, observed: Array) -> Array:
        """Actions (nx, ny, nz) at time t [s] of cells that observe (nx, ny, nz, inputs); refuses what is not finite."""
        values = self(observed.reshape(-1, observed.shape[-1]))
        if self.outputs != 1:
            raise InputError("a cell has one action", where="Network", value=self.outputs, allowed="1 output")
        if not np.isfinite(values).all():
            raise InputError("the network returned a number that is not finite", where=f"Network, t = {t:g} s")
        return values.reshape(observed.shape[:3])

    def to_data(self) -> dict[str, Any]:
        """As plain data: lists of numbers."""
        return {"kind": KIND, "layers": [{"weights": w.tolist(), "biases": b.tolist()} for w, b in self.layers]}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Network:
        """From plain data as of `to_data`."""
        where, layers = "Network.from_data", data.get("layers")
        if data.get("kind") != KIND:
            raise InputError("this is not a network", where=where, value=data.get("kind"), allowed=f'kind "{KIND}"')
        if not isinstance(layers, list | tuple):
            raise InputError("the network has no row of layers", where=where, value=type(layers).__name__,
                             allowed='layers: [{"weights": rows of numbers, "biases": numbers}, ...]')  # fmt: skip
        try:
            return cls([(layer["weights"], layer["biases"]) for layer in layers])
        except (KeyError, TypeError):
            raise InputError("a layer lacks weights or biases", where=where) from None

    @classmethod
    def random(cls, sizes: Sequence[int], seed: int, scale: float = 1.0) -> Network:
        """Of so many numbers in each layer, inputs first, with weights uniform in ±scale / sqrt(inputs)."""
        rng = np.random.default_rng(seed)
        made = []
        for k, m in pairwise(sizes):
            reach = scale / np.sqrt(k)
            made.append((rng.uniform(-reach, reach, (m, k)), rng.uniform(-reach, reach, m)))
        return cls(made)
