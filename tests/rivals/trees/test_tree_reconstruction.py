"""The fast reconstruction of points against numpy's, for copies turned and scaled, with and without a cut."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from supple.bodies.tree import Domain, DomainInterface, DomainTemplate, DomainTree, TreeModel
from supple.bodies.tree.surface.reconstruction import Reconstruction
from supple.bodies.tree.surface.skin import TreeSkin
from supple.errors import InputError
from supple.examples.shapes import flower
from supple.geometry import box_tets
from supple.material import Material


def copies() -> TreeModel:
    """A trunk with 70 scaled and turned copies of a twig, and a rigid stone."""
    trunk, twig, stone = (box_tets(size=(1, 0.2, 0.2), cells=(cells, 2, 2)) for cells in (12, 3, 1))
    shifted = type(twig)(twig.nodes - [twig.nodes[:, 0].min(), 0, 0], twig.tets)
    rng = np.random.default_rng(1)
    interfaces = {}
    for k in range(71):
        nodes = np.sort(rng.choice(len(trunk.nodes), 6, replace=False))
        interfaces[f"p{k}"] = DomainInterface(nodes, rng.uniform(1, 2, 6), rng.normal(size=4))
    rubber = Material(1e7, 0.3, 1000)
    kinds = {
        "trunk": DomainTemplate("trunk", trunk, rubber, 9, held=trunk.node_region("x_min"), interfaces=interfaces),
        "twig": DomainTemplate("twig", shifted, rubber, 4, held=shifted.node_region("x_min")),
        "stone": DomainTemplate("stone", stone, rubber, 0, held=stone.node_region("x_min")),
    }
    twigs = [Domain("twig", 0, f"p{k}", rng.uniform(0.1, 0.4)) for k in range(70)]
    return TreeModel.of(DomainTree(kinds, [Domain("trunk"), *twigs, Domain("stone", 0, "p70", 0.2)]))


@pytest.fixture(params=[copies, lambda: TreeModel.of(flower())], ids=["copies", "flower"])
def skin(request: pytest.FixtureRequest) -> TreeSkin:
    return TreeSkin.of(request.param())


def bent(skin: TreeSkin) -> np.ndarray:
    rng = np.random.default_rng(0)
    x = np.zeros((1, 7 + skin.model.coordinate_count))
    x[0, :3], x[0, 3:7] = (0.3, -0.2, 0.1), rng.normal(size=4)
    x[0, 3:7] /= np.linalg.norm(x[0, 3:7])
    scale = np.concatenate(
        [
            np.full(c.count, 0.02 / np.abs(c.U).max())
            for c in (skin.model.classes[k] for k in skin.model.domain_class)
            if c.count
        ]
    )
    x[0, 7:] = scale * rng.normal(size=skin.model.coordinate_count)
    return x


def test_surfaces_are_those_of_the_mapping(skin: TreeSkin) -> None:
    x = bent(skin)
    expected, size = skin.whole.apply(x), np.ptp(skin.rest)
    assert np.abs(expected - skin.rest).max() > 0.01
    np.testing.assert_allclose(skin.positions(x), expected, rtol=0, atol=1e-13 * size)
    single = skin.reconstruction(np.float32).positions(skin.whole.motion(x))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-6 * size)


def test_volumes_are_those_of_the_classes(skin: TreeSkin) -> None:
    model, motion = skin.model, skin.whole.motion(bent(skin))
    volume = Reconstruction.volume(model)
    expected = []
    for d, number in enumerate(model.domain_class):
        local = model.classes[number].positions(motion.q[model.q_starts[d] : model.q_starts[d + 1]])
        expected.append(motion.o[d] + model.scale[d] * local @ motion.R[d].T)
    raw = np.concatenate(expected)
    for a, b in zip(volume.group_start[:-1], volume.group_start[1:]):
        raw[volume.seams[a:b]] = raw[volume.seams[a:b]].mean(axis=0)
    out = np.full((volume.count, 3), np.nan)
    assert volume.positions(motion, out) is out
    np.testing.assert_allclose(out, raw, rtol=0, atol=1e-13 * np.ptp(raw))
    assert volume.bytes_read < 1.5 * 8 * sum(c.nodes.size * (1 + c.count) for c in model.classes) + 4096


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one core")
def test_threads_give_the_same_bits(skin: TreeSkin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.bodies.tree.surface.reconstruction.MANY_POINTS", 0)
    fast, motion, before = skin.reconstruction(np.float32), skin.whole.motion(bent(skin)), numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = fast.positions(motion)
        numba.set_num_threads(2)
        two = fast.positions(motion)
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(one, two)


def test_bad_input_is_named(skin: TreeSkin) -> None:
    with pytest.raises(InputError, match="precision"):
        skin.reconstruction(np.int32)
    fast, motion = skin.reconstruction(), skin.whole.motion(bent(skin))
    with pytest.raises(InputError, match="scratch"):
        fast.positions(motion, np.empty((3, 3)))
    with pytest.raises(InputError, match="fit the tree"):
        fast.place(motion.q[1:], motion.R, motion.o)
