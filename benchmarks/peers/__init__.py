"""One script a library, started by `benchmarks.compare` in that library's environment."""
