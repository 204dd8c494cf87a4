"""From a scene to a document."""
