"""How long a person waits for a first picture."""
