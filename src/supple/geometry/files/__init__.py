"""Mesh files, with guards against broken and hostile ones."""
