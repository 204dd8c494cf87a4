"""Motions that few shapes span: rows of points over them, and steps in which they yield."""
