"""Which errors of an executor say that a worker died, and not that the work failed."""

from __future__ import annotations

import sys
from concurrent.futures import BrokenExecutor


def is_death(error: BaseException | None) -> bool:
    """Whether a process died with the work: a broken pool, or dask's word for work that killed several workers."""
    return isinstance(error, BrokenExecutor) or is_killed_worker(error)


def is_killed_worker(error: BaseException | None) -> bool:
    """Whether it is dask's `KilledWorker`, which it tells after several workers died with the same work."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(error, distributed.KilledWorker)
