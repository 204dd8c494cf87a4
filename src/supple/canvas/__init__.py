"""The canvas: one ES module that draws scenes in a browser, and the bytes that it draws from."""

from supple.canvas.frames import encode_frame
from supple.canvas.header import Header, make_header
from supple.canvas.shapes import CarriedShape, PointsShape, Shape

__all__ = ["CarriedShape", "Header", "PointsShape", "Shape", "encode_frame", "make_header"]
