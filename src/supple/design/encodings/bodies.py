"""design_of: a genome as a design, ready to be tried in an arena."""

from __future__ import annotations

from typing import TypeVar

from supple.design.designs import Design
from supple.design.encodings.encoding_protocol import Encoding

Genome = TypeVar("Genome")


def design_of(encoding: Encoding[Genome], genome: Genome) -> Design:
    """The design of a genome: its cells, with the fields over them.

    >>> import numpy as np
    >>> from supple.design.encodings import BodyPlan, Direct
    >>> encoding = Direct(BodyPlan((4, 4, 4)))
    >>> design_of(encoding, encoding.random(np.random.default_rng(1))).cells.shape
    (4, 4, 4)
    """
    cells, fields = encoding.grids(genome)
    return Design(cells, fields)
