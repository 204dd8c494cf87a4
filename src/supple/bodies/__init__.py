"""The kinds of bodies, side by side. A body is a frozen model; placed in a scene, it has coordinates."""
