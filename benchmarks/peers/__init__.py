"""What `benchmarks.compare` starts: one script a library, each in that library's own environment."""
