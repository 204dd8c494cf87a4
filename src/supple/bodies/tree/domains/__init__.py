"""Domains of a tree before it moves: which hang on which, templates, layout in memory."""
