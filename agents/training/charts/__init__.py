"""Knock charts: a bank of rounds, learning on it, and the best response to what was learned."""
