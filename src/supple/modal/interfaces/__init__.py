"""Interfaces of domains: frames fitted to their vertices."""
