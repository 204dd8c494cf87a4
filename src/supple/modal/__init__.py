"""Reduced models of elastic solids: modes, bases, exact cubic forces, mass integrals, interface fits."""

from supple.modal.basis import Attachment, Basis, attachment_modes, mass_principal_components, reduced_basis
from supple.modal.derivatives import modal_derivatives
from supple.modal.forces.cubic import CubicForce
from supple.modal.integrals import MassIntegrals
from supple.modal.interfaces.interface import Interface, InterfaceFit
from supple.modal.reduced_class import ReducedClass, reduce_solid
from supple.modal.reduced_domain import NewmarkSettings, ReducedDomain, ReducedState
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support
from supple.modal.vibration import LinearModes, linear_modes

__all__ = [
    "Attachment",
    "Basis",
    "CubicForce",
    "ElasticSolid",
    "Interface",
    "InterfaceFit",
    "LinearModes",
    "MassIntegrals",
    "NewmarkSettings",
    "ReducedClass",
    "ReducedDomain",
    "ReducedState",
    "Support",
    "attachment_modes",
    "linear_modes",
    "mass_principal_components",
    "modal_derivatives",
    "reduce_solid",
    "reduced_basis",
]
