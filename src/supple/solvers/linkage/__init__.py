"""Frames on joints: rigid and floating bodies, stepped together in compiled loops."""
