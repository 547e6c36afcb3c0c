"""The one place that states the version; read at build time without importing the package."""

__version__ = "0.1.0"
