"""A thread team: threads that stay for a whole call and share many small orders of work, each in less than a
microsecond.

A parallel region hands every array of its arguments to every thread, which for a hundred arrays takes longer than the
pieces of work themselves. So a call enters one region. Its first member leads and does what cannot be shared; for the
rest it opens an order of so many items, and every member claims items until none is left. The others wait in between.

    leader                                    others
    write the order, open it                  wait until an order is open
    claim and do items                        enter, look again, claim and do items, leave
    close it, wait until nobody is inside

Each member begins at its own share of the items, so that the same data stays with the same core from order to order,
and goes on with what the others have left. A leader never waits for a member that has not come: it does all items
alone. Which member does an item must not change what the item does; then results have the same bits for any thread
team.

The state is a flat array of integers, `make_team`: words that several write lie in cache lines of their own.
"""

# mypy: ignore-errors
from __future__ import annotations

import platform

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import _address, _check_array, intrinsic

Array = np.ndarray
OPEN, INSIDE, STARTED, NUMBER, WAY, ROUND, TASKS, FIRST, COUNT, CLAIMS = 0, 8, 16, 24, 25, 26, 27, 28, 29, 32
"""Words: number of the open order, 0 or -1 at the end; members inside; whether the leader has come; the order."""
PATIENCE = 10_000_000
"""Looks, some tenths of a second, after which a member goes home if the leader has not come: nothing is shared then."""
HAS_PAUSE = platform.machine().lower() in ("x86_64", "amd64")


def make_team(items: int) -> Array:
    """The state of a thread team that shares orders of at most so many items."""
    return np.zeros(CLAIMS + items, dtype=np.int64)


@intrinsic
def atomic_add(typingctx, array, index, value):
    """array[index] += value, in one with all others; what was there before."""
    return _exchange("add", array, index, value)


@intrinsic
def atomic_swap(typingctx, array, index, value):
    """array[index] = value, in one with all others; what was there before."""
    return _exchange("xchg", array, index, value)


@intrinsic
def atomic_max(typingctx, array, index, value):
    """array[index] = the larger of it and value, in one with all others; what was there before."""
    return _exchange("max", array, index, value)


def _exchange(name, array, index, value):
    _check_array(name, array)

    def generate(context, builder, sig, args):
        address = _address(context, builder, sig.args[0], args[0], args[1], sig.args[1])
        number = context.cast(builder, args[2], sig.args[2], types.int64)
        return builder.atomic_rmw(name, address, number, "seq_cst")

    return types.int64(array, index, value), generate


@intrinsic
def atomic_read(typingctx, array, index):
    """array[index], and all that was written before it was."""
    _check_array("atomic_read", array)

    def generate(context, builder, sig, args):
        address = _address(context, builder, sig.args[0], args[0], args[1], sig.args[1])
        return builder.load_atomic(address, "seq_cst", 8)

    return types.int64(array, index), generate


@intrinsic
def atomic_write(typingctx, array, index, value):
    """array[index] = value, after all that was written before; unlike `atomic_swap` it waits for none of that."""
    _check_array("atomic_write", array)

    def generate(context, builder, sig, args):
        address = _address(context, builder, sig.args[0], args[0], args[1], sig.args[1])
        number = context.cast(builder, args[2], sig.args[2], types.int64)
        builder.store_atomic(number, address, "release", 8)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@intrinsic
def pause(typingctx):
    """Tell the processor that a loop only waits."""

    def generate(context, builder, sig, args):
        if HAS_PAUSE:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


@compiled(inline=True)
def assemble(team):
    """A new call, before its members come."""
    for word in range(len(team)):
        team[word] = 0


@compiled(inline=True)
def open_task(team, way, round, todo, first, count):
    """The leader's: write the next order and let the others in."""
    number = team[NUMBER] + 1
    team[NUMBER], team[WAY], team[ROUND], team[TASKS], team[FIRST], team[COUNT] = number, way, round, todo, first, count
    atomic_swap(team, OPEN, number)


@compiled(inline=True)
def close_task(team):
    """The leader's: let nobody in any more and wait until all have left."""
    atomic_swap(team, OPEN, 0)
    while atomic_read(team, INSIDE) > 0:
        pause()


@compiled(inline=True)
def dismiss(team):
    """The leader's: the call is over."""
    atomic_swap(team, OPEN, -1)


@compiled(inline=True)
def await_task(team, last):
    """A member's: the number of the next order after `last`, entered; or -1 where there is nothing more to do."""
    looks = 0
    while True:
        number = atomic_read(team, OPEN)
        if number > 0 and number != last:
            atomic_add(team, INSIDE, 1)
            if atomic_read(team, OPEN) == number:
                break
            atomic_add(team, INSIDE, -1)
        elif number < 0:
            break
        pause()
        looks += 1
        if looks > PATIENCE and atomic_read(team, STARTED) == 0:
            number = -1
            break
    return number


@compiled(inline=True)
def leave_task(team):
    """A member's: all that it has claimed is done."""
    atomic_add(team, INSIDE, -1)


@compiled(inline=True)
def claim(team, item, number):
    """Whether this member is to do an item of the order of that number."""
    at = CLAIMS + item
    return atomic_read(team, at) != number and atomic_swap(team, at, number) != number
