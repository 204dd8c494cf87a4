"""How long a person waits who has just installed the package."""
