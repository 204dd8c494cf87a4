"""Pairs of names are a row like any other, and kept as numbers."""

import pytest

from supple.contact.binding.named_pairs import NamedPairs


def test_pairs_are_a_row_of_names() -> None:
    pairs = NamedPairs(["box", "ball", "floor"], [[0, 2], [1, 2], [0, 1]])
    as_list = [("box", "floor"), ("ball", "floor"), ("box", "ball")]
    assert len(pairs) == 3
    assert list(pairs) == as_list
    assert pairs == as_list
    assert as_list == pairs
    assert pairs != as_list[:2]
    assert pairs[1] == ("ball", "floor")
    assert pairs[-1] == ("box", "ball")
    assert pairs[1:] == as_list[1:]
    assert ("ball", "floor") in pairs
    assert ("floor", "ball") not in pairs
    with pytest.raises(IndexError):
        pairs[3]


def test_rows_are_joined_whatever_they_are_of() -> None:
    one, two = NamedPairs(["box", "ball", "floor"], [[0, 2]]), [("ball", "wall"), ("box", "floor")]
    joined = NamedPairs.joined([one, two, NamedPairs([], [])])
    assert joined == [("box", "floor"), ("ball", "wall"), ("box", "floor")]
    assert NamedPairs.joined([]) == []
