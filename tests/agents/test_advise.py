"""The command `evaluate.py advise`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from agents.evaluation.advise import advise, table
from agents.evaluation.cli import main
from agents.policies import make
from thirtyone_env import PRESETS, game
from thirtyone_env.search import judge
from thirtyone_env.situation import situation

WORDS = ["advise", "--hand", "Kh 9h 4c", "--upcard", "7d", "--turn", "2", "--deals", "200"]


def test_every_legal_action_is_judged_best_first(capsys):
    assert main([*WORDS, "--format", "json", "--policy", "threshold:19,threshold:27"]) == 0
    found = json.loads(capsys.readouterr().out)
    states = situation("danish", 4, hand="Kh 9h 4c", upcard="7d", turn=2)
    assert sorted(row["action"] for row in found["actions"]) == game.legal_actions(states)
    payoffs = [row["payoff"] for row in found["actions"]]
    assert payoffs == sorted(payoffs, reverse=True)
    means = dict(zip((j := judge(states, deals=200)).actions, j.means.tolist(), strict=True))
    for row in found["actions"]:
        assert row["payoff"] == pytest.approx(means[row["action"]])
        assert row["low"] < row["payoff"] < row["high"]
        assert row["behind"] == pytest.approx(payoffs[0] - row["payoff"])
    by = {name: row["name"] for row in found["actions"] for name in row["chosen_by"]}
    assert by == {"threshold:19": "knock", "threshold:27": "draw_stock"}


def test_the_numbers_do_not_depend_on_workers(capsys):
    texts = []
    for workers in ("1", "3"):
        main([*WORDS, "--format", "json", "--workers", workers])
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]


def test_the_table_names_the_best_action():
    states = situation("danish", 2, hand="Ah Kh 9h", upcard="2d")
    advice = advise(states, PRESETS["danish"], deals=300, payoff="lives", policies=())
    assert advice.actions[0].name == "knock"
    verdict = "best beyond chance" if advice.clear else "not told apart"
    assert f"knock: {verdict}" in str(table(advice).caption)
    assert advise(states, PRESETS["danish"], deals=3_000, payoff="equity").actions[0].low > 0.5


def test_the_exchange_family_and_policies_from_outside(capsys):
    words = ["advise", "--rules", "schwimmen_a7", "--players", "3", "--hand", "Kh 9h 8c"]
    words += ["--table", "7h Ah 8d", "--taken", "2=As Ks,3=7d", "--turn", "3", "--deals", "50"]
    assert main([*words, "--policy", "search:10,bot=threshold:27", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["actions"][0]["name"].startswith(("give", "swap"))
    assert sum(len(row["chosen_by"]) for row in found["actions"]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--upcard", "9h"], "9h is in hand and in upcard"),
        (["--bot", "nobody"], "unknown bot 'nobody'"),
        (["--deals", "1"], "deals = 1"),
        (["--turn", "0"], "turn = 0"),
        (["--rules", "danisch"], "danisch"),
    ],
)
def test_errors_are_one_line(words, message, capsys):
    assert main([*WORDS, *words]) == 2
    assert message in capsys.readouterr().err


def test_no_network_library_is_loaded_for_bots():
    words = [*WORDS, "--policy", "threshold:27"]
    code = "import sys; from agents.evaluation.cli import main; main(sys.argv[1:]); "
    code += "sys.exit('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code, *words], capture_output=True)
    assert run.returncode == 0, run.stderr


def test_a_policy_refuses_a_table_it_was_not_made_for():
    states = situation("danish", 2, hand="Ah Kh 9h", upcard="2d")

    class Picky:
        name, controller = "picky", "threshold:25"

        def check(self, rules, num_players):
            raise ValueError(f"picky plays with four, not {num_players}")

    with pytest.raises(ValueError, match="picky plays with four, not 2"):
        advise(states, PRESETS["danish"], deals=10, policies=(Picky(),))
    assert make("threshold:25").controller == "threshold:25"
