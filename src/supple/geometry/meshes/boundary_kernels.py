"""Which faces belong to one element only: faces grouped by their smallest node, compared inside the group."""

from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.geometry.meshes.region import IntArray


@compiled
def compute_face_keys(faces: IntArray, key_out: IntArray, forward_out: IntArray) -> None:
    """Turn each face to its smallest node and its smaller neighbour: equal faces get equal keys.

    faces (k, w): node indices in cyclic order. key_out (k, w).
    forward_out (k,): 1 where the face runs along its key.
    """
    count, width = faces.shape
    for i in range(count):
        first = 0
        for j in range(1, width):
            if faces[i, j] < faces[i, first]:
                first = j
        forward = faces[i, (first + 1) % width] < faces[i, (first + width - 1) % width]
        forward_out[i] = 1 if forward else 0
        for j in range(width):
            step = j if forward else width - j
            key_out[i, j] = faces[i, (first + step) % width]


@compiled
def compute_face_multiplicity(
    key: IntArray, forward: IntArray, start: IntArray, order_out: IntArray, multiplicity_out: IntArray
) -> None:
    """How often each face occurs: 1 on the boundary, 2 inside, 3 where faces overlap or agree in direction.

    start (node_count + 1,): zeros on entry, offsets of the groups on exit.
    order_out (k,): faces by smallest node.
    """
    count, width = key.shape
    for i in range(count):
        start[key[i, 0] + 1] += 1
    for n in range(len(start) - 1):
        start[n + 1] += start[n]
    for i in range(count):
        node = key[i, 0]
        order_out[start[node]] = i
        start[node] += 1
    begin = 0
    for n in range(len(start) - 1):
        end = start[n]
        for a in range(begin, end):
            i = order_out[a]
            same = 1
            for b in range(begin, end):
                k = order_out[b]
                equal = k != i
                for j in range(1, width):
                    equal = equal and key[i, j] == key[k, j]
                if equal:
                    same += 1 if forward[i] != forward[k] else 2
            multiplicity_out[i] = min(same, 3)
        begin = end
