"""Typed configurations: dataclasses, read from YAML 1.2 files and from the command line.

A field is documented once, in the text below it; `train.py CONFIG --help` and the documentation
read it there. Whatever a file says that no field expects is refused, with the nearest valid key.
"""

from agents.evaluation.options import ConfigError
from agents.training.config.base import BenchmarkConfig, RunConfig
from agents.training.config.charts import ChartConfig
from agents.training.config.files import (
    ALGORITHMS,
    from_mapping,
    load,
    read,
    recipe,
    to_dict,
    to_yaml,
)
from agents.training.config.knock import KnockConfig, KnockDqnConfig, KnockPpoConfig
from agents.training.config.models import PANEL, ModelConfig, PanelConfig
from agents.training.config.ppo import TARGET, BestResponseConfig, PpoConfig
from agents.training.config.solver import SolverConfig

__all__ = [
    "ALGORITHMS",
    "PANEL",
    "TARGET",
    "BenchmarkConfig",
    "BestResponseConfig",
    "ChartConfig",
    "ConfigError",
    "KnockConfig",
    "KnockDqnConfig",
    "KnockPpoConfig",
    "ModelConfig",
    "PanelConfig",
    "PpoConfig",
    "RunConfig",
    "SolverConfig",
    "from_mapping",
    "load",
    "read",
    "recipe",
    "to_dict",
    "to_yaml",
]
