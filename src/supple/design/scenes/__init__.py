"""Scenes as arenas: of Python or of a file, into which designs are placed, or whose robot they replace."""
