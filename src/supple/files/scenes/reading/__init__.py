"""From a checked document to a scene."""
