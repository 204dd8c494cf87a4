"""Trees of reduced domains as tables of a scene file: the domain tree in a folder beside it, the rest as keys."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

import numpy as np

from supple.bodies.tree import TreeBody, TreeModel, TreeSettings
from supple.errors import BasisWarning, InputError
from supple.files.scenes.writing.values import Table, one_or_each

PLAIN = TreeBody.__dataclass_fields__


def describe_tree(body: TreeBody) -> Table:
    """The table of a tree but its folder: coupling, damping and settings that differ from the defaults."""
    own = ("coupling", "torque", "grown", "statics")
    table: Table = {name: getattr(body, name) for name in own if _differs(body, name)}
    if isinstance(body.tree, TreeModel) and (statics := _statics_of(body.tree)) != body.stretches:
        table["statics"] = statics
    for name in ("mass_damping", "stiffness_damping"):
        if np.any(np.asarray(getattr(body, name)) != PLAIN[name].default):
            table[name] = one_or_each(getattr(body, name))
    plain = TreeSettings()
    given = {f.name: getattr(body.settings, f.name) for f in fields(TreeSettings)}
    changed = {name: value for name, value in given.items() if value != getattr(plain, name)}
    return table | ({"settings": changed} if changed else {})


def _differs(body: TreeBody, name: str) -> bool:
    return bool(getattr(body, name) != PLAIN[name].default)


def _statics_of(model: TreeModel) -> bool:
    """Whether a model was reduced with static responses. Refuses one that was not reduced as `TreeModel.of` does with
    no other options: a file holds no bases."""
    for statics in (True, False):
        with warnings.catch_warnings():  # told when the model itself was made
            warnings.simplefilter("ignore", BasisWarning)
            again: Any = TreeModel.of(model.domain_tree, statics=statics)
        other = [one.name for one, two in zip(model.classes, again.classes) if not np.array_equal(one.U, two.U)]
        if not other:
            return statics
    raise InputError(
        "a tree that was reduced with options of its own cannot be saved",
        where=f"domain kind '{other[0]}'",
        fix="Reduce it by TreeModel.of(domain tree) alone, or keep the scene as a .py file.",
    )
