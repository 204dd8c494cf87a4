"""Speed of populations."""
