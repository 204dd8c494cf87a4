"""Newton's method and the linear steps in it."""
