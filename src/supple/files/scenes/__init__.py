"""Scenes as TOML and JSON."""
