"""A crew does every item of every order once, whoever comes."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from supple.algebra.compiling.compiled import compiled
from supple.algebra.compiling.thread_team import (
    COUNT,
    NUMBER,
    STARTED,
    assemble,
    await_order,
    claim,
    close_order,
    dismiss,
    leave_order,
    make_crew,
    open_order,
)

ORDERS, ITEMS = 2000, 7


@compiled
def do_items(crew, member, members, done_out):
    item = crew[COUNT] * member // members
    for _ in range(crew[COUNT]):
        if claim(crew, item, crew[NUMBER]):
            done_out[crew[NUMBER] - 1, item] += 1
        item = (item + 1) % crew[COUNT]


@compiled(parallel=True)
def run(crew, coming, members, done_out):
    assemble(crew)
    for member in numba.prange(coming):
        if member == 0:
            crew[STARTED] = 1
            for _ in range(ORDERS):
                open_order(crew, 0, 0, 0, 0, ITEMS)
                do_items(crew, 0, members, done_out)
                close_order(crew)
            dismiss(crew)
        else:
            last = 0
            while last >= 0:
                last = await_order(crew, last)
                if last >= 0:
                    do_items(crew, np.int64(member), members, done_out)
                    leave_order(crew)


@pytest.mark.parametrize("coming", [1, 2])
def test_every_item_is_done_once(coming: int) -> None:
    """coming = 1: nobody helps, and the leader does all."""
    done = np.zeros((ORDERS, ITEMS), dtype=np.int64)
    run(make_crew(ITEMS), min(coming, numba.get_num_threads()), 2, done)
    assert (done == 1).all()
