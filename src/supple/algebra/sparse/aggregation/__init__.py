"""A preconditioner by rigid motions of aggregates of points."""
