"""What the rows of one batch answer when Stable-Baselines3 asks them."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.vec_env import VecEnv


class BatchVecEnv(VecEnv):
    """What is asked of the rows of one batch: they have nothing of their own but masks."""

    render_mode: str | None = None

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """One value for all rows, repeated as often as rows were asked for.

        Raises:
            AttributeError: for an attribute that the batch does not have.
        """
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the whole batch; single rows have none.

        Raises:
            ValueError: for some rows only.
        """
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{attr_name} is one for all rows; it cannot be set for some of them")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> Any:
        """Masks by row for ``"action_masks"``; rows have no other methods.

        Raises:
            AttributeError: for another method.
        """
        if method_name != "action_masks" or not hasattr(self, "action_masks"):
            raise AttributeError(f"a row of {type(self).__name__} has no method {method_name!r}")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No row is wrapped."""
        return [False for _ in self._get_indices(indices)]
