"""Parts of a broken tree keep the damping of their own domains, and what names the tree names its parts."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree.detach import detach, split
from supple.scene.acting.breaking import break_off
from supple.validation.tree.reference import mixed_domain_tree


@pytest.mark.parametrize("domain", [1, 2, 4])
def test_a_break_leaves_every_domain_its_damping(domain: int) -> None:
    beta, alpha = 0.001 * np.arange(1.0, 6.0), 0.1 * np.arange(1.0, 6.0)
    scene = sp.Scene()
    body = sp.TreeBody(mixed_domain_tree(free=True, chain=False), stiffness_damping=beta, mass_damping=alpha)
    scene.add(body, name="tree")
    broken = break_off(scene, scene.compile().initial_state(), "tree", domain, name="twig")
    names = [d.kind for d in body.model.domain_tree.domains]
    seen = []
    for node, part in zip((broken.rest, broken.branch), split(body.model, domain)):
        tree = node.body.dynamics
        kinds = [d.kind for d in node.body.model.domain_tree.domains]
        numbers = [names.index(kind) for kind in kinds]  # each domain is of a kind of its own
        assert numbers == list(part.domains)
        assert list(np.asarray(tree.stiffness_damping)) == list(beta[numbers])
        assert list(np.asarray(tree.mass_damping)) == list(alpha[numbers])
        seen += numbers
    assert sorted(seen) == [0, 1, 2, 3, 4]


def test_the_dynamics_of_both_parts_have_the_damping_of_their_domains() -> None:
    beta, alpha = 0.001 * np.arange(1.0, 6.0), 0.1 * np.arange(1.0, 6.0)
    tree = mixed_domain_tree(free=True, chain=False)
    body = sp.TreeBody(tree, stiffness_damping=beta, mass_damping=alpha)
    whole = body.dynamics
    broken = detach(whole, whole.state(), 2)
    for part, share in zip((broken.rest, broken.branch), split(whole.model, 2)):
        np.testing.assert_array_equal(part.stiffness_damping, beta[share.domains])
        np.testing.assert_array_equal(part.mass_damping, alpha[share.domains])


def test_a_tree_that_a_contact_names_can_break() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    node = scene.add(sp.TreeBody(mixed_domain_tree(free=True, chain=False)), at=(0, 0, 1), name="tree")
    scene.add(sp.Floor())
    scene.add(sp.Contact([node]))
    broken = break_off(scene, scene.compile().initial_state(), "tree", 1, name="twig")
    system = broken.scene.compile()
    assert {"tree", "twig"} <= set(system.contacts[0].names)
