"""Reduced elastic forces: exact cubic polynomials of the modal amplitudes."""
