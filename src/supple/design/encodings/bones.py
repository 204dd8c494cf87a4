"""Bones and hinges inside a soft body: boxes of a rigid or stiff material, cut by rows of the soft one.

A bone is a box of cells whose number is that of a material with `rigid=True`, or of a much stiffer one: a hundred times
Young's modulus bends a hundred times less and shortens the step tenfold, which rigid cells do not. A hinge is one row
of cells across the bone, which stay what the soft encoding makes them: the bone folds there, about any axis in that
row, and muscles in the row drive it. With the number of a second rigid material the bone changes its number there, and
a line of its cells at the edge of the row joins both parts: the bone folds about that line alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from supple.design.encodings.encoding_protocol import BodyGrids, Encoding, first_kept
from supple.design.encodings.plan import BodyPlan
from supple.errors import InputError, check_number

Array = np.ndarray
Soft = TypeVar("Soft")


class Bone(NamedTuple):
    """low, high: corners of the box in cells, high excluded. hinges: (axis, row) that stay soft."""

    low: tuple[int, int, int]
    high: tuple[int, int, int]
    hinges: tuple[tuple[int, int], ...] = ()

    def cells(self, shape: tuple[int, int, int]) -> Array:
        """Which cells of a grid are bone."""
        found = np.zeros(shape, dtype=bool)
        found[tuple(slice(a, b) for a, b in zip(self.low, self.high))] = True
        for axis, row in self.hinges:
            found[(slice(None),) * axis + (row,)] = False
        return found

    def numbers(self, shape: tuple[int, int, int], first: int, second: int) -> Array:
        """Number of each cell of a grid, 0 where there is no bone: first and second in turn from hinge to hinge,
        and in the row of a hinge a line of cells of the part below, along the wider of the other two sides."""
        box = tuple(slice(a, b) for a, b in zip(self.low, self.high))
        part = np.zeros(shape, dtype=np.int64)
        soft = np.zeros(shape, dtype=bool)
        for axis, row in self.hinges:
            places = np.arange(shape[axis]).reshape(np.where(np.arange(3) == axis, -1, 1))
            part += places > row
            narrow = min((k for k in range(3) if k != axis), key=lambda k: (self.high[k] - self.low[k], -k))
            edge = np.arange(shape[narrow]).reshape(np.where(np.arange(3) == narrow, -1, 1)) == self.low[narrow]
            soft |= (places == row) & ~edge
        found = np.zeros(shape, dtype=np.int64)
        found[box] = np.where(part % 2 == 0, first, second)[box]
        found[soft] = 0
        return found


@dataclass(frozen=True)
class BonyGenome(Generic[Soft]):
    """A soft genome and the bones in its body."""

    soft: Soft
    bones: tuple[Bone, ...]


@dataclass(frozen=True)
class Bones(Generic[Soft]):
    """A soft encoding with bones. number: of the rigid or stiff material in the palette, which the soft plan does not
    use. most: bones of a body. hinge_rate: share of the bones with a hinge, of those that are long enough. second: of
    another rigid material, of what is beyond a hinge; without it hinges are rows of soft cells.

    >>> from supple.design.encodings.direct import Direct
    >>> encoding = Bones(Direct(BodyPlan((6, 4, 4))), number=2)
    >>> genome = encoding.random(np.random.default_rng(2))
    >>> sorted(set(encoding.grids(genome).cells.ravel().tolist()))
    [0, 1, 2]
    """

    soft: Encoding[Soft]
    number: int
    most: int = 3
    hinge_rate: float = 0.5
    second: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(getattr(self.soft, "plan", None), BodyPlan):
            raise InputError("this is not an encoding of bodies", where="Bones, soft", value=type(self.soft).__name__)
        for number in self.numbers:
            check_number(number, name="the number of bones", where="Bones", whole=True)
            if number in self.plan.numbers or not 1 <= number <= 255:
                raise InputError("bones need a number of their own", where="Bones", value=number,
                                 allowed=f"1 to 255, none of {self.plan.numbers}")  # fmt: skip
        if self.second == self.number:
            raise InputError("the parts of a bone need two numbers", where="Bones", value=self.second,
                             allowed=f"not {self.number}")  # fmt: skip
        check_number(self.most, name="most", where="Bones", least=1, whole=True)
        check_number(self.hinge_rate, name="hinge_rate", where="Bones", least=0.0, most=1.0)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of the materials of bones."""
        return (self.number,) if self.second is None else (self.number, self.second)

    @property
    def plan(self) -> BodyPlan:
        """The plan of the soft body."""
        return self.soft.plan

    def random(self, rng: np.random.Generator) -> BonyGenome[Soft]:
        """A random soft body with one to `most` bones."""

        def drawn() -> BonyGenome[Soft]:
            bones = tuple(self._bone(rng) for _ in range(1 + int(rng.integers(self.most))))
            return BonyGenome(self.soft.random(rng), bones)

        return first_kept(drawn, self._is_kept, where="Bones.random")

    def _bone(self, rng: np.random.Generator) -> Bone:
        """A box at least one cell thick, and a hinge across its longest axis where three rows or more allow it."""
        low, high = [], []
        for count in self.plan.shape:
            length = int(rng.integers(1, max(2, count)))
            start = int(rng.integers(count - length + 1))
            low.append(start)
            high.append(start + length)
        axis = int(np.argmax(np.subtract(high, low)))
        hinges: tuple[tuple[int, int], ...] = ()
        if high[axis] - low[axis] >= 3 and rng.random() < self.hinge_rate:
            hinges = ((axis, int(rng.integers(low[axis] + 1, high[axis] - 1))),)
        return Bone((low[0], low[1], low[2]), (high[0], high[1], high[2]), hinges)

    def mutate(self, genome: BonyGenome[Soft], rng: np.random.Generator) -> BonyGenome[Soft]:
        """Another soft body, or a bone drawn anew, added or taken away."""

        def changed() -> BonyGenome[Soft]:
            if rng.random() < 0.7:
                return BonyGenome(self.soft.mutate(genome.soft, rng), genome.bones)
            bones = list(genome.bones)
            at = int(rng.integers(len(bones) + 1))
            if at == len(bones) and len(bones) < self.most:
                bones.append(self._bone(rng))
            elif len(bones) > 1 and rng.random() < 0.3:
                bones.pop(min(at, len(bones) - 1))
            else:
                bones[min(at, len(bones) - 1)] = self._bone(rng)
            return BonyGenome(genome.soft, tuple(bones))

        return first_kept(changed, self._is_kept, where="Bones.mutate")

    def cross(self, a: BonyGenome[Soft], b: BonyGenome[Soft], rng: np.random.Generator) -> BonyGenome[Soft]:
        """Crossed soft bodies with the bones of either; a where the rules are broken."""
        child = BonyGenome(self.soft.cross(a.soft, b.soft, rng), a.bones if rng.random() < 0.5 else b.bones)
        return child if self._is_kept(child) else a

    def _is_kept(self, genome: BonyGenome[Soft]) -> bool:
        cells = self.grids(genome).cells
        return bool(
            np.isin(cells, self.numbers).any() and np.isin(cells, self.plan.muscles).sum() >= self.plan.muscles_needed
        )

    def grids(self, genome: BonyGenome[Soft]) -> BodyGrids:
        """The soft body, with the numbers of the bones where bones lie in it; bones are reflected with the body."""
        cells, fields = self.soft.grids(genome.soft)
        shape = self.plan.shape
        for bone in genome.bones:
            if self.second is None:
                number = np.where(bone.cells(shape), self.number, 0)
            else:
                number = bone.numbers(shape, self.number, self.second)
            if self.plan.mirror_axis is not None:
                other = np.flip(number, axis=self.plan.mirror_axis)
                number = np.where((number > 0) & (other > 0), np.minimum(number, other), np.maximum(number, other))
            cells = np.where((number > 0) & (cells > 0), number, cells).astype(np.uint8)
        return BodyGrids(cells, fields)

    def to_json(self, genome: BonyGenome[Soft]) -> dict[str, Any]:
        """Plain values."""
        bones = [
            {"low": list(b.low), "high": list(b.high), "hinges": [list(h) for h in b.hinges]} for b in genome.bones
        ]
        return {"soft": self.soft.to_json(genome.soft), "bones": bones}

    def from_json(self, data: Mapping[str, Any]) -> BonyGenome[Soft]:
        """The genome of plain values; boxes outside of the grid and bodies without bone are refused."""
        try:
            bones = tuple(_bone_of(bone, self.plan.shape) for bone in data["bones"])
            genome = BonyGenome(self.soft.from_json(data["soft"]), bones)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a genome with bones: {error}", where="genome") from error
        if not self._is_kept(genome):
            raise InputError("the body has no bone or too few muscles", where="genome")
        return genome


def _bone_of(data: Mapping[str, Any], shape: tuple[int, int, int]) -> Bone:
    (a, b, c), (d, e, f) = ([int(n) for n in data[corner]] for corner in ("low", "high"))
    hinges = tuple((int(axis), int(row)) for axis, row in data["hinges"])
    inside = all(0 <= low < high <= count for low, high, count in zip((a, b, c), (d, e, f), shape))
    if not inside or any(axis not in (0, 1, 2) or not 0 <= row < shape[axis] for axis, row in hinges):
        raise InputError(
            "a bone lies outside of the grid", where="genome", value=(a, b, c, d, e, f), allowed=f"within {shape}"
        )
    return Bone((a, b, c), (d, e, f), hinges)
