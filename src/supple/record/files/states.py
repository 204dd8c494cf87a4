"""States in a record: exact doubles, and whatever else a state remembers, under any name.

states/<step>        t (attribute)
  x, v               positions and velocities
  memory/<number>    an array; its attribute `name` is its name in the state, where a slash is no group of HDF5
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from supple.record.files.rows import add_array, described
from supple.record.files.trust import check_dataset, check_group, read_all, real_number
from supple.scene.state import State

Group = Any  # h5py.Group; h5py is loaded where a record is opened


def state_name(step: int) -> str:
    """The group of the state after a step."""
    return f"{step:012d}"


def write_state(states: Group, state: State, step: int) -> None:
    """Add a state to the group of all."""
    import h5py
    from h5py import h5a, h5s

    group = states.create_group(state_name(step))
    group.attrs["t"] = state.t
    add_array(group, "x", state.x)
    add_array(group, "v", state.v)
    memory, text = group.create_group("memory"), h5py.string_dtype()
    kind, single = described(text), h5s.create(h5s.SCALAR)
    for number, (name, array) in enumerate(state.memory.items()):
        kept = add_array(memory, f"{number:06d}", array)
        h5a.create(kept, b"name", kind, single).write(np.array(name, dtype=text))


def read_state(states: Group, step: int) -> State:
    """The state after a step."""
    group = check_group(states, state_name(step))
    x, v = (read_all(check_dataset(group, name, "f8", ())) for name in ("x", "v"))
    kept = check_group(group, "memory") if "memory" in group else {}
    stored = {number: check_dataset(kept, number) for number in kept}
    memory = {str(array.attrs.get("name", number)): read_all(array) for number, array in stored.items()}
    return State(real_number(group.attrs.get("t"), "the time of the state"), x, v, memory)


def kept_steps(states: Group) -> list[int]:
    """The steps whose states are kept."""
    names = list(states)
    if not all(re.fullmatch("[0-9]{12,18}", name) for name in names):
        raise ValueError("its states are not named by their steps")
    return sorted(map(int, names))
