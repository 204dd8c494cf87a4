"""Damping of floating bodies and of single domains of trees can be changed, and the rest of it stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.modal import ElasticSolid
from supple.studio.live.live_run import LiveRun
from supple.studio.live.settings import Setting
from supple.validation.tree.coupling import beam_domain_tree

SOLID = ElasticSolid(sp.box_tets((0.3, 0.02, 0.02), (12, 1, 1)), sp.Material(1e7, 0.3, 1000, stiffness_damping=0.001))
DAMPING = ("mass_damping", "stiffness_damping", "damping_ratio")


def rod(**damping: Any) -> sp.FloatingBody:
    return sp.FloatingBody.from_solid(SOLID, modes=4, q=[0.01, 0, 0, 0], **damping)


def offered(body: Any) -> tuple[LiveRun, dict[str, tuple[int, Setting]]]:
    scene = sp.Scene(gravity=(0, 0, 0), name="damped")
    scene.add(body, name="body")
    live = LiveRun(scene)
    return live, {one.key: (number, one) for number, one in enumerate(live.settings)}


def test_damping_of_a_floating_body_is_offered_with_its_values() -> None:
    _, found = offered(rod(mass_damping=2.0, damping_ratio=[0.1, 0.2, 0.3, 0.4]))
    assert [found[key][1].value for key in DAMPING] == [2.0, 0.001, [0.1, 0.2, 0.3, 0.4]]
    assert found["damping_ratio"][1].title == "Damping ratio of body"
    assert found["damping_ratio"][1].parts == ("mode 1", "mode 2", "mode 3", "mode 4")


@pytest.mark.parametrize("key", DAMPING)
def test_one_of_it_is_changed_and_the_others_stay(key: str) -> None:
    """Matrix D is that of a body that is made so; energy falls faster."""
    plain = {"mass_damping": 2.0, "stiffness_damping": 0.001, "damping_ratio": 0.1}
    live, found = offered(rod(**plain))
    live.change(found[key][0], None, 3 * plain[key])
    changed = live.system.bodies[0].body
    np.testing.assert_allclose(changed.damping, rod(**plain | {key: 3 * plain[key]}).damping, rtol=1e-12)
    assert {one.key: one.value for one in live.settings if one.key in DAMPING} == plain | {key: 3 * plain[key]}
    free, _ = offered(rod(**plain))
    for one in (live, free):
        one.take(8)
    total = [seen.kinetic + seen.potential for seen in (live.check(), free.check())]
    assert total[0] < total[1]


def test_a_ratio_of_one_mode_is_changed() -> None:
    live, found = offered(rod(damping_ratio=[0.1, 0.2, 0.3, 0.4]))
    live.change(found["damping_ratio"][0], 2, 0.7)
    np.testing.assert_allclose(live.system.bodies[0].body.rates.damping_ratio, [0.1, 0.2, 0.7, 0.4])


@pytest.mark.parametrize("factors", [{"stiffness_factor": 4.0}, {"density_factor": 9.0}])
def test_what_is_told_is_that_of_the_matrix_after_other_factors(factors: dict[str, float]) -> None:
    body = rod(mass_damping=2.0, damping_ratio=0.1).changed(factors, where="test")
    np.testing.assert_allclose(body.rates.of(body.model), body.damping, rtol=1e-9, atol=1e-12)


def test_a_body_of_a_bare_matrix_offers_no_damping() -> None:
    made = rod()
    _, found = offered(sp.FloatingBody(made.model, made.damping))
    assert not set(DAMPING) & set(found)


def test_damping_of_single_domains_is_offered_and_changed() -> None:
    body = sp.TreeBody(beam_domain_tree(3, 6), stiffness_damping=[0.01, 0.02, 0.03], mass_damping=0.5)
    live, found = offered(body)
    number, setting = found["stiffness_damping"]
    assert setting.value == [0.01, 0.02, 0.03]
    assert len(setting.parts) == 3
    assert found["mass_damping"][1].value == 0.5
    live.take(1)
    live.change(number, 1, 0.05)
    assert live.settings[number].value == [0.01, 0.05, 0.03]
    live.change(number, None, 0.04)
    assert live.settings[number].value == [0.04, 0.04, 0.04]
    live.take(2)
