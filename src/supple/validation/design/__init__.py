"""Populations: searches and tasks."""
