"""Narrow phase: vertices, edges, balls and obstacles that are near each other."""
