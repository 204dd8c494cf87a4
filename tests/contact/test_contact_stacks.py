"""Every kind of body rests on every other, shortened; `supple validate contact/pairs` runs them for five seconds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import supple as sp
from supple.errors import SuppleWarning
from supple.examples import garden
from supple.validation.contact_kinds import STACKS, resting


@pytest.mark.parametrize(("below", "above"), STACKS)
def test_one_lies_on_the_other(below: str, above: str) -> None:
    """In 0.3 s nothing slides by more than a hundredth of its size, falls through, or leaves a step unsolved."""
    drift, moving, failed = resting(below, above, until=0.3)
    assert failed == 0
    assert drift < 0.01
    assert moving < 0.01


def test_a_garden_of_all_kinds_begins() -> None:
    """Five steps of the example, with an oak of few leaves."""
    scene = garden.make(leaves=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # balls fall fast, which the run says
        run = sp.run(scene, until=5 * garden.STEP)
    assert run.steps == 5
    assert np.isfinite(run.state.x).all()
