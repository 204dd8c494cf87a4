"""Accelerations from forces: M a = f, filtered, and velocities made to respect joints.

Where every mass sits on a body, M is block-diagonal and solved body by body; masses on mapped points couple blocks and
take a sparse factorisation.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.sparse.direct import DirectSolver
from supple.bodies.protocols import is_changing
from supple.bodies.traits import is_lumped
from supple.scene.kinematics import Kinematics
from supple.scene.linearization import Linearization
from supple.scene.system import System
from supple.solvers.linear.joint_solve import JointSystem, Matrix, solve_directly, solve_with_joints
from supple.solvers.linear.linear_step import filtered_columns, filtered_matrix

Array = np.ndarray


def is_block_diagonal(system: System) -> bool:
    """Whether each body has exactly one mass, its own."""
    owners = [slot.index for _, slot, _ in system.masses]
    return all(slot.is_body for _, slot, _ in system.masses) and len(set(owners)) == len(owners)


def has_constant_mass(system: System) -> bool:
    """Whether the mass matrix is block-diagonal and the same in every state."""
    return is_block_diagonal(system) and not any(is_changing(mass) for _, _, mass in system.masses)


def solve_mass(system: System, kin: Kinematics, f: Array) -> Array:
    """M^-1 f at a state, flat."""
    if is_block_diagonal(system):
        out = np.zeros_like(f)
        for _, slot, mass in system.joined_masses:
            slot.view_v(out)[:] = kin.mass_of(slot, mass).solve(slot.view_v(f))
        return out
    return solve_directly(_mass_matrix(system, kin), f)[0]


def solve_filtered_mass(system: System, kin: Kinematics, f: Array, given: Array) -> Array:
    """v with M v = f in the free directions and v = given in the filtered ones, flat."""
    if not len(system.filter):
        return solve_mass(system, kin, f)
    if is_block_diagonal(system) and all(is_lumped(mass) for _, _, mass in system.masses):
        v = solve_mass(system, kin, f)  # points do not share mass: each may be projected by itself
        system.filter.project(v)
        return v + given
    rest = f - system.mass_product(kin, given)
    system.filter.project(rest)
    if not has_constant_mass(system):
        return solve_directly(filtered_matrix(system, _mass_matrix(system, kin)), rest)[0] + given
    if "filtered mass" not in system.memo:  # constant, so factored once
        system.memo["filtered mass"] = DirectSolver(filtered_matrix(system, system.linearize(kin).matrix(mass=1.0)))
    return system.memo["filtered mass"].solve(rest).x + given


def _mass_matrix(system: System, kin: Kinematics) -> Matrix:
    lin = Linearization(system, kin, [], False, None)  # forces have no say in the mass
    return lin.small_matrix(mass=1.0) if system.is_small else lin.matrix(mass=1.0)


def acceleration(system: System, kin: Kinematics, dt: float, multipliers: Array | None = None) -> Array:
    """a = M^-1 (f + bias), as prescribed in filtered directions; joints hold by multipliers: G a = -(dG/dt) v.

    dt: the step, for the accelerations of prescribed motions. Limits and motors count where their last multipliers, if
    given, were within their bounds.
    """
    f = system.force(kin) + system.bias(kin)
    keep = np.eye(3) - system.filter.projectors
    led = np.einsum("kij,kj->ki", keep, system.filter.accelerations(kin.t, dt))
    given = system.filter.flat(led, system.v_size)
    if system.joints:
        return _with_joints(system, kin, f, given, multipliers)
    return solve_filtered_mass(system, kin, f, given)


def _with_joints(system: System, kin: Kinematics, f: Array, given: Array, multipliers: Array | None) -> Array:
    lin = system.linearize(kin)
    low, high = system.joint_bounds
    holds = np.isinf(low) & np.isinf(high)
    if multipliers is not None:
        holds |= (multipliers > low) & (multipliers < high)
    always = np.flatnonzero(holds)
    G0 = lin.joint_jacobian()[always]
    G = filtered_columns(system, G0)
    M = filtered_matrix(system, _mass_matrix(system, kin))
    f = f - system.mass_product(kin, given)
    system.filter.project(f)
    e = 1e-6  # (dG/dt) v by a difference along the motion
    ahead = system.propagate(kin.t, system.retract(kin.flat_x, e * kin.flat_v), kin.flat_v)
    behind = system.propagate(kin.t, system.retract(kin.flat_x, -e * kin.flat_v), kin.flat_v)
    rate = system.linearize(ahead).joint_jacobian() - system.linearize(behind).joint_jacobian()
    g = -(rate @ kin.flat_v)[always] / (2 * e) - G0 @ given
    return solve_with_joints(M, f, _held_rows(system, kin, G0, g, always), G, G).d + given


def project_velocity(system: System, kin: Kinematics, multipliers: Array) -> Array:
    """The velocity nearest to kin's, in the kinetic energy, with G v = the rows' rates; prescribed parts stay.

    Rows whose multipliers rest at their bounds (an open limit, a motor at its largest torque) do not count.
    """
    low, high = system.joint_bounds
    holds = np.flatnonzero((multipliers > low) & (multipliers < high))
    lin = system.linearize(kin)
    G0 = lin.joint_jacobian()[holds]
    rates = np.concatenate([rows.rates for _, _, rows in system.joints])[holds]
    G = filtered_columns(system, G0)
    M = filtered_matrix(system, _mass_matrix(system, kin))
    joints = _held_rows(system, kin, G0, rates - G0 @ kin.flat_v, holds)
    return kin.flat_v + solve_with_joints(M, np.zeros(system.v_size), joints, G, G).d


def _held_rows(system: System, kin: Kinematics, G: Matrix, g: Array, holds: Array) -> JointSystem:
    """G d = g for the rows that hold, which are as open as they are at this state."""
    m = len(holds)
    meets = np.concatenate([np.isinf(rows.bounds[0]) & np.isinf(rows.bounds[1]) for _, _, rows in system.joints])
    open = float(np.abs(system.violation(kin)[meets]).max(initial=0.0))
    return JointSystem(G, G, g, np.full(m, np.nan), np.zeros(m), open)
