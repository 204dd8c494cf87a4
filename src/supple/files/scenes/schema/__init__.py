"""What a scene file may hold."""
