"""Laws between points, for scalars and lanes, and the obstacles of a scene. No bodies in it."""
