"""What acts on bodies: loads, wind, filters, breaking."""
