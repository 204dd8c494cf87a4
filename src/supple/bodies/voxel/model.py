"""The lattice of a voxel grid: voxels with mass and inertia, and links between face neighbours, as frozen arrays.

    E_c = 2 E1 E2 / (E1 + E2),  G_c = 2 G1 G2 / (G1 + G2)                               [HL12, eqs. 1, 2]
    a1 = E_c l,  b1 = E_c l,  a2 = G_c l³/6,  b3 = E_c l³/6                             [HL12, eqs. 4, 5, 8-12]
    a1 = E_c l²/L0, with the rest length L0 of now, where links follow it (`by_rest`)   Voxelyze
    m = rho l³,  I = m l²/6                                                             a cube
    c_u = zeta sqrt(m a1),  c_t = zeta sqrt(2 I b3)                                     of a link  [HL12, eqs. 34, 35]
    c = 2 zeta sqrt(m E l),  c_r = 2 zeta sqrt(I E l³)                                  of a voxel to the world

The damping of a link acts on the whole relative velocity, which is twice the velocity relative to the mean that the
source's factor 2 multiplies. Between unlike voxels m and I are the geometric and zeta the arithmetic mean, so that
forces stay equal and opposite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.voxel.groups.finding import find_groups
from supple.bodies.voxel.links.link_laws import LinkLaws
from supple.errors import NOT_NUMBERS, InputError, check_instance, check_row
from supple.geometry import VoxelGrid
from supple.material.voxel import NUMBERS, VoxelMaterial

Array = np.ndarray
APART = 8  # bodies side by side start at multiples of this, so that no brick holds two
Palette = VoxelMaterial | Sequence[VoxelMaterial] | Mapping[int, VoxelMaterial]


def palette_of(grid: VoxelGrid, palette: Palette) -> dict[int, VoxelMaterial]:
    """The material of each number in a grid. A sequence counts from 1; one material alone serves all numbers."""
    numbers = list(grid.material_counts)
    if isinstance(palette, VoxelMaterial):
        return dict.fromkeys(numbers, palette)
    if not isinstance(palette, Mapping):
        check_row(palette, VoxelMaterial, "materials of voxels", where="voxel body")
    given = dict(palette) if isinstance(palette, Mapping) else dict(enumerate(palette, start=1))
    for material in given.values():
        check_instance(material, VoxelMaterial, "a material of voxels", where="voxel body")
    missing = [n for n in numbers if n not in given]
    if missing:
        raise InputError(
            "the palette lacks a material of the grid",
            where="voxel body",
            value=missing[0],
            allowed=", ".join(str(n) for n in given) or "an empty palette has none",
        )
    for n in numbers:
        if not isinstance(given[n], VoxelMaterial):
            raise InputError(f"material {n} is not a VoxelMaterial", where="voxel body", value=type(given[n]).__name__)
    return {n: given[n] for n in numbers}


@dataclass(frozen=True, eq=False)
class VoxelModel:
    """A lattice, of one body or of several that lie apart. Voxels are in the order of `grid.voxels`.

    cells (n, 3): places in the grid. centres (n, 3), size (n,) [m]. properties: numbers of the voxels' materials, (n,)
    each. mass [kg], inertia [kg m²], ground_damping (n, 2) [N s/m, N m s]: of the voxels. transverse (n,): Poisson's
    ratio where strains are coupled across axes, else zero. by_rest (n,) bool: voxels whose links have an axial
    stiffness that follows their rest length. group (n,): number of the rigid body that a voxel belongs to, -1: none;
    see `groups`. Links within one, and between two of one lattice, have no stiffness and no damping.
    link_voxels (m, 2), link_axis (m,) 0, 1, 2; link_stiffness (m, 4) a1, b1 [N/m], a2, b3/2 [N m]; link_damping (m, 2)
    c_u [N s/m], c_t [N m s]. laws: where links yield and fail.
    """

    cells: Array
    centres: Array
    size: Array
    properties: dict[str, Array]
    mass: Array
    inertia: Array
    ground_damping: Array
    transverse: Array
    by_rest: Array
    group: Array
    link_voxels: Array
    link_axis: Array
    link_stiffness: Array
    link_damping: Array
    laws: LinkLaws

    @classmethod
    def make(
        cls,
        grid: VoxelGrid,
        palette: Palette,
        *,
        young: ArrayLike | None = None,
        density: ArrayLike | None = None,
        transverse: bool = False,
        stiffness_by_rest: bool = False,
    ) -> VoxelModel:
        """Find the links and compute their constants.

        young [Pa], density [kg/m³]: instead of the materials' own, for each voxel (n,) or cell of the grid. transverse:
        couple strains across axes, so that Poisson's ratio acts as in a solid. stiffness_by_rest: let the axial
        stiffness of links follow their rest length.
        """
        materials = palette_of(grid, palette)
        l = np.float64(grid.voxel_size)
        values = {name: material_values(grid, materials, name) for name in NUMBERS}
        for name, given in (("young", young), ("density", density)):
            if given is not None:
                values[name] = voxel_field(grid, given, name)
        nu = values["poisson"] if transverse else np.zeros(grid.voxel_count)
        if (nu > 0.49).any():
            raise InputError(
                "coupled strains do not carry this Poisson's ratio",
                where="voxel body",
                value=float(nu.max()),
                allowed="<= 0.49 with transverse=True",
            )
        is_linear = all(m.is_linear for m in materials.values())
        if stiffness_by_rest and (transverse or not is_linear):
            raise InputError(
                "an axial stiffness by the rest length goes with plain links alone",
                where="voxel body",
                value="transverse=True" if transverse else "materials that yield or fail",
                fix="Leave out stiffness_by_rest, or the other.",
            )
        E1, zeta = values["young"], values["bond_damping"]
        shear = E1 / (2 * (1 + values["poisson"]))
        group = find_groups(grid.materials, [n for n, m in materials.items() if m.rigid])[tuple(grid.voxels.T)]
        if transverse and (group >= 0).any():
            raise InputError(
                "rigid cells do not go with coupled strains",
                where="voxel body",
                value="transverse=True",
                fix="Leave out transverse, or rigid in the material.",
            )
        link_voxels, link_axis = face_neighbours(grid)
        one, two = link_voxels.T
        with np.errstate(over="ignore", invalid="ignore"):
            mass = values["density"] * l**3
            inertia = mass * l**2 / 6  # (14.3)
            E = 2 * E1[one] * E1[two] / (E1[one] + E1[two])  # (14.1)
            G = 2 * shear[one] * shear[two] / (shear[one] + shear[two])  # (14.1)
            z = (zeta[one] + zeta[two]) / 2
            c_u = z * np.sqrt(np.sqrt(mass[one] * mass[two]) * E * l)  # (14.4)
            c_t = z * np.sqrt(np.sqrt(inertia[one] * inertia[two]) * E * l**3 / 3)  # (14.4)
            drag = 2 * values["ground_damping"]
            ground = np.stack([drag * np.sqrt(mass * E1 * l), drag * np.sqrt(inertia * E1 * l**3)], axis=1)  # (14.5)
            stiffness = np.stack([E * l, E * l, G * l**3 / 6, E * l**3 / 12], axis=1)  # (14.2)
        damping = np.stack([c_u, c_t], axis=1)
        between = (group[one] >= 0) & (group[two] >= 0)
        stiffness[between], damping[between] = 0.0, 0.0
        numbers = np.array(list(materials))
        kind = np.searchsorted(numbers, grid.materials[tuple(grid.voxels.T)])
        kinds = list(materials.values())
        if young is not None and not is_linear:  # a material of its own for each modulus
            found, kind = np.unique(np.stack([kind, E1], axis=1), axis=0, return_inverse=True)
            kind = kind.ravel()
            kinds = [with_young(kinds[int(k)], float(modulus)) for k, modulus in found]
        laws = LinkLaws.linear(len(one)) if is_linear else LinkLaws.of(kinds, kind[one], kind[two])
        return cls._frozen(
            cells=grid.voxels.copy(),
            centres=np.array(grid.voxel_centres),
            size=np.full(grid.voxel_count, float(l)),
            properties=values,
            mass=mass,
            inertia=inertia,
            ground_damping=ground,
            transverse=nu,
            by_rest=np.full(grid.voxel_count, bool(stiffness_by_rest)),
            group=group,
            link_voxels=link_voxels,
            link_axis=link_axis,
            link_stiffness=stiffness,
            link_damping=damping,
            laws=laws,
        )

    @classmethod
    def _frozen(cls, **values: object) -> VoxelModel:
        """A model whose arrays nobody writes to; refused where numbers overflow."""
        model = cls(**values)  # type: ignore[arg-type]
        constants = (model.mass, model.inertia, model.ground_damping, model.link_stiffness, model.link_damping)
        if not (all(np.isfinite(array).all() for array in constants) and (model.inertia > 0).all()):
            raise InputError(
                "masses, stiffnesses or damping of the voxels are not finite numbers, or vanish",
                where="voxel body",
                value=float(model.size.max()),
                fix="Look at the voxel size [m] and the materials' numbers [Pa, kg/m³].",
            )
        for field in fields(model):
            array = getattr(model, field.name)
            if isinstance(array, np.ndarray):
                array.setflags(write=False)
        return model

    @classmethod
    def joined(cls, models: Sequence[VoxelModel]) -> VoxelModel:
        """Several lattices as one, side by side in the grid without links between them; centres as they are."""
        if len(models) == 1:
            return models[0]
        shifts, first = [], 0
        for model in models:
            shifts.append(np.array([first, 0, 0]))
            first += APART * (int(model.cells[:, 0].max()) // APART + 1)
        starts = np.cumsum([0, *(model.voxel_count for model in models)])
        groups = np.cumsum([0, *(model.group_count for model in models)])

        def stacked(name: str) -> Array:
            return np.concatenate([getattr(model, name) for model in models])

        plain = ("centres", "size", "mass", "inertia", "ground_damping", "transverse", "by_rest")
        links = ("link_axis", "link_stiffness", "link_damping")
        return cls._frozen(
            cells=np.concatenate([model.cells + shift for model, shift in zip(models, shifts)]),
            properties={name: np.concatenate([m.properties[name] for m in models]) for name in NUMBERS},
            link_voxels=np.concatenate([model.link_voxels + start for model, start in zip(models, starts)]),
            laws=LinkLaws.joined([model.laws for model in models]),
            group=np.concatenate([np.where(m.group < 0, -1, m.group + k) for m, k in zip(models, groups)]),
            **{name: stacked(name) for name in plain + links},
        )

    def with_links(self, kept: Array) -> VoxelModel:
        """The same with some of its links, kept (m,) true."""
        laws = LinkLaws(self.laws.knot[kept], self.laws.change[kept], self.laws.failure[kept])
        names = ("link_voxels", "link_axis", "link_stiffness", "link_damping")
        return replace(self, laws=laws, **{name: getattr(self, name)[kept] for name in names})

    @property
    def group_count(self) -> int:
        """How many rigid bodies are in it."""
        return int(self.group.max(initial=-1)) + 1

    @cached_property
    def with_stiffness(self) -> VoxelModel:
        """The same without the links of rigid cells with each other, which carry nothing."""
        carries = self.link_stiffness[:, 0] > 0.0
        return self if carries.all() else self.with_links(carries)

    def values(self, name: str) -> Array:
        """A number of each voxel's material, such as "expansion", (n,)."""
        return self.properties[name]

    @property
    def voxel_count(self) -> int:
        """How many voxels."""
        return len(self.cells)

    @property
    def extent(self) -> float:
        """Of the lattice at rest, along the axis where it is longest [m]."""
        return float(np.ptp(self.centres, axis=0).max() + self.size.max())

    @property
    def link_count(self) -> int:
        """How many links."""
        return len(self.link_axis)

    @cached_property
    def rest_frames(self) -> Array:
        """Rest coordinates (n, 7): centres, and no rotation."""
        x = np.zeros((self.voxel_count, 7))
        x[:, :3] = self.centres
        x[:, 3] = 1.0
        return x

    @property
    def link_rest(self) -> Array:
        """Rest lengths [m], (m,)."""
        return self.size[self.link_voxels[:, 0]].copy()


def voxel_field(grid: VoxelGrid, given: ArrayLike, name: str) -> Array:
    """Positive numbers for each voxel, from (n,) or from one for each cell of the grid."""
    try:
        values = np.array(given, dtype=float)
    except NOT_NUMBERS:
        values = np.full(1, np.nan)
    if values.shape == tuple(grid.shape):
        values = values[tuple(grid.voxels.T)]
    if values.shape != (grid.voxel_count,):
        raise InputError(
            f"the field of {name} has another shape",
            where="voxel body",
            value=values.shape,
            allowed=f"({grid.voxel_count},) or {tuple(grid.shape)}",
        )
    bad = ~(np.isfinite(values) & (values > 0))
    if bad.any():
        raise InputError(
            f"{name} of a voxel is not positive",
            where=f"voxel {int(np.flatnonzero(bad)[0])}",
            value=float(values[bad][0]),
            allowed="> 0",
        )
    return values


def with_young(material: VoxelMaterial, young: float) -> VoxelMaterial:
    """A material with another Young's modulus; refused where its stress-strain curve is a table."""
    if material.curve is not None and young != material.young:
        raise InputError(
            "a field of Young's modulus does not go with a stress-strain curve",
            where=f"material '{material.name}'",
            value=young,
            allowed=f"{material.young:g} Pa",
            fix="Leave young= out for voxels of this material, or give yield_stress and plastic_modulus.",
        )
    return replace(material, young=young)


def material_values(grid: VoxelGrid, materials: dict[int, VoxelMaterial], name: str) -> Array:
    """A number of each voxel's material, (n,)."""
    which = np.searchsorted(np.array(list(materials)), grid.materials[tuple(grid.voxels.T)])
    return np.array([getattr(m, name) for m in materials.values()], dtype=float)[which]


def face_neighbours(grid: VoxelGrid) -> tuple[Array, Array]:
    """Pairs of voxels that share a face, lower one first, (m, 2), and their axes, (m,); along x, then y, then z."""
    number = np.full(grid.shape, -1, dtype=np.int64)
    number[tuple(grid.voxels.T)] = np.arange(grid.voxel_count)
    pairs, axes = [], []
    for axis in range(3):
        low = np.take(number, np.arange(grid.shape[axis] - 1), axis=axis).ravel()
        high = np.take(number, np.arange(1, grid.shape[axis]), axis=axis).ravel()
        both = (low >= 0) & (high >= 0)
        pairs.append(np.stack([low[both], high[both]], axis=1))
        axes.append(np.full(int(both.sum()), axis))
    return np.concatenate(pairs), np.concatenate(axes)
