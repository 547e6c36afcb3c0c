"""Playing policies against each other, and saying how sure the result is."""
