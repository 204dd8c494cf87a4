"""`one_blas_thread`: BLAS and LAPACK on one thread, so that their sums have one order and one result."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")
