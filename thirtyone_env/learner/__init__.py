"""One learner a match, many matches side by side: what the interfaces for one agent are made of."""

from thirtyone_env.learner.batch import Learners, LearnerSeat, Opponent
from thirtyone_env.learner.kernels import (
    DECIDES,
    ILLEGAL,
    PENDING,
    TERMINATED,
    TRUNCATED,
    UNDEALT,
)

__all__ = [
    "DECIDES",
    "ILLEGAL",
    "PENDING",
    "TERMINATED",
    "TRUNCATED",
    "UNDEALT",
    "LearnerSeat",
    "Learners",
    "Opponent",
]
