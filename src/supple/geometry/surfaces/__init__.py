"""Closest points, signed distances and visibility of triangle surfaces."""
