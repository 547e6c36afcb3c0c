"""Thirty-One as a game of OpenSpiel, ``python_thirty_one``, with explicit chance nodes.

Importing this module registers the game::

    import pyspiel
    import thirtyone_env.adapters.openspiel

    game = pyspiel.load_game("python_thirty_one(rules=danish,players=3,min_knock=21.0)")

Parameters are those of `PARAMETERS`. OpenSpiel fixes the type of each and knows no absent value,
so a parameter left at −1 or empty means "as the preset says": flags are 0 or 1, worths are
floating (``30.5``, ``31.0``; 0.0 for none), choices are words.

Strings of information states have perfect recall of the whole match. Tensors of information states
have it within the round in progress; of the rounds before they hold what the observation holds
(lives, stakes, knocks so far), so in ``episode=round`` they have it too. At a chance node a player
sees what was seen at the decision or deal before it.

Shapes: S seats, A = 65 actions, C = 56 cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from thirtyone_env import game as engine
from thirtyone_env.actions import NUM_ACTIONS, action_name
from thirtyone_env.cards import NAMES, NO_CARD, NUM_CARDS, cards_of, names_of, parse_cards
from thirtyone_env.observation import observation_size
from thirtyone_env.render import render_text
from thirtyone_env.rules import FIELDS, MAX_SEATS, Rules
from thirtyone_env.state import NOBODY
from thirtyone_env.tree import LOT, Node, Tree

_INT_LIMIT = (1 << 31) - 1
_CHOICES = {"episode": ("match", "round"), "reward": ("", *engine.RESULT_KINDS)}
_WORTHS = ("three_of_a_kind", "three_aces", "suited_run", "blitz_value", "min_knock")
_PLAIN = Rules()


def _neutral(field: str) -> int | float | str:
    """The value of a rule's parameter that leaves the rule as the preset has it."""
    if field in _WORTHS:
        return -1.0
    return "" if isinstance(getattr(_PLAIN, field), str) else -1


_OWN_PARAMETERS: dict[str, int | float | str] = {
    "rules": "danish",
    "players": 2,
    "episode": "match",
    "reward": "",
    "dealer": -1,
    "start_lives": "",
    "cards": "",
    "deck": "",
}
PARAMETERS = _OWN_PARAMETERS | {field: _neutral(field) for field in FIELDS}
"""Every parameter with its default.

Besides the fields of `Rules`: ``rules`` (a preset), ``players`` (seats), ``episode`` (match, round)
and ``reward`` (match, lives, equity; empty: match for matches, lives for rounds) as for the
environment; ``dealer`` (seat of the first dealer; −1: chance draws it), ``start_lives`` (one number
a seat), ``cards`` (those that the deck consists of; empty: the deck of the rules) and ``deck``
(cards in dealing order that the first round begins with, known to all).
"""


_GAME_TYPE = pyspiel.GameType(
    short_name="python_thirty_one",
    long_name="Python Thirty-One",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_SEATS,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification=PARAMETERS,
)


# --- parameters ----------------------------------------------------------------------------------


def _choice(name: str, value: Any) -> str:
    if value not in _CHOICES[name]:
        allowed = ", ".join(map(repr, _CHOICES[name]))
        raise ValueError(f"{name} = {value!r} is not allowed; allowed: {allowed}")
    return str(value)


def _rule(field: str, value: Any) -> Any:
    """The value of a field of `Rules` that a parameter stands for."""
    if isinstance(getattr(_PLAIN, field), bool):
        if value not in (0, 1):
            raise ValueError(f"{field} = {value!r} is not allowed; allowed: 0, 1, or −1 (preset)")
        return bool(value)
    if getattr(_PLAIN, field) is None and value == 0:
        return None
    return value


def _numbers(name: str, text: str) -> tuple[int, ...] | None:
    """The numbers of a text; None where it is empty."""
    try:
        return tuple(map(int, text.split())) or None
    except ValueError:
        raise ValueError(f"{name} = {text!r} is not allowed; allowed: a number a seat") from None


def make_tree(parameters: dict[str, Any]) -> Tree:
    """The game tree that all the parameters, or some of them, describe.

    Raises:
        ValueError: for a value that is not allowed.
    """
    given = PARAMETERS | parameters
    changes = {f: _rule(f, given[f]) for f in FIELDS if given[f] != PARAMETERS[f]}
    rules = Rules.preset(given["rules"], **changes)
    return Tree(
        rules,
        given["players"],
        one_round=_choice("episode", given["episode"]) == "round",
        dealer=None if given["dealer"] == -1 else given["dealer"],
        lives=_numbers("start_lives", given["start_lives"]),
        cards=tuple(parse_cards(given["cards"])),
        deck=tuple(parse_cards(given["deck"])),
    )


# --- bounds --------------------------------------------------------------------------------------


def _most_turns(tree: Tree) -> int:
    """Turns of a round at most: up to the cap, where the last one may be a knock."""
    return tree.rules.max_turns + tree.num_players - 1


def _most_decisions(tree: Tree) -> int:
    """Decisions of a round at most, those about buy-ins after it included."""
    buyers = tree.num_players if tree.rules.buy_ins and not tree.one_round else 0
    return 2 * _most_turns(tree) + tree.rules.dealer_choice + buyers


def _rounds(tree: Tree) -> int:
    return 1 if tree.one_round else tree.rules.max_rounds


def _most_cards(tree: Tree) -> int:
    """Chance nodes of a round at most: the deal, a dealer's choice, draws or new tables."""
    dealt = tree.num_players * tree.rules.hand_size + 3 + 3
    return dealt + _most_turns(tree) * (3 if tree.rules.family == "exchange" else 1)


def _utilities(tree: Tree, reward: str) -> tuple[float, float]:
    """Bounds of the payoffs: met for "match", wide for "lives" in matches."""
    rules, others = tree.rules, tree.num_players - 1
    if reward == "match":
        most = 1 + (0 if tree.one_round else rules.buy_ins)
        return -most / others, float(most)
    if reward == "equity":
        start = engine.payoffs(tree.prepare(0), "equity")
        return -float(start.max()), 1.0 - float(start.min())
    worst = rules.knocker_lowest_loss
    if tree.one_round:
        return -float(worst), max(1.0, worst / others)
    # Rounds in which a seat loses: one a life, the free ride, a decider, and one a buy-in.
    losses = max(tree.lives or (rules.lives,)) + 2 + rules.buy_ins
    return -float(worst * losses), float(worst * losses * others)


# --- the game ------------------------------------------------------------------------------------


class ThirtyOneGame(pyspiel.Game):
    """The game with its parameters; `pyspiel.load_game` makes it."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {k: v for k, v in (params or {}).items() if v != PARAMETERS.get(k)}
        tree = make_tree(given)
        reward = _choice("reward", given.get("reward", ""))
        self.tree = tree
        self.reward = reward or ("lives" if tree.one_round else "match")
        self.root = tree.root()
        low, high = _utilities(tree, self.reward)
        buyers = tree.num_players * (tree.rules.buy_ins + 1) if tree.rules.buy_ins else 0
        decisions = _rounds(tree) * _most_decisions(tree) + buyers
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=max(tree.cards) + 1,
            num_players=tree.num_players,
            min_utility=low,
            max_utility=high,
            utility_sum=0.0,
            max_game_length=min(decisions, _INT_LIMIT),
        )
        super().__init__(_GAME_TYPE, info, given)

    def max_chance_nodes_in_history(self) -> int:
        """Cards dealt at most, and the lot for the dealer."""
        return min(1 + _rounds(self.tree) * _most_cards(self.tree), _INT_LIMIT)

    def new_initial_state(self) -> ThirtyOneState:
        """The state before anything was dealt."""
        return ThirtyOneState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> ThirtyOneObserver:
        """What players see, as strings and tensors."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return ThirtyOneObserver(self.tree, kind, params)


class ThirtyOneState(pyspiel.State):
    """A view of a `Node`, which holds everything."""

    def __init__(self, game: ThirtyOneGame) -> None:
        super().__init__(game)
        self.node: Node = game.root
        self.reward = game.reward

    def current_player(self) -> int:
        """Who decides: a seat, chance, or nobody any more."""
        if self.node.is_chance:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.node.is_over else self.node.seat

    def _legal_actions(self, player: int) -> list[int]:
        return self.node.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Cards (or seats, for the first dealer) and how likely each is."""
        return self.node.outcomes()

    def _apply_action(self, action: int) -> None:
        self.node = self.node.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return action_name(action, int(self.node.states["phase"][0]))
        return f"dealer {action}" if self.node.move == LOT else f"deal {NAMES[action]}"

    def is_terminal(self) -> bool:
        """Whether the match, or the one round, is over."""
        return self.node.is_over

    def returns(self) -> list[float]:
        """The payoffs at the end; zeros before."""
        if not self.node.is_over:
            return [0.0] * self.node.tree.num_players
        return self.node.payoffs(self.reward).tolist()

    def __str__(self) -> str:
        lines = [render_text(self.node.states)] if self.node.has_begun else []
        if self.node.is_chance:
            lines.append(" ".join(["chance:", *(NAMES[card] for card in self.node.cards)]))
        return "\n".join(lines)


class ThirtyOneObserver:
    """Strings and tensors for one kind of observation.

    The tensor has the parts ``player`` (S) and ``observation`` (the full observation, relative to
    the player); with perfect recall also ``dealt`` (2, C: the hand and the open cards of the deal)
    and ``history`` (N, S + A + C: for each decision of the round who took it, relative to the
    player, what it was, and the cards that it showed the player). There is no tensor without the
    private or the public part.
    """

    def __init__(self, tree: Tree, kind: Any, params: dict[str, Any] | None) -> None:
        if params:
            raise ValueError(f"observation parameters {params} are unknown; there are none")
        if kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise ValueError("an observation of the private cards of all players is not provided")
        self._public = kind.public_info
        self._private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._recall = kind.perfect_recall
        self.tensor: np.ndarray | None = None
        self.dict: dict[str, np.ndarray] = {}
        if self._public and self._private:
            self._make_tensor(tree)

    def _make_tensor(self, tree: Tree) -> None:
        seats = tree.num_players
        shapes: dict[str, tuple[int, ...]] = {
            "player": (seats,),
            "observation": (observation_size(seats),),
        }
        if self._recall:
            shapes["dealt"] = (2, NUM_CARDS)
            shapes["history"] = (_most_decisions(tree), seats + NUM_ACTIONS + NUM_CARDS)
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
        for (name, shape), part in zip(shapes.items(), parts, strict=True):
            self.dict[name] = part.reshape(shape)

    def set_from(self, state: ThirtyOneState, player: int) -> None:
        """Write what a player sees into the tensor."""
        if self.tensor is None:
            raise ValueError("this kind of observation has no tensor")
        self.tensor.fill(0)
        node = state.node
        self.dict["player"][player] = 1
        if node.has_begun:
            self.dict["observation"][:] = engine.observe(node.states, player)
        if self._recall and node.seen:
            self._write_history(node, player)

    def _write_history(self, node: Node, player: int) -> None:
        seats, deal = node.tree.num_players, node.seen[0]
        self.dict["dealt"][0, cards_of(deal.hidden[player])] = 1
        self.dict["dealt"][1, cards_of(deal.open)] = 1
        decisions = [event for event in node.seen if event.seat != NOBODY]
        for row, event in zip(self.dict["history"], decisions, strict=False):
            row[(event.seat - player) % seats] = 1
            row[seats + event.action] = 1
            shown = np.array(cards_of(event.open | event.hidden[player]), np.int64)
            row[seats + NUM_ACTIONS + shown] = 1

    def string_from(self, state: ThirtyOneState, player: int) -> str:
        """What a player sees, as text."""
        node = state.node
        seat = player if self._private else NOBODY
        if self._recall and self._public:
            return f"{seat}: {node.history(seat)}"
        if not node.has_begun:
            return ""
        table = render_text(node.states, seat) if self._public else ""
        return f"{table}\n{_in_hand(node, player)}".strip() if self._private else table


def _in_hand(node: Node, player: int) -> str:
    """A player's cards, and the one among them that is on its way."""
    hand = " ".join(names_of(int(node.states["hands"][0, player])))
    drawn = int(node.states["drawn"][0])
    moving = f", drawn {NAMES[drawn]}" if node.seat == player and drawn != NO_CARD else ""
    return f"hand {hand}{moving}"


pyspiel.register_game(_GAME_TYPE, ThirtyOneGame)
