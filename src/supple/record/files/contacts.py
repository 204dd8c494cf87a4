"""Contacts in a record: who pushed whom at each frame, where, and with which force.

/supple/contacts       names of bodies and obstacles (attribute)
  pair                 (n, 2) numbers of the names
  values               (n, 9) float32: place [m], normal, force [N] on the first of the pair

All frames lie one after another; the column `contacts` has where each of them ends. What a lattice meets within its
own sweep is told for obstacles, a row a voxel, and not for other voxels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.contact.binding.named_pairs import NamedPairs
from supple.record.files.rows import GrowingGroup
from supple.record.files.trust import Group, check_dataset, check_group, plain_json, stored_rows
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.methods.lattice_obstacles import MET

Array = np.ndarray
CHUNK = 1024


class Contacts(NamedTuple):
    """Contacts that pushed: names of both sides, place (k, 3) [m], normal (k, 3), force (k, 3) [N] on the first."""

    pairs: Sequence[tuple[str, str]]
    place: Array
    normal: Array
    force: Array

    def between(self, one: str, other: str) -> Array:
        """The sum of forces on a body or obstacle from another, (3,) [N]."""
        sign = np.array([(pair == (one, other)) - float(pair == (other, one)) for pair in self.pairs])
        return sign @ self.force if len(self.pairs) else np.zeros(3)


def contacts_of(system: System, state: State) -> Contacts:
    """The contacts that pushed in the last step that led to a state; of lattices with obstacles that their sweep meets,
    those that push at the state."""
    found = [contact.touching(state.memory) for contact in system.made_contacts]
    if MET in system.memo:
        found.append(system.memo[MET](state))
    arrays = ([np.zeros((0, 3)), *(getattr(t, name) for t in found)] for name in ("place", "normal", "force"))
    return Contacts(NamedPairs.joined([t.bodies for t in found]), *map(np.concatenate, arrays))


def make_contacts(own: Group, system: System) -> None:
    """The empty tables in the group /supple of a new record."""
    group = own.create_group("contacts")
    names = [name for contact in system.__dict__.get("contacts", ()) for name in contact.names]
    group.attrs["names"] = json.dumps(list(dict.fromkeys(names)))
    group.create_dataset("pair", (0, 2), maxshape=(None, 2), dtype="i4", chunks=(CHUNK, 2))
    group.create_dataset("values", (0, 9), maxshape=(None, 9), dtype="f4", chunks=(CHUNK, 9))


def append_contacts(table: GrowingGroup, start: int, frames: list[Contacts]) -> None:
    """Add the contacts of frames behind the first `start`."""
    pairs = [NamedPairs.joined([contacts.pairs]) for contacts in frames]
    count = sum(map(len, pairs))
    if not count:
        return
    names = json.loads(table.text("names"))
    number = {name: k for k, name in enumerate(names)}
    seen = [name for p in pairs for name in _seen(p) if name not in number]
    if new := dict.fromkeys(seen):  # a body broke
        number |= {name: len(names) + k for k, name in enumerate(new)}
        table.set_text("names", json.dumps(list(number)))
    numbered = [np.array([number.get(name, -1) for name in p.names])[p.numbers] for p in pairs if len(p)]
    table.extend("pair", start, count, np.concatenate(numbered))
    values = np.concatenate([np.hstack([c.place, c.normal, c.force]) for c in frames])
    table.extend("values", start, count, values)


def _seen(pairs: NamedPairs) -> list[str]:
    """The names that occur."""
    return [pairs.names[k] for k in np.unique(pairs.numbers).tolist()]


def contact_bytes(count: int) -> int:
    """So many contacts take no more: chunks that may be begun."""
    return 44 * (count + 2 * CHUNK)


def truncate_contacts(group: Group, count: int) -> None:
    """Keep the first `count` contacts of all frames only."""
    if not 0 <= count <= len(group["pair"]):
        raise ValueError(f"it has {len(group['pair'])} contacts, its frames {count}")
    for name in ("pair", "values"):
        group[name].resize(count, axis=0)


def read_contacts(own: Group, start: int, stop: int) -> Contacts:
    """The contacts of a frame, which lie from `start` to `stop`."""
    group = check_group(own, "contacts")
    names = plain_json(group.attrs.get("names"), "the names of contacts")
    pair, values = check_dataset(group, "pair", "i4", (2,)), check_dataset(group, "values", "f4", (9,))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("the names of contacts are not texts")
    if not 0 <= start <= stop <= min(len(pair), len(values), stored_rows(pair), stored_rows(values)):
        raise ValueError("the contacts of a frame are not in the file")
    numbers, rows = pair[start:stop], values[start:stop].astype(float)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(names):
        raise ValueError("a contact names a body that the record does not have")
    return Contacts(NamedPairs(names, numbers), rows[:, :3], rows[:, 3:6], rows[:, 6:])
