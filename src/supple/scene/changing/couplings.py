"""Springs and joints that are added while a system runs, as plain values: bodies by name, points by numbers or places.

A joint takes hold of its bodies as they stand now: `at` and `axis` are places and directions of now. The state keeps
the positions of these bodies, so that a run that goes on from it finds the same places on them. Springs that are given
no rest length have the distance of now.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import NOT_NUMBERS, InputError
from supple.scene.acting.loads import Springs
from supple.scene.changing.present import PresentNode
from supple.scene.changing.whole import Whole
from supple.scene.joints.joints import BallJoint, FixedJoint, HingeJoint, Joint, SliderJoint
from supple.scene.mapped.points import PointSet, World, WorldPoints
from supple.scene.node import Node
from supple.scene.scene import Scene, joint_kind
from supple.scene.state import State

if TYPE_CHECKING:
    from supple.scene.system import System

Array = np.ndarray
ADDED, REMOVED = "added", "removed"
KINDS = {kind.__name__: kind for kind in (Springs, BallJoint, HingeJoint, SliderJoint, FixedJoint)}
SIDES = ("a", "b")
APART = 1e-6
"""Of the size of the bodies: how far points may be apart that a joint is to hold together."""


def describe(
    system: System, state: State, thing: object, name: str | None
) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """The name, the table and the positions of the bodies of a coupling that is added now."""
    where = "system.add"
    if type(thing).__name__ not in KINDS or type(thing) is not KINDS[type(thing).__name__]:
        raise InputError(
            "this cannot be added while it runs", where=where, value=type(thing).__name__, allowed=", ".join(KINDS),
            fix="Add it to the scene, and enable it when it is wanted.",
        )  # fmt: skip
    table: dict[str, Any] = {"kind": type(thing).__name__}
    names = [_body(side) for side in (thing.a, thing.b)]
    positions = {known: system.positions(state, known).copy() for known in names if known is not None}
    for key in SIDES:
        table[key] = _side(getattr(thing, key), where)
    for field in fields(thing):
        value = getattr(thing, field.name)
        if field.name not in SIDES and value is not None and (np.ndim(value) or value != field.default):
            table[field.name] = _plain(value, field.name, where)
    if isinstance(thing, Springs):
        ends = [_points_now(side, positions) for side in (thing.a, thing.b)]
        table.setdefault("rest_length", np.linalg.norm(ends[1] - ends[0], axis=1).tolist())
    return _new_name(Whole.of(system).scene, thing, name), table, positions


def add_table(whole: Whole, name: str, table: dict[str, Any], positions: dict[str, Array], where: str) -> Whole:
    """With a coupling, from its table."""
    out = whole.copy()
    given = {key: value for key, value in table.items() if key != "kind"}
    for key in SIDES:
        given[key] = _build_side(out.scene, table[key], positions)
    for key in ("patch_a", "patch_b"):
        if isinstance(given.get(key), list):
            given[key] = np.array(given[key], dtype=np.int64)
    if "limits" in given:
        given["limits"] = tuple(given["limits"])
    thing = KINDS[table["kind"]](**given)
    if not isinstance(thing, Springs):
        _refuse_apart(thing.joint(), positions, where)
    out.scene.add(thing, name=name)
    return out


def keep_positions(state: State, number: int, positions: dict[str, Array]) -> None:
    """Keep the positions of bodies with the change of a number, in place of others."""
    prefix = f"changes:{number}/"
    for key in [key for key in state.memory if key.startswith(prefix)]:
        del state.memory[key]
    state.memory.update({f"{prefix}{name}": x for name, x in positions.items()})


def kept_positions(state: State, number: int) -> dict[str, Array]:
    """The positions of bodies that were kept with the change of a number, by name."""
    prefix = f"changes:{number}/"
    return {key.removeprefix(prefix): x for key, x in state.memory.items() if key.startswith(prefix)}


def _body(side: object) -> str | None:
    """The name of the body of a side; None of the world."""
    owner = side.parent if isinstance(side, PointSet) else side
    return owner.name if isinstance(owner, Node) else None


def _side(side: object, where: str) -> dict[str, Any]:
    if side is World or side is None:
        return {}
    if isinstance(side, WorldPoints):
        return {"world": side.rest.tolist()}
    if isinstance(side, Node):
        return {"body": side.name, "whole": True}
    if not isinstance(side, PointSet) or side.taken is None or not isinstance(side.parent, Node):
        raise InputError(
            "these points cannot be kept in a state", where=where, value=getattr(side, "label", type(side).__name__),
            fix="Take them from one body, node.points(...), or from system.present(state, name).points(at=...).",
        )  # fmt: skip
    return {"body": side.parent.name} | {key: np.asarray(value).tolist() for key, value in side.taken.items()}


def _build_side(scene: Scene, table: dict[str, Any], positions: dict[str, Array]) -> Any:
    if "world" in table:
        return replace(World.points(table["world"]), moves=True)
    if "body" not in table:
        return World
    node = scene.node_now(scene.node(table["body"]))
    if "whole" in table:
        return PresentNode.of(node, positions[node.name])
    numbers = np.array(table["numbers"], dtype=np.int64) if "numbers" in table else None
    return node.points(numbers, local=table.get("local"))


def _plain(value: object, key: str, where: str) -> object:
    if isinstance(value, str | bool):
        return value
    if callable(value):
        raise InputError(
            f"{key} is a function, which no state can keep", where=where, value=key, fix="Give numbers or a region."
        )
    try:
        return np.asarray(value, dtype=float).tolist()
    except NOT_NUMBERS:
        raise InputError(f"{key} is not a number or a list of them", where=where, value=value) from None


def _points_now(side: Any, positions: dict[str, Array]) -> Array:
    """Where points of one body, or of the world, are now, (n, 3) [m]."""
    if isinstance(side, Node):
        return positions[side.name]
    if not isinstance(side, PointSet):
        return np.asarray(side.rest)
    x = _points_now(side.parent, positions)
    return x if side.mapping is None else np.asarray(side.mapping.apply(x))


def _refuse_apart(joint: Joint, positions: dict[str, Array], where: str) -> None:
    """Refuse a joint that would have to bring its sides together first."""
    x = np.concatenate([_points_now(part, positions) for part in joint.points.parts])
    open_by = float(np.abs(joint.rows.violation(x)).max(initial=0.0))
    size = max((float(np.ptp(p[:, :3], axis=0).max()) for p in positions.values()), default=0.0) or 1.0
    if open_by > APART * size:
        raise InputError(
            "the two sides of the joint are apart", where=where, value=open_by, allowed=f"up to {APART * size:.2g} m",
            fix="Give two bodies and at=, a place of now, or pull them together by Springs first.",
        )  # fmt: skip


def _new_name(scene: Scene, thing: object, name: str | None) -> str:
    taken = {f.label for f in scene.forces} | {scene.joint_name(j) for j in scene.joints}
    if name in taken:
        raise InputError("the name is already used", where="system.add", value=name)
    base = name or ("springs" if isinstance(thing, Springs) else joint_kind(thing))
    return next(n for k in range(1, len(taken) + 2) if (n := base if k == 1 else f"{base}-{k}") not in taken)
