"""Sums over lanes of several values at once, and lanes of float64 as float32 and back; compiled code only.

    lane_sums((a, b, ...))      lanes (sum of a, sum of b, ...), of 2, 4, 8 ... values
    narrowed, widened           the same numbers in lanes of float32, of float64

Neighbours are summed together, halves first: half of the moves that one sum after the other would take.
"""

# mypy: ignore-errors
from __future__ import annotations

from numba.core import types
from numba.core.errors import TypingError

from supple.algebra.lanes.lane_type import FAST, Lanes, _lane_indices, intrinsic

__all__ = ["lane_sums", "narrowed", "widened"]


@intrinsic
def lane_sums(typingctx, values):
    """The sums of the lanes of each of m values, as lanes; m is a power of two, at most their number of lanes."""
    kind = values.dtype if isinstance(values, types.UniTuple) else None
    if not isinstance(kind, Lanes) or values.count & (values.count - 1) or not 1 < values.count <= kind.n:
        raise TypingError(f"lane_sums needs a tuple of 2, 4, 8 ... lanes of one type, got {values}")

    def generate(context, builder, sig, args):
        rows = [builder.extract_value(args[0], k) for k in range(values.count)]
        width = kind.n  # of the block of partial sums that each of the first values has in a row
        while len(rows) > 1:
            half, blocks = width // 2, kind.n // width
            low = [base + width * b + k for base in (0, kind.n) for b in range(blocks) for k in range(half)]
            high = [index + half for index in low]
            rows = [
                builder.fadd(*(builder.shuffle_vector(a, b, _lane_indices(part)) for part in (low, high)), flags=FAST)
                for a, b in zip(rows[::2], rows[1::2], strict=True)
            ]
            width = half
        value = rows[0]
        while width > 1:
            width //= 2
            low = [2 * width * b + k for b in range(values.count) for k in range(width)]
            both = (
                builder.shuffle_vector(value, value, _lane_indices(part)) for part in (low, [i + width for i in low])
            )
            value = builder.fadd(*both, flags=FAST)
        return value

    return Lanes(kind.element, values.count)(values), generate


def _converted(name, element, instruction):
    @intrinsic
    def convert(typingctx, lanes):
        if not isinstance(lanes, Lanes) or lanes.element == element:
            raise TypingError(f"{name} needs lanes of the other width, got {lanes}")
        answer = Lanes(element, lanes.n)

        def generate(context, builder, sig, args):
            return getattr(builder, instruction)(args[0], context.get_value_type(answer))

        return answer(lanes), generate

    return convert


narrowed = _converted("narrowed", types.float32, "fptrunc")
widened = _converted("widened", types.float64, "fpext")
