"""Runs for other programs: USD, glTF, and skins with bones for game engines."""
