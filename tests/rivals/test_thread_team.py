"""A thread team does every item of every order once, whoever comes."""

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
    await_task,
    claim,
    close_task,
    dismiss,
    leave_task,
    make_team,
    open_task,
)

ORDERS, ITEMS = 2000, 7


@compiled
def do_items(team, member, members, done_out):
    item = team[COUNT] * member // members
    for _ in range(team[COUNT]):
        if claim(team, item, team[NUMBER]):
            done_out[team[NUMBER] - 1, item] += 1
        item = (item + 1) % team[COUNT]


@compiled(parallel=True)
def run(team, coming, members, done_out):
    assemble(team)
    for member in numba.prange(coming):
        if member == 0:
            team[STARTED] = 1
            for _ in range(ORDERS):
                open_task(team, 0, 0, 0, 0, ITEMS)
                do_items(team, 0, members, done_out)
                close_task(team)
            dismiss(team)
        else:
            last = 0
            while last >= 0:
                last = await_task(team, last)
                if last >= 0:
                    do_items(team, np.int64(member), members, done_out)
                    leave_task(team)


@pytest.mark.parametrize("coming", [1, 2])
def test_every_item_is_done_once(coming: int) -> None:
    """coming = 1: nobody helps, and the leader does all."""
    done = np.zeros((ORDERS, ITEMS), dtype=np.int64)
    run(make_team(ITEMS), min(coming, numba.get_num_threads()), 2, done)
    assert (done == 1).all()
