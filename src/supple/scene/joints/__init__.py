"""Joints between points and frames."""
