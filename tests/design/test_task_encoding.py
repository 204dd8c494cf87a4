"""Bodies that searches draw for tasks: left and right alike, of all sizes, with waves whose numbers are sixteenths."""

from __future__ import annotations

import numpy as np
import pytest

from supple.design import Design, is_one_piece
from supple.design.tasks import find_task, tasks
from supple.design.tasks.bodies import fit
from supple.design.tasks.encoding import PHASES, TaskEncoding
from supple.design.tasks.palette import MUSCLE


@pytest.mark.parametrize("name", ["walk-v1", "stand-v1"])
def test_bodies_keep_the_rules_of_tasks(name: str) -> None:
    """Drawn, and after twenty mutations each."""
    task, rng = find_task(name), np.random.default_rng(4)
    encoding = TaskEncoding(task)
    for _ in range(12):
        genome = encoding.random(rng)
        for _ in range(20):
            cells, fields = encoding.grids(genome)
            fit(task, Design(cells, fields))
            assert is_one_piece(cells)
            assert np.count_nonzero(cells) >= encoding.plan.cells_needed
            assert (cells == MUSCLE).sum() >= encoding.plan.muscles_needed
            for grid in (cells, fields["phase"], fields["gain"]):
                np.testing.assert_array_equal(grid, np.flip(grid, axis=1))
            assert (PHASES * fields["phase"] % 1 == 0).all()
            assert (PHASES * fields["gain"] % 4 == 0).all()
            assert 0 <= fields["gain"].min() <= fields["gain"].max() <= 4
            genome = encoding.mutate(genome, rng)


def test_random_bodies_are_of_all_sizes_and_some_swing_in_step() -> None:
    encoding, rng = TaskEncoding(find_task("gap-v1")), np.random.default_rng(0)
    drawn = [encoding.grids(encoding.random(rng)) for _ in range(60)]
    widths = [np.ptp(np.argwhere(body.cells)[:, 1]) + 1 for body in drawn]
    assert min(widths) <= 3 < 5 == max(widths)
    assert {round(float(np.median(body.fields["gain"]))) for body in drawn} >= {0, 1, 2, 3, 4}
    spreads = [np.ptp(np.unwrap(2 * np.pi * body.fields["phase"][:, 2, 0])) for body in drawn]
    assert min(spreads) < 0.1 < 1.0 < max(spreads)


@pytest.mark.parametrize("name", tasks())
def test_a_seed_draws_the_same_body_again(name: str) -> None:
    encoding = TaskEncoding(tasks()[name])
    one, two = (encoding.random(np.random.default_rng(5)) for _ in range(2))
    assert encoding.to_json(one) == encoding.to_json(two) == encoding.to_json(encoding.from_json(encoding.to_json(one)))
