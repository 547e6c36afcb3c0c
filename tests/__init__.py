"""Tests of both packages; golden playthroughs are written by `python -m tests.playthroughs`."""
