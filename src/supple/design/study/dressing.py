"""Dressed designs: the same robots, with the phase of every muscle as its colour."""

from __future__ import annotations

import colorsys
from dataclasses import replace

import numpy as np

from supple.design.arena import Arena
from supple.design.designs import Design
from supple.material.voxel import VoxelMaterial

HUES = 12
PALE = (0.62, 0.66, 0.72, 1.0)


def dressed(arena: Arena, design: Design) -> tuple[Arena, Design]:
    """An arena and a design that move alike, bit for bit, and whose muscles have the colour of their phase.

    Materials that expand have a copy for each of twelve hues, one round of the colours a period.
    """
    phase = design.fields.get("phase")
    muscles = [n for n in np.unique(design.cells[design.cells > 0]).tolist() if arena.materials[n].expansion]
    plain = [n for n in np.unique(design.cells[design.cells > 0]).tolist() if n not in muscles]
    if phase is None or len(plain) + HUES * len(muscles) > 255:
        return arena, design
    hue = np.floor((phase - np.floor(phase)) * HUES).astype(int) % HUES
    cells = np.zeros(design.cells.shape, dtype=int)
    materials: dict[int, VoxelMaterial] = {}
    for number in plain:
        own = arena.materials[number]
        materials[len(materials) + 1] = own if own.colour is not None else replace(own, colour=PALE)
        cells[design.cells == number] = len(materials)
    for number in muscles:
        for k in range(HUES):
            chosen = (design.cells == number) & (hue == k)
            if chosen.any():
                materials[len(materials) + 1] = _coloured(arena.materials[number], k)
                cells[chosen] = len(materials)
    return arena.with_(materials=materials), Design(cells, design.fields, design.controller)


def _coloured(material: VoxelMaterial, hue: int) -> VoxelMaterial:
    red, green, blue = colorsys.hsv_to_rgb(hue / HUES, 0.55, 0.92)
    return replace(material, colour=(red, green, blue, 1.0), name=f"{material.name}, phase {hue} of {HUES}")
