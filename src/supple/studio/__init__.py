"""The studio: a page in the browser that shows a scene while it runs, and the process that runs it."""

from supple.studio.server import view

__all__ = ["view"]
