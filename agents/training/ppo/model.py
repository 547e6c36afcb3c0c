"""MaskablePPO of sb3-contrib with a roll-out and an update made for speed.

What is learned, and by what loss, is sb3-contrib's. Other than there

- observations stay the few bytes that are not zero, and the first layer is computed from those, in
  the kernel: a tenth of the work of the dense product, forwards and backwards;
- every seat of the learner is a trajectory of its own, also where several sit at one table;
- minibatches are drawn by a generator of its own, and Adam is torch's fused one.

Shapes: `T` decisions a row, `B` rows, `F` inputs, `A` actions, `N` decisions of a minibatch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from torch import nn

from agents.policies import NetworkPolicy
from agents.policies.network import flattened
from agents.policies.network_kernels import index_rows, pick_rows
from agents.training.ppo.kernels import advantages, hand_rows, loss_slopes, vine_slopes
from agents.training.ppo.network import (
    ACTIVATIONS,
    Experience,
    FirstWeights,
    Forward,
    Gradients,
    Scaled,
    network_of,
)
from agents.training.ppo.tables import LeagueVecEnv, of_generator, to_generator
from agents.training.ppo.vine import Vine
from thirtyone_env.rules import MAX_SEATS

MOST_CARDS = 5
"""In a hand, one too many among them."""
PolicyOf = Callable[[np.ndarray, str], NetworkPolicy]
NUMBERS = (
    "policy_gradient_loss",
    "value_loss",
    "entropy_loss",
    "approx_kl",
    "clip_fraction",
    "gradient",
)
"""What is logged of an update, under `train/`."""
OF_VALUES = ("value_loss", "explained_variance")
"""What there is none of while no value is learned."""


class NoBuffer:
    """In the place of Stable-Baselines3's roll-out buffer, which is not used."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass


class LeaguePPO(MaskablePPO):
    """MaskablePPO at the tables of a league.

    Args:
        env: the tables.
        hidden: units of the hidden layers.
        critic: what the value is learned from: "shared", the hidden layers of the policy; "own",
            hidden layers of its own; "open", of its own, which are shown the others' hands too.
        activation: "relu" or "tanh".
        read_rules: whether the rules are inputs.
        final_entropy: weight of the entropy bonus at the end.
        final_gae_lambda: the decay of advantages at the end; None: it stays as it is.
        value_first: steps at the start in which the value alone is learned.
        teach_first: steps at the start in which the policy learns what the tables' teacher does.
        vine_from: steps from which on decisions are played out, if the teacher is done; None: none
            are. The value is not learned any more then.
        vine_least: an action that the network gives a smaller chance is not played out.
        vine_futures: how often the others are, each time with another stock.
        snapshot_every: steps between two snapshots; 0: none are taken.
        policy_of: makes a policy of the layers of a network and a name; for leagues that let their
            members play each other.
        threads: that minibatches and rows are divided among, besides torch's own.
        seed: of the weights and the minibatches.
        options: those of MaskablePPO.
    """

    def __init__(
        self,
        env: LeagueVecEnv,
        *,
        hidden: tuple[int, ...] = (64, 64),
        critic: Literal["shared", "own", "open"] = "own",
        activation: str = "relu",
        read_rules: bool = False,
        final_entropy: float | None = None,
        final_gae_lambda: float | None = None,
        value_first: int = 0,
        teach_first: int = 0,
        vine_from: int | None = None,
        vine_least: float = 0.02,
        vine_futures: int = 1,
        snapshot_every: int = 0,
        policy_of: PolicyOf | None = None,
        threads: int = 1,
        seed: int = 0,
        **options: Any,
    ) -> None:
        extractor: dict[str, Any] = {
            "most_seats": env.most_seats,
            "read_rules": read_rules,
            "afterstates": env.afterstates,
        }
        if critic == "shared":
            extractor |= {"hidden": hidden, "activation": activation}
        if critic == "open":
            extractor["of_hands"] = hidden[0]
        super().__init__(
            "MlpPolicy",
            cast(Any, env),
            seed=seed,
            rollout_buffer_class=cast(Any, NoBuffer),
            policy_kwargs={
                "net_arch": [] if critic == "shared" else list(hidden),
                "activation_fn": ACTIVATIONS[activation],
                "features_extractor_class": Scaled,
                "features_extractor_kwargs": extractor,
                "optimizer_kwargs": {"eps": 1e-5, "fused": True},
            },
            **options,
        )
        self.tables = env
        self.value_first, self.teach_first, self._begun = value_first, teach_first, 0
        self.snapshot_every, self.policy_of = snapshot_every, policy_of
        self.final_entropy = self.ent_coef if final_entropy is None else final_entropy
        self.final_gae_lambda = self.gae_lambda if final_gae_lambda is None else final_gae_lambda
        self.network = network_of(self.policy, critic == "shared")
        self.experience = Experience(self.n_steps, env.num_envs)
        places = MOST_CARDS * (env.most_seats - 1) if critic == "open" else 0
        self.vine_from, self.vine = vine_from, Vine(env, vine_least, vine_futures)
        self._hands: np.ndarray = np.zeros((env.num_envs, places), np.int16)
        self._shuffles = np.random.Generator(np.random.PCG64([seed, 1]))
        self.seconds: dict[str, float] = {
            "tables": 0.0,
            "asked": 0.0,
            "network": 0.0,
            "update": 0.0,
        }
        if vine_from is not None:
            self.seconds["vine"] = 0.0
        self.threads, self._threads = threads, ThreadPoolExecutor(threads)
        self._parameters = list(self.policy.parameters())
        self._last_obs = env.observations()

    # --- playing ---------------------------------------------------------------------------------

    @property
    def teaching(self) -> bool:
        """Whether this roll-out and its update are a teacher's."""
        return self._begun < self.teach_first

    @property
    def vining(self) -> bool:
        """Whether the decisions of this roll-out are played out."""
        return self.vine_from is not None and self._begun >= self.vine_from and not self.teaching

    @property
    def stage(self) -> str:
        """How the last roll-out was learned from, in words."""
        return "taught" if self.teaching else "played out" if self.vining else "by values"

    def _between(self, first: float, last: float) -> float:
        """What goes from one value to another in a straight line, as far as the training is."""
        return first + (last - first) * (1 - self._current_progress_remaining)

    def collect_rollouts(
        self,
        env: Any,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play; False if the callback wants to stop."""
        tables, kept, rows = self.tables, self.experience, self.tables.num_envs
        self._begun = self.num_timesteps
        callback.on_rollout_start()
        self._renew_league()
        asked, start = tables.asked_seconds, time.perf_counter()
        thinking, first = 0.0, self.network.first_weights(values=not self.vining)
        if self.vining:
            self.vine.begin(n_rollout_steps)
        for t in range(n_rollout_steps):
            here = slice(t * rows, (t + 1) * rows)
            before = time.perf_counter()
            self._think(t, here, first)
            thinking += time.perf_counter() - before
            tables.advance(kept.actions[here])
            kept.rewards[t], kept.ended[t] = tables.rewards, tables.ended
            self.num_timesteps += rows
            if not callback.on_step():
                return False
        if not self.vining:
            self._estimate(n_rollout_steps, first)
        asked = tables.asked_seconds - asked
        self.seconds["asked"] += asked
        self.seconds["network"] += thinking
        self.seconds["tables"] += time.perf_counter() - start - asked - thinking
        if self.vining:
            start = time.perf_counter()
            self.vine.judge(flattened(self.network.weights()), self._threads.map)
            self.seconds["vine"] += time.perf_counter() - start
        callback.on_rollout_end()
        return True

    def _estimate(self, steps: int, first: FirstWeights) -> None:
        """The advantages of the actions taken, by what was paid and the values."""
        kept, tables = self.experience, self.tables
        last = self._forward(steps * tables.num_envs, first)[1]
        decay = self._between(self.gae_lambda, self.final_gae_lambda)
        advantages(
            kept.seats, kept.rewards, kept.ended, kept.values, tables.seat, last,
            self.gamma, decay, np.zeros((4, MAX_SEATS)), kept.advantages, kept.valid,
        )  # fmt: skip

    def _renew_league(self) -> None:
        """Take a snapshot where one is due; new matches are drawn by the chances of now."""
        league, every = self.tables.league, self.snapshot_every
        league.fade()
        if every and self.num_timesteps // every > league.last // every:
            league.add(flattened(self.network.weights()), self.num_timesteps, self.tables.owner)
            if league.sampling == "nash" and self.policy_of is not None:
                league.measure(self.policy_of)
        self.tables.league_changed()
        self.tables.find_chances()

    def _index(self, first: int) -> None:
        tables, more = self.tables, self._hands
        if self.vining:
            more = more[:, :0]  # the policy never sees them
        elif more.shape[1]:
            hand_rows(tables.tables.states, len(self.network.factors), more)
        more = np.hstack([more, tables.beside(tables.tables.states, np.arange(tables.num_envs))])
        index_rows(
            tables.seen, tables.layouts, tables.variant, more, *self.experience.inputs, first
        )

    def _forward(self, start: int, first: FirstWeights) -> tuple[np.ndarray, np.ndarray]:
        """Logits float32[B, A] and values float32[B] of what is seen now, kept from `start` on.

        Without values, float32[0], where `first` are the policy's alone.
        """
        self._index(start)

        def part(rows: np.ndarray) -> Forward:
            with torch.no_grad():
                return self.network.forward(self.experience, rows, first)

        rows = np.array_split(np.arange(start, start + self.tables.num_envs), self.threads)
        parts = list(self._threads.map(part, rows))
        logits = torch.cat([done.logits for done in parts])
        return logits.numpy(), torch.cat([done.values for done in parts]).numpy()

    def _think(self, t: int, here: slice, first: FirstWeights) -> None:
        """Actions, their log-probabilities and values of decision t in every row."""
        kept, tables = self.experience, self.tables
        logits, values = self._forward(here.start, first)
        if self.vining:
            self.vine.keep(here, logits)
        else:
            kept.values[t] = values
        if self.teaching:
            kept.taught[here] = tables.taught()
        kept.masks[here], kept.seats[t] = tables.mask, tables.seat
        lots = tables.lots.random(tables.num_envs)
        pick_rows(logits, tables.mask, lots, kept.actions[here], kept.log_chances[here])

    # --- learning --------------------------------------------------------------------------------

    def train(self) -> None:
        """Update the network by the roll-out."""
        start = time.perf_counter()
        self._update_learning_rate(self.policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        entropy_weight = self._between(self.ent_coef, self.final_entropy)
        kept, vining = self.experience, self.vining
        returns = kept.advantages + kept.values
        rows = self.vine.telling if vining else np.flatnonzero(kept.valid)
        parts = max(1, round(len(rows) / cast(int, self.batch_size)))
        sums, count = np.zeros(len(NUMBERS)), 0
        for _ in range(self.n_epochs if rows.size else 0):
            for batch in np.array_split(self._shuffles.permutation(rows), parts):
                sums += self._step(batch, returns, clip, entropy_weight)
                count += 1
            self._n_updates += 1
        for name, value in zip(NUMBERS, sums / max(count, 1), strict=True):
            self.logger.record(f"train/{name}", float(value))
        if vining:
            for name in OF_VALUES:
                self.logger.name_to_value.pop(f"train/{name}", None)
            self.logger.record("train/telling", len(rows) / kept.valid.size)
        else:
            values, wanted = kept.values[kept.valid], returns[kept.valid]
            spread = float(wanted.var())
            explained = 1 - float((wanted - values).var()) / spread if spread > 0 else 0.0
            self.logger.record("train/explained_variance", explained)
        self.seconds["update"] += time.perf_counter() - start

    def _step(
        self, batch: np.ndarray, returns: np.ndarray, clip: float, entropy_weight: float
    ) -> np.ndarray:
        """One gradient step; float64[6], the parts of the loss and how far it has come."""
        if self.vining:
            mean, spread = 0.0, self.vine.spread(batch)
        else:
            some = self.experience.advantages.reshape(-1)[batch].astype(np.float64)
            mean, spread = some.mean(), some.std(ddof=1)
        numbers = [mean, spread + 1e-8, clip, entropy_weight, self.vf_coef, len(batch)]
        numbers.append(self.teaching)
        weights = self.network.first_weights(values=not self.vining)

        def part(rows: np.ndarray) -> tuple[np.ndarray, Gradients]:
            return self._part(rows, returns, np.array(numbers), weights)

        parts = list(self._threads.map(part, np.array_split(batch, self.threads)))
        for parameter in self._parameters:
            parameter.grad = None
        for (parameter, gradient), *others in zip(*(part[1] for part in parts), strict=True):
            for _, other in others:
                gradient = gradient + other
            parameter.grad = gradient.contiguous()
        length = nn.utils.clip_grad_norm_(self._parameters, self.max_grad_norm)
        self.policy.optimizer.step()
        return np.append(sum(part[0] for part in parts) / len(batch), float(length))

    def _part(
        self, rows: np.ndarray, returns: np.ndarray, numbers: np.ndarray, weights: FirstWeights
    ) -> tuple[np.ndarray, Gradients]:
        """What some decisions of a minibatch contribute: parts of the loss, gradients."""
        kept, done = self.experience, self.network.forward(self.experience, rows, weights)
        slopes, sums = torch.empty_like(done.logits), np.zeros(len(NUMBERS) - 1)
        if self.vining:
            vine = self.vine
            vine_slopes(
                done.logits.numpy(), kept.masks, vine.chances, vine.gains, rows, numbers,
                slopes.numpy(), sums,
            )  # fmt: skip
            return sums, self.network.backward(done, slopes, None)
        value_slopes = torch.empty_like(done.values)
        loss_slopes(
            done.logits.numpy(), done.values.numpy(), kept.masks,
            kept.taught if self.teaching else kept.actions, kept.log_chances,
            kept.advantages.reshape(-1), returns.reshape(-1), rows, numbers, slopes.numpy(),
            value_slopes.numpy(), sums,
        )  # fmt: skip
        if self.num_timesteps <= self.value_first:
            slopes.zero_()
        return sums, self.network.backward(done, slopes, value_slopes)

    # --- saving ----------------------------------------------------------------------------------

    def _excluded_save_params(self) -> list[str]:
        """What Stable-Baselines3's file does not hold: all but the policy; MaskablePPO loads it."""
        ours = ("tables", "network", "experience", "policy_of", "_threads", "_parameters", "vine")
        return [*super()._excluded_save_params(), *ours, "_shuffles", "_hands"]

    @property
    def parts(self) -> dict[str, Any]:
        """What moves beside the network and its optimiser, in the order it is to be restored."""
        return {"league": self.tables.league, "tables": self.tables, "learner": Rest(self)}


@dataclass(frozen=True)
class Rest:
    """What else moves in a model."""

    model: LeaguePPO

    def state(self) -> dict[str, Any]:
        """The generator of the minibatches, and seconds by what they were spent on."""
        return {"shuffles": of_generator(self.model._shuffles), **self.model.seconds}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        model = self.model
        to_generator(model._shuffles, state["shuffles"])
        model.seconds = {name: float(state[name]) for name in model.seconds}
        model._last_obs = model.tables.observations()
