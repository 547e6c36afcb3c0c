"""Learning: typed configurations, run folders, and one module an algorithm."""
