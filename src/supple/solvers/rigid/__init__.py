"""Scenes of free rigid bodies in contact: the Newton iteration of a step in compiled loops."""
