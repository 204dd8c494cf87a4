"""What is said of contacts that may not hold what meets: the quick look agrees with the full one."""

from __future__ import annotations

import numpy as np
import pytest

from supple.contact.binding.sinking_kernels import is_held
from supple.contact.contact_set import ContactSet
from supple.contact.notices import SINKS
from supple.contact.stopping import SINKS as SHARE
from supple.contact.stopping import Raised, Stopping

H, STIFFNESS = 0.01, 1e6


def some_stopping(rng: np.random.Generator) -> Stopping:
    """Two bodies, one of balls, one that is held, and an obstacle."""
    mass = np.array([[0.3, 0.3], [0.2, 0.2], [np.inf, 0.5], [np.inf, np.inf]])
    balls = np.array([False, True, False, False])
    ball_mass, ball_width = rng.uniform(0.001, 0.01, 9), rng.uniform(0.01, 0.02, 9)
    width = np.array([0.1, np.inf, 0.05, np.inf])
    return Stopping(mass, np.zeros(4, dtype=bool), np.full(4, np.inf), width, balls, ball_mass, ball_width)


def some_contacts(rng: np.random.Generator, count: int) -> ContactSet:
    body = np.stack([rng.integers(0, 3, count), rng.integers(0, 4, count)], axis=1)
    points, gap = rng.integers(0, 9, (count, 4)), rng.uniform(-1e-3, 1e-3, count)
    found = ContactSet.bare(points, np.zeros((count, 4)), np.zeros((count, 3)), gap, body)
    return found._replace(key=np.arange(count))


def test_what_is_held_alone_is_held_together() -> None:
    rng, seen = np.random.default_rng(0), []
    for size in 10.0 ** rng.uniform(-2, 2, 200):
        stopping, found = some_stopping(rng), some_contacts(rng, 5)
        area, speed = rng.uniform(1e-5, 1e-3, 5), size * rng.uniform(-1, 1, 5)
        at = np.unique(stopping.groups(found), return_inverse=True)[1]
        K, width = STIFFNESS * np.bincount(at, area)[at], stopping.pair_width(found)
        part = np.where(found.gap + H * speed < 0, np.sqrt(stopping.energy(found, speed) / K) / width, 0.0)
        held = is_held(stopping.arrays, found.body, found.points, found.gap, area, speed, STIFFNESS, H, SINKS)
        seen.append(held)
        assert not held or part.max() <= SINKS
    assert 20 < sum(seen) < 180


def test_a_stiffness_that_stops_a_body_lets_it_sink_by_its_share_of_the_width() -> None:
    """v sqrt(m / K), how deep an oscillator goes from its rest at v, is a twentieth of the smaller width."""
    stopping = some_stopping(np.random.default_rng(0))
    found = some_contacts(np.random.default_rng(0), 1)._replace(body=np.array([[0, 2]]))
    area, v = np.array([2e-4]), 3.0
    raised = stopping.raised(found, area, np.array([-v]), H, np.array(1.0), Raised.none(0))
    assert v * np.sqrt(0.3 / raised.K[0]) == pytest.approx(SHARE * 0.05, rel=1e-12)
    assert raised.modulus[0] * area[0] == pytest.approx(raised.K[0], rel=1e-12)
