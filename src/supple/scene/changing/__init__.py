"""What changes of a running system are made of: see `supple.scene.changes`."""
