"""PettingZoo's customary module of the environment: ``thirtyone_v0.env(...)``."""

from thirtyone_env.aec import env, raw_env

__all__ = ["env", "raw_env"]
