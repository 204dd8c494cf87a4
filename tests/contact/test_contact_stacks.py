"""Every kind of body rests on every other, shortened; `supple validate contact/pairs` runs them for five seconds."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.examples import garden
from supple.validation.contact_kinds import STACKS, resting


@pytest.mark.parametrize(("below", "above"), STACKS)
def test_one_lies_on_the_other(below: str, above: str) -> None:
    """In 0.3 s nothing slides by more than a hundredth of its size, falls through, or leaves a step unsolved."""
    drift, moving, failed = resting(below, above, until=0.3)
    assert failed == 0
    assert drift < 0.01
    assert moving < 0.01


def test_a_garden_of_all_kinds_begins_without_a_warning() -> None:
    """The example, with an oak of few leaves, until its balls have fallen; warnings are errors in tests."""
    run = sp.run(garden.make(leaves=40), until=24 * garden.STEP)
    assert run.steps == 24
    assert np.isfinite(run.state.x).all()
    assert run.system.body("ball").view_x(run.state.x)[0, 2] < 0.15  # from 0.2 m onto the robot
