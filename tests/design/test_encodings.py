"""Encodings: bodies keep the rules of their plan, genomes survive JSON, draws repeat, patterns are arithmetic."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import ndimage

from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.groups.groups import faces_of
from supple.design.encodings import BodyPlan, Bones, Direct, FieldRange, Network, Patterns, Waves
from supple.design.encodings.pattern_kernels import FUNCTIONS_COUNT, exponentials, node_answers
from supple.design.encodings.plan import PHASE, STIFFNESS
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

FIELDS = {"phase": PHASE, "stiffness": STIFFNESS}
PLANS = {
    "one": BodyPlan((5, 4, 3)),
    "two": BodyPlan((5, 4, 4), muscles=(1, 2), passive=(3,), fields=FIELDS, least_muscles=10),
    "even": BodyPlan((4, 6, 4), fields=FIELDS, mirror="y", mirror_shift=0.5),
    "odd": BodyPlan((5, 4, 4), muscles=(1,), passive=(2,), mirror="x"),
}
MAKERS = {
    "direct": Direct,
    "patterns": Patterns,
    "waves": Waves,
    "bones": lambda plan: Bones(Direct(plan), number=9),
    "jointed bones": lambda plan: Bones(Direct(plan), number=9, hinge_rate=1.0, second=8),
}
CASES = [(e, p) for e in MAKERS for p in PLANS]


def plain(encoding, genome):
    return json.dumps(encoding.to_json(genome), sort_keys=True)


def check_rules(encoding, genome):
    plan = encoding.plan
    cells, fields = encoding.grids(genome)
    assert cells.shape == plan.shape
    assert cells.dtype == np.uint8
    assert ndimage.label(cells > 0)[1] == 1, "one piece by faces"
    assert np.count_nonzero(cells) >= plan.cells_needed
    assert np.isin(cells, plan.muscles).sum() >= plan.muscles_needed
    assert set(np.unique(cells)) <= {0, 8, 9, *plan.numbers}
    assert set(fields) == set(plan.fields)
    for name, kind in plan.fields.items():
        assert fields[name].shape == plan.shape
        assert (fields[name] >= kind.low).all()
        assert (fields[name] <= kind.high).all()
    if plan.mirror_axis is not None:
        assert np.array_equal(cells, np.flip(cells, axis=plan.mirror_axis))


@pytest.mark.parametrize(("name", "planned"), CASES)
def test_bodies_keep_the_rules_through_many_mutations(name, planned):
    encoding, rng = MAKERS[name](PLANS[planned]), np.random.default_rng(3)
    a, b = encoding.random(rng), encoding.random(rng)
    texts = set()
    for _ in range(25):
        check_rules(encoding, a)
        texts.add(plain(encoding, a))
        a = encoding.mutate(a, rng)
        check_rules(encoding, encoding.cross(a, b, rng))
    assert len(texts) > 20, "mutations change the genome"


@pytest.mark.parametrize(("name", "planned"), CASES)
def test_genomes_survive_json_bit_for_bit_and_draws_repeat(name, planned):
    encoding = MAKERS[name](PLANS[planned])
    genome = encoding.mutate(encoding.random(np.random.default_rng(5)), np.random.default_rng(6))
    text = plain(encoding, genome)
    back = encoding.from_json(json.loads(text))
    assert plain(encoding, back) == text
    ours, theirs = encoding.grids(genome), encoding.grids(back)
    assert np.array_equal(ours.cells, theirs.cells)
    for key, values in ours.fields.items():
        assert np.array_equal(values, theirs.fields[key])
    again = encoding.mutate(encoding.random(np.random.default_rng(5)), np.random.default_rng(6))
    assert plain(encoding, again) == text


def test_a_mirror_shifts_the_phase_of_the_reflected_half():
    plan = BodyPlan((3, 4, 3), mirror="y", mirror_shift=0.5)
    encoding = Direct(plan)
    phase = encoding.grids(encoding.random(np.random.default_rng(1))).fields["phase"]
    late = np.flip(phase[:, 2:], axis=1) - phase[:, :2]
    np.testing.assert_allclose(late - np.floor(late), 0.5, rtol=0, atol=1e-12)  # round-off of wrapping


def test_a_half_that_does_not_touch_the_mirror_is_no_body():
    plan = BodyPlan((4, 4, 4), mirror="y", least_cells=1, least_muscles=1)
    apart = np.zeros(plan.free_shape, dtype=np.uint8)
    apart[:, 0] = 1
    assert plan.kept(apart) is None
    apart[0, 1, 0] = 1
    assert plan.kept(apart) is not None


def test_functions_of_nodes_are_what_their_names_say():
    x = np.linspace(-30, 30, 20_001)
    out = np.full(x.shape, np.nan)
    exponentials(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=4e-14)  # k ln 2 is rounded: |x| times 1e-16, and the sum
    known = [
        lambda v: v,
        np.sin,
        lambda v: 2 * np.exp(-v * v) - 1,
        lambda v: np.tanh(v / 2),
        np.abs,
        np.square,
        lambda v: np.where(v > 0, 1, -1),
    ]
    assert len(known) == FUNCTIONS_COUNT
    for number, function in enumerate(known):
        out[:] = np.nan
        node_answers(number, x, out)
        np.testing.assert_allclose(out, function(x), rtol=1e-12, atol=1e-14)


def test_a_network_is_the_sum_of_its_links():
    """One hidden sine between x and the output, by hand."""
    links = ((0, 6, 2.0), (6, 5, 0.5), (4, 5, -0.25))
    network = Network(("presence",), (0, 1), (0.0,) * 5 + (1.0, 0.5), links)
    places = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    value = network.values((50,), places)["presence"]
    np.testing.assert_allclose(value, 0.5 * np.sin(2.0 * places[:, 0]) - 0.25, rtol=0, atol=1e-14)


def test_a_hinge_stays_soft_between_two_halves_of_a_bone():
    encoding = Bones(Direct(BodyPlan((7, 3, 3), least_muscles=5)), number=9)
    full = {"cells": np.ones((7, 3, 3), dtype=int).tolist(), "units": {"phase": np.zeros((7, 3, 3)).tolist()}}
    bone = {"low": [1, 0, 1], "high": [6, 3, 2], "hinges": [[0, 3]]}
    cells = encoding.grids(encoding.from_json({"soft": full, "bones": [bone]})).cells
    assert (cells[[1, 2, 4, 5], :, 1] == 9).all()
    assert (cells[3] == 1).all()
    assert (cells == 9).sum() == 12


def test_a_hinge_between_two_rigid_halves_is_a_line_of_cells():
    """At the edge of the row: a real hinge about that line, and no other joint."""
    encoding = Bones(Direct(BodyPlan((7, 3, 3), least_muscles=5)), number=9, second=8)
    full = {"cells": np.ones((7, 3, 3), dtype=int).tolist(), "units": {"phase": np.zeros((7, 3, 3)).tolist()}}
    bone = {"low": [1, 0, 1], "high": [6, 3, 3], "hinges": [[0, 3]]}
    cells = encoding.grids(encoding.from_json({"soft": full, "bones": [bone]})).cells
    assert (cells[1:3, :, 1:] == 9).all()
    assert (cells[4:6, :, 1:] == 8).all()
    assert (cells[3, :, 1] == 9).all()
    assert (cells[3, :, 2] == 1).all()
    soft, hard = (VoxelMaterial(young=1e5, density=1000.0, rigid=rigid) for rigid in (False, True))
    model = VoxelBody(VoxelGrid(cells.astype(int), 0.01), {1: soft, 8: hard, 9: hard}).model
    assert model.group_count == 2
    faces = faces_of(model)
    places = model.centres[faces.voxel[:, 0]] + faces.local[:, 0]
    assert sorted(places.round(9).tolist()) == [[0.04, 0.005, 0.015], [0.04, 0.025, 0.015]]


def test_stiffness_is_even_in_factors():
    unit = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    values = FieldRange(0.1, 10.0, logarithmic=True).values(unit)
    np.testing.assert_allclose(values, [0.1, math.sqrt(0.1), 1.0, math.sqrt(10), 10.0], rtol=1e-13)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: BodyPlan((4, 4, 4), muscles=()), "muscles are numbers"),
        (lambda: BodyPlan((4, 4, 4), least_cells=65), "cannot be had"),
        (lambda: BodyPlan((4, 4, 4), passive=(1,)), "twice"),
        (lambda: FieldRange(1.0, 1.0), "low < high"),
        (lambda: Bones(Direct(BodyPlan((4, 4, 4))), number=1), "number of their own"),
        (lambda: Bones(Direct(BodyPlan((4, 4, 4))), number=9, second=1), "number of their own"),
        (lambda: Bones(Direct(BodyPlan((4, 4, 4))), number=9, second=9), "two numbers"),
        (lambda: Waves(BodyPlan((4, 4, 4), fields={})), "a field to vary"),
        (lambda: Direct(BodyPlan((2, 2, 2))).from_json({"cells": [[[7]]]}), "finite numbers"),
        (lambda: Patterns(BodyPlan((2, 2, 2))).from_json({"outputs": []}), "not a pattern network"),
        (lambda: Direct(BodyPlan((3, 3, 3), least_cells=27), filled=0.2).random(np.random.default_rng(0)), "no body"),
    ],
)
def test_bad_input_is_refused(make, what):
    with pytest.raises(InputError, match=what):
        make()


def test_waves_have_their_values_at_the_middles_of_cells():
    """A coefficient of x gives 1/2 + c x with x = -3/4, -1/4, 1/4, 3/4 in four cells; that of z² is even."""
    encoding = Waves(BodyPlan((4, 2, 5), fields={"phase": FieldRange(0.0, 1.0)}))
    genome = np.zeros(10)
    genome[1] = 0.4
    along = encoding.grids(genome).fields["phase"]
    assert along[:, 0, 0] == pytest.approx(0.5 + 0.4 * np.array([-0.75, -0.25, 0.25, 0.75]), abs=1e-12)
    assert np.ptp(along, axis=(1, 2)) == pytest.approx(0, abs=1e-15)
    genome[1], genome[9] = 0.0, 0.5
    squared = encoding.grids(genome).fields["phase"]
    assert squared[0, 0] == pytest.approx(0.5 + 0.5 * np.array([-0.8, -0.4, 0, 0.4, 0.8]) ** 2, abs=1e-12)
