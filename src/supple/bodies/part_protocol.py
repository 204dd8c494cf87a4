"""The contract of a part: bodies of a scene that one method advances.

    M v' = f + J^T l        l: forces of laws at points that are coupled to other parts
    A = M + h D + h² K,   the change of the points' velocities by l is  h J A^-1 J^T l = W Y W^T l

`Part` and `Step` are what a coupling asks for. A body that owns every force of its part may have a stride of its own,
`OwnStride`: many steps in one compiled call. It is optional; the general operations exist beside it, and a test holds
the two equal. Voxels and trees keep it; floating and layered bodies move their coordinates in place instead.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.protocols import LocalState

Array = np.ndarray
StateT = TypeVar("StateT", contravariant=True)


class OwnStride(Protocol):
    """A body that advances itself while nothing couples it to others."""

    def advance(self, state: LocalState, dt: float, *, steps: int, gravity: ArrayLike) -> LocalState:
        """The state after so many steps of dt [s]; gravity (3,) [m/s²]."""
        ...


class Step(Protocol):
    """A step of a part that has begun, for k relative velocities of laws and m rows of joints across parts.

    velocity (k, 3) [m/s]: what its points contribute at the end without forces of the laws; start (k, 3): at the start;
    rate (m,): to the rates of the rows. shapes: how velocity and rate respond to forces, W Y W^T of few shapes a body
    (`coupling/shapes`), none where nothing of the part is coupled.
    """

    @property
    def velocity(self) -> Array: ...
    @property
    def start(self) -> Array: ...
    @property
    def rate(self) -> Array: ...
    @property
    def shapes(self) -> list[Any]: ...
    def rows(self) -> Any:
        """Its unknowns, where laws may add to their matrix instead (`coupling/law_rows`); None: it yields by shapes."""
        ...

    def reach(self, pushes: Array, held: Array, unknowns: Any = None) -> None:
        """Go to the end with forces (k, 3) [N] on the first sides of laws, (m,) on the rows; the state stays.

        unknowns: what was found for its own with these forces, where it gave rows.
        """
        ...

    def place_ends(self, x_out: Array) -> None:
        """Write where coupled bodies end, as they were reached last, to flat positions of the whole system."""
        ...

    def finish(self, pushes: Array, held: Array) -> Any:
        """Take the step as it was reached last; all of these forces arrive in it, equal and opposite. A `StepReport`
        of it."""
        ...


class Part(Protocol[StateT]):
    """Bodies that a method of their own steps, coupled by how they respond. It holds bodies, filters and loads.

    Where laws may add to its matrix, its velocities stay unknowns beside their forces: `Step.rows`. The iteration over
    laws knows these two ways, and no kind of body.
    """

    @property
    def is_small(self) -> bool:
        """Whether a second thread is of more use elsewhere than in its kernels."""
        ...

    def look_ahead(self, state: StateT, *, is_shared: bool = False) -> None:
        """A step from a state will begin when its contacts are known; is_shared: a second thread is free until then."""
        ...

    def begin(self, state: StateT, meeting: Any, *, is_shared: bool = False) -> Step:
        """A step from a state, in which `meeting` says which points are coupled; is_shared: a second thread is free."""
        ...
