"""The network of a model's policy, as its roll-outs and updates compute it.

`KernelNetwork` is made for processors: the first layer is a kernel, and gradients are written out.
`GraphNetwork` leaves both to torch, on whatever device the policy is. Both compute the same.

Shapes: `F` inputs, `H` units of a layer, `A` actions, `N` decisions of a minibatch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from agents.policies.inputs import scales
from agents.policies.network_kernels import MOST_INPUTS
from agents.training.ppo.kernels import first_layer, first_layer_gradient, room
from thirtyone_env.actions import NUM_SLOT_ACTIONS
from thirtyone_env.cards import NUM_CARDS
from thirtyone_env.rules import MAX_SEATS

FirstWeights = tuple[torch.Tensor, torch.Tensor]
"""float32[F, H] and float32[H]: weights on bytes, and biases."""
ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU}


class Scaled(BaseFeaturesExtractor):
    """Bytes times their factors; then, where policy and value share them, the hidden layers.

    The weights of the others' hands, where the value is learned from those too, are kept here and
    used by `Network` alone: what Stable-Baselines3 asks does not see them.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        most_seats: int,
        read_rules: bool,
        afterstates: bool = False,
        hidden: tuple[int, ...] = (),
        activation: str = "relu",
        of_hands: int = 0,
    ) -> None:
        size = int(observation_space.shape[0])
        super().__init__(observation_space, hidden[-1] if hidden else size)
        factors = scales(most_seats, rules=read_rules, after=afterstates)
        self.register_buffer("factors", torch.from_numpy(factors))
        layers: list[nn.Module] = []
        for before, after in zip((size, *hidden), hidden, strict=False):
            layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
        self.trunk = nn.Sequential(*layers)
        if of_hands:
            self.hands = nn.Linear(NUM_CARDS * (most_seats - 1), of_hands, bias=False)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """float32[N, F] or what the trunk makes of it."""
        return cast(torch.Tensor, self.trunk(observations * cast(torch.Tensor, self.factors)))


class Experience:
    """One roll-out: what was seen, done and paid, by decision t·B + b."""

    def __init__(self, steps: int, rows: int) -> None:
        size = steps * rows
        self.starts: np.ndarray = np.zeros(size + rows + 1, np.int64)
        self.spots = np.empty((size + rows) * MOST_INPUTS, np.uint16)
        self.amounts = np.empty((size + rows) * MOST_INPUTS, np.uint8)
        self.masks: np.ndarray = np.zeros((size, NUM_SLOT_ACTIONS), np.int8)
        self.actions: np.ndarray = np.zeros(size, np.int64)
        self.taught: np.ndarray = np.zeros(size, np.int64)
        self.log_chances: np.ndarray = np.zeros(size, np.float32)
        self.values: np.ndarray = np.zeros((steps, rows), np.float32)
        self.seats: np.ndarray = np.zeros((steps, rows), np.int8)
        self.rewards: np.ndarray = np.zeros((steps, rows, MAX_SEATS), np.float32)
        self.ended: np.ndarray = np.zeros((steps, rows, MAX_SEATS), np.int8)
        self.advantages: np.ndarray = np.zeros((steps, rows), np.float32)
        self.valid: np.ndarray = np.zeros((steps, rows), bool)

    @property
    def inputs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As the kernels take them: where the inputs of each decision begin, which, how much."""
        return self.starts, self.spots, self.amounts


@dataclass(frozen=True)
class Forward:
    """What a network has computed for some decisions, and what it needs to go back."""

    logits: torch.Tensor
    """float32[N, A], on the processor."""
    values: torch.Tensor
    """float32[N], on the processor; float32[0] where none are wanted."""
    way: Any
    """The network's own."""


Gradients = list[tuple[torch.Tensor, torch.Tensor]]
"""Parameters and what is to be added to their gradients."""


class Network(ABC):
    """The layers of a model's policy."""

    def __init__(self, policy: Any, shared: bool) -> None:
        self.factors: torch.Tensor = policy.features_extractor.factors
        self.relu = policy.activation_fn is nn.ReLU
        self.shared = shared
        self.hands: nn.Linear | None = getattr(policy.features_extractor, "hands", None)
        if shared:
            self.trunks = [_linear(policy.features_extractor.trunk)]
        else:
            extractor = policy.mlp_extractor
            self.trunks = [_linear(extractor.policy_net), _linear(extractor.value_net)]
        self.action, self.value = policy.action_net, policy.value_net

    @abstractmethod
    def forward(self, experience: Experience, rows: np.ndarray, first: FirstWeights) -> Forward:
        """Logits and values of some decisions, by the weights of now; `first` are of them.

        Where `first` are those of the policy alone, there are no values.
        """

    @abstractmethod
    def backward(
        self, done: Forward, slopes: torch.Tensor, value_slopes: torch.Tensor | None
    ) -> Gradients:
        """The gradients of all layers by the slopes of logits and values; None: of the policy."""

    @torch.no_grad()
    def first_weights(self, *, values: bool = True) -> FirstWeights:
        """The first layers side by side, on bytes, until the next step; or the policy's alone."""
        return self._first_weights(values)

    def _first_weights(self, values: bool) -> FirstWeights:
        firsts = [trunk[0] for trunk in self.trunks[: None if values else 1]]
        scaled = (torch.cat([layer.weight for layer in firsts]) * self.factors).t()
        if values and self.hands is not None:
            unseen = scaled.new_zeros((self.hands.in_features, firsts[0].out_features))
            scaled = torch.cat([scaled, torch.cat([unseen, self.hands.weight.t()], dim=1)])
        return scaled.contiguous(), torch.cat([layer.bias for layer in firsts])

    def _trunks(self, first: FirstWeights) -> list[list[nn.Linear]]:
        """The hidden layers that begin with these: all, or the policy's."""
        whole = sum(trunk[0].out_features for trunk in self.trunks)
        return self.trunks if len(first[1]) == whole else self.trunks[:1]

    def weights(self) -> tuple[np.ndarray, ...]:
        """The policy's layers on bytes: float32[in, out] and float32[out] of each in turn."""
        found = []
        with torch.no_grad():
            for i, layer in enumerate([*self.trunks[0], self.action]):
                weight = layer.weight * self.factors if i == 0 else layer.weight
                found.append(weight.t().contiguous().cpu().numpy().copy())
                found.append(layer.bias.cpu().numpy().copy())
        return tuple(found)

    def begin_with(self, weights: tuple[np.ndarray, ...]) -> None:
        """Take over the weights of a policy on bytes, as `weights` gives them."""
        with torch.no_grad():
            layers = [*self.trunks[0], self.action]
            for i, (weight, bias) in enumerate(zip(weights[::2], weights[1::2], strict=True)):
                given = torch.from_numpy(weight.T.copy()).to(self.factors.device)
                if i == 0:
                    given = torch.where(self.factors > 0, given / self.factors.clamp(min=1e-9), 0)
                layers[i].weight.copy_(given)
                layers[i].bias.copy_(torch.from_numpy(bias.copy()))


def _linear(part: nn.Sequential) -> list[nn.Linear]:
    return [layer for layer in part if isinstance(layer, nn.Linear)]


@dataclass(frozen=True)
class Written:
    """What `KernelNetwork` keeps of a forward pass."""

    experience: Experience
    rows: np.ndarray
    """int64[N], the decisions."""
    units: list[list[torch.Tensor]]
    """float32[N, H] after each activation, by trunk."""


class KernelNetwork(Network):
    """A network on the processor: its first layer reads only the inputs that are not zero."""

    @torch.no_grad()
    def forward(self, experience: Experience, rows: np.ndarray, first: FirstWeights) -> Forward:
        """As `Network.forward`; nothing is recorded by torch."""
        weights, biases = first
        out = torch.empty((len(rows), len(biases)))
        first_layer(*experience.inputs, rows, weights.numpy(), biases.numpy(), out.numpy())
        self._activate(out)
        trunks, units = self._trunks(first), []
        parts = out.split([trunk[0].out_features for trunk in trunks], dim=1)
        for trunk, x in zip(trunks, parts, strict=True):
            units.append([x])
            for layer in trunk[1:]:
                x = self._activate(torch.addmm(layer.bias, x, layer.weight.t()))
                units[-1].append(x)
        logits = torch.addmm(self.action.bias, units[0][-1], self.action.weight.t())
        values = torch.empty(0)
        if len(trunks) == len(self.trunks):
            values = torch.addmv(self.value.bias, units[-1][-1], self.value.weight[0])
        return Forward(logits, values, Written(experience, rows, units))

    def _activate(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu_() if self.relu else x.tanh_()

    def _through(self, slopes: torch.Tensor, units: torch.Tensor) -> torch.Tensor:
        """Slopes before an activation, by those after it."""
        if self.relu:
            return torch.ops.aten.threshold_backward(slopes, units, 0)
        return torch.ops.aten.tanh_backward(slopes, units)

    @torch.no_grad()
    def backward(
        self, done: Forward, slopes: torch.Tensor, value_slopes: torch.Tensor | None
    ) -> Gradients:
        """As `Network.backward`."""
        found: Gradients = []
        way: Written = done.way
        heads = [_back(self.action, slopes, way.units[0][-1], found)]
        if value_slopes is not None:
            value = _back(self.value, value_slopes[:, None], way.units[-1][-1], found)
            heads = [heads[0] + value] if self.shared else [heads[0], value]
        firsts = []
        for trunk, units, x in zip(self.trunks, way.units, heads, strict=False):
            for layer, after, before in zip(trunk[:0:-1], units[:0:-1], units[-2::-1], strict=True):
                x = _back(layer, self._through(x, after), before, found)
            firsts.append(self._through(x, units[0]))
        self._first_back(way, torch.cat(firsts, dim=1), found)
        return found

    def _first_back(self, way: Written, slopes: torch.Tensor, found: Gradients) -> None:
        """The gradients of the first layers, by the slopes of all their units."""
        layers = [trunk[0] for trunk in self.trunks[: len(way.units)]]
        sizes = [layer.out_features for layer in layers]
        hands = self.hands if len(layers) > 1 else None
        inputs, more = len(self.factors), 0 if hands is None else hands.in_features
        gradient = torch.zeros((inputs + more, slopes.shape[1]))
        given = *way.experience.inputs, way.rows, slopes.numpy()
        first_layer_gradient(*given, room(len(gradient)), gradient.numpy())
        if hands is not None:
            found.append((hands.weight, gradient[inputs:, sizes[0] :].t()))
        parts = (gradient[:inputs].t() * self.factors).split(sizes)
        for layer, weight, bias in zip(layers, parts, slopes.sum(0).split(sizes), strict=True):
            found += [(layer.weight, weight), (layer.bias, bias)]


def _back(
    layer: nn.Linear, slopes: torch.Tensor, given: torch.Tensor, found: Gradients
) -> torch.Tensor:
    """Find a layer's gradients; the slopes of what it was given."""
    found.append((layer.weight, slopes.t() @ given))
    found.append((layer.bias, slopes.sum(0)))
    return slopes @ layer.weight


class GraphNetwork(Network):
    """A network on any device: torch records what is computed, and goes back by itself."""

    def forward(self, experience: Experience, rows: np.ndarray, first: FirstWeights) -> Forward:
        """As `Network.forward`; `first` is computed anew where gradients are wanted."""
        trunks = self._trunks(first)
        whole = len(trunks) == len(self.trunks)
        weights, biases = self._first_weights(whole) if torch.is_grad_enabled() else first
        x = self._activate(_bags(experience, rows, weights) + biases)
        parts = x.split([trunk[0].out_features for trunk in trunks], dim=1)
        ends = []
        for trunk, x in zip(trunks, parts, strict=True):
            for layer in trunk[1:]:
                x = self._activate(layer(x))
            ends.append(x)
        logits = self.action(ends[0])
        values = self.value(ends[-1])[:, 0] if whole else logits.new_empty(0)
        return Forward(logits.detach().cpu(), values.detach().cpu(), (logits, values))

    def _activate(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu() if self.relu else x.tanh()

    def backward(
        self, done: Forward, slopes: torch.Tensor, value_slopes: torch.Tensor | None
    ) -> Gradients:
        """As `Network.backward`."""
        layers, ends, given = [*self.trunks[0], self.action], done.way[:1], [slopes]
        if value_slopes is not None:
            layers += [layer for trunk in self.trunks[1:] for layer in trunk] + [self.value]
            layers += [] if self.hands is None else [self.hands]
            ends, given = done.way, [slopes, value_slopes]
        parameters = [parameter for layer in layers for parameter in layer.parameters()]
        slopes_there = [some.to(self.factors.device) for some in given]
        gradients = torch.autograd.grad(ends, parameters, slopes_there)
        return list(zip(parameters, gradients, strict=True))


def _bags(experience: Experience, rows: np.ndarray, weights: torch.Tensor) -> torch.Tensor:
    """float32[N, H]: for each decision, rows of the weights added up, each so many times."""
    starts, ends = experience.starts[rows], experience.starts[rows + 1]
    lengths = ends - starts
    begins = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(starts - begins, lengths)
    device = weights.device
    spots = torch.from_numpy(experience.spots[places].astype(np.int64)).to(device)
    amounts = torch.from_numpy(experience.amounts[places].astype(np.float32)).to(device)
    return nn.functional.embedding_bag(
        spots, weights, torch.from_numpy(begins).to(device), mode="sum", per_sample_weights=amounts
    )


def network_of(policy: Any, shared: bool) -> Network:
    """The network of a policy: the quicker one for the device that the policy is on."""
    on_processor = policy.device.type == "cpu"
    return (KernelNetwork if on_processor else GraphNetwork)(policy, shared)
