"""Meshes cut into trees of domains: by labels, by regions, automatically, from surfaces."""

from supple.decompose.cut_automatic import automatic_labels
from supple.decompose.cut_mesh import Decomposition, cut, decompose
from supple.decompose.cut_surface import decompose_surface
from supple.decompose.domain_tree_files import load_domain_tree, save_domain_tree

__all__ = [
    "Decomposition",
    "automatic_labels",
    "cut",
    "decompose",
    "decompose_surface",
    "load_domain_tree",
    "save_domain_tree",
]
