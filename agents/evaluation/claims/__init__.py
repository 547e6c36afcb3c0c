"""Advice of the written sources as experiments: claims, what they are checked by, and verdicts."""
