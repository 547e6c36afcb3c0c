"""Measurements of speed."""
