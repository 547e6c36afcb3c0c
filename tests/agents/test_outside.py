"""Policies from outside: functions, batches, compiled ones, and programs that misbehave."""

import copy
import json
import os
import shutil
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation import tournament
from agents.evaluation.cli import main
from agents.evaluation.live import LiveMatch
from agents.evaluation.match import IllegalActionError, play
from agents.evaluation.standings import standings
from agents.policies import FaultyPolicy, PolicyFileError, make
from agents.policies import process as process_module
from agents.policies.outside import FunctionPolicy, make_outside
from agents.policies.process import BotFault, ProcessPolicy, ProcessSpec, read_spec
from agents.policies.view import KEYS, action_in, view_of
from thirtyone_env import Rules
from thirtyone_env.game import legal_names, new_match, step
from thirtyone_env.record import check_file
from thirtyone_env.state import Phase

DANISH = Rules.preset("danish")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "bots"

PROGRAM = """
import json, sys, time
fault, when = sys.argv[1], int(sys.argv[2])
count = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"name": "program"}), flush=True)
    if message["type"] != "act":
        continue
    count += 1
    answer = {"id": message["id"], "action": message["view"]["legal"][0]}
    if count == when:
        if fault == "crash":
            sys.exit(3)
        if fault == "slow":
            time.sleep(60)
        if fault == "garbage":
            print("this is no JSON", flush=True)
            continue
        if fault == "list":
            answer = [1, 2]
        if fault == "illegal":
            answer["action"] = "discard Xx"
        if fault == "other":
            answer["id"] = 99
        if fault == "children":
            import subprocess
            subprocess.Popen(["sleep", "60"])
            sys.exit(0)
        if fault == "endless":
            sys.stdout.write("x" * 500_000)
            sys.stdout.flush()
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def program(tmp_path):
    """Makes the policy of a program that goes wrong at one of its answers."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    made = []

    def begin(fault="none", when=0, **options):
        command = (sys.executable, "-S", str(path), fault, str(when))
        options = {"timeout": 60.0} | options
        made.append(ProcessPolicy(ProcessSpec(command, **options)))
        return made[-1]

    yield begin
    for policy in made:
        policy.close()


def alive(pid):
    """Whether a process is there, be it a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def compete(policy, deals=6, workers=1):
    """A tournament against a bot that is known to behave."""
    roster = [policy, make("danish")]
    plan = tournament.make_plan(roster, rules=DANISH, players=2, deals=deals, seed=2, luck=False)
    return tournament.run(plan, roster, rules=DANISH, workers=workers)


# --- views ---------------------------------------------------------------------------------------


def test_a_view_has_the_keys_that_are_described():
    view = view_of(new_match(DANISH, 3, seed=1), 0)
    assert list(view) == list(KEYS)
    json.dumps(view)


@pytest.mark.parametrize("preset", ["danish", "schwimmen_a7", "scat"])
def test_a_view_shows_nothing_hidden(preset):
    """Whatever is dealt anew where the seat cannot see, its view stays the same."""
    from thirtyone_env.game import resample_hidden

    rng = np.random.default_rng(7)
    states = new_match(preset, 3, seed=4)
    for _ in range(60):
        if states["phase"][0] >= Phase.JUDGE:
            break
        seat, before = int(states["seat"][0]), view_of(states, 0)
        other = states.copy()
        resample_hidden(other, seat, rng)
        assert view_of(other, 0) == before
        names = legal_names(states)
        step(states, action_in(states, 0, names[rng.integers(len(names))]))


# --- Python --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("function_bot.py:patient", "patient"),
        ("batched_bot.py:Careful", "careful"),
        ("kernel_bot.py:Quick", "quick"),
    ],
)
def test_the_examples_play(spec, name):
    policy = make(f"python:{EXAMPLES / spec}", outside=True)
    assert policy.name == name
    results = compete(policy, deals=20)
    assert not results.line_ups[0].forfeited.any()
    better = play([policy, "random"], rules=DANISH, deals=20, seed=1)
    assert better.payoff(0).mean > 0.5
    again = copy.copy(policy)
    assert again.name == name


def test_a_function_in_all_families():
    policy = FunctionPolicy(lambda view: view["legal"][-1], "last")
    for preset in ("danish", "schwimmen_a7", "swedish"):
        played = play([policy, "random"], rules=Rules.preset(preset), deals=5, seed=1)
        assert played.payoffs.shape == (5, 2, 2)
        assert np.allclose(played.payoffs.sum(axis=2), 0)


def test_an_illegal_name_is_refused():
    policy = FunctionPolicy(lambda view: "discard Xx", "wrong")
    with pytest.raises(ValueError, match="'discard Xx' is not legal; legal are draw_stock"):
        play([policy, "random"], rules=DANISH, deals=2, seed=1)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nothing", "expected python:FILE.py:NAME"),
        ("/nowhere.py:bot", "no such file"),
        ("{good}:other", "AttributeError"),
        ("{good}:number", "neither a function nor has act_batch"),
        ("{good}:Nameless", "has no name"),
        ("{bad}:bot", "SyntaxError"),
    ],
)
def test_files_that_hold_no_policy_are_refused(tmp_path, spec, message):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("number = 3\nclass Nameless:\n    def act_batch(self, t, r): pass\n")
    bad.write_text("def bot(:\n")
    with pytest.raises(ValueError, match=message):
        make_outside("python:" + spec.format(good=good, bad=bad))


@pytest.mark.parametrize("name", ["process:cat", f"python:{EXAMPLES}/function_bot.py:patient"])
def test_nothing_is_run_that_a_file_names(name):
    with pytest.raises(ValueError, match="on a command line only"):
        make(name)


# --- programs ------------------------------------------------------------------------------------


def test_a_program_plays(program):
    policy = program()
    assert policy.name == "program"
    assert isinstance(policy, FaultyPolicy)
    results = compete(policy)
    assert not results.line_ups[0].forfeited.any()
    first = FunctionPolicy(lambda view: view["legal"][0], "first")
    assert (compete(first).line_ups[0].payoffs == results.line_ups[0].payoffs).all()
    pids = policy.processes
    assert pids
    policy.close()
    assert not any(map(alive, pids))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("crash", r"the program has ended \(status 3\)"),
        ("garbage", "no JSON"),
        ("list", "no JSON object"),
        ("illegal", "'discard Xx' is not legal"),
        ("other", "to question 3"),
        ("slow", "no answer within 3 s"),
        ("endless", "no JSON"),
        ("children", "has ended"),
    ],
)
def test_a_fault_is_a_forfeit_of_one_match(program, fault, message):
    policy = program(fault, 3, timeout=3.0 if fault == "slow" else 60.0)
    states = new_match(DANISH, 2, seed=1)
    tables = LiveMatch(DANISH, [policy, None], seed=1, deal=0).deciders[0]._tables
    pids = set(policy.processes)
    for number in range(1, 8):
        tables.states[:] = states
        actions, faults = policy.try_batch(tables, np.zeros(1, np.int64))
        pids |= set(policy.processes)
        if number == 3 or (fault not in ("illegal",) and number == 6):
            assert list(faults) == [0]
            with pytest.raises(BotFault, match=message):
                raise faults[0]
        elif number != 6:
            assert not faults
            assert actions.tolist() == [0]
    policy.close()
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(alive(pid) for pid in pids), "no process is left, not even a zombie"


def test_the_tournament_goes_on(program):
    results = compete(program("crash", 30), deals=8)
    played = results.line_ups[0]
    forfeits = int(played.forfeited[:, :, 0].sum())
    assert 0 < forfeits < 16
    assert not played.forfeited[:, :, 1].any()
    assert (played.payoffs[played.forfeited[:, :, 0]] == [-1, 1]).all()
    assert "the program has ended" in played.faults[0]
    table = next(t for t in standings(results).tables if t.name == "standings")
    row = next(r for r in table.records() if r["policy"] == "program")
    assert row["forfeits"] == forfeits


def test_a_program_that_always_fails_is_given_up(program, monkeypatch):
    monkeypatch.setattr(process_module, "MOST_FAULTS", 3)
    policy = program("crash", 1)
    results = compete(policy, deals=10)
    assert results.line_ups[0].forfeited[:, :, 0].all()
    assert len(policy.processes) <= 1, "the one that told the name"
    table = next(t for t in standings(results).tables if t.name == "standings")
    row = next(r for r in table.records() if r["policy"] == "program")
    assert (row["forfeits"], row["lives_per_round"]) == (20, None), "it finished no round"


def test_elsewhere_a_fault_is_an_error(program):
    with pytest.raises(BotFault, match="not legal"):
        play([program("illegal", 2), "danish"], rules=DANISH, deals=2, seed=1)
    assert not issubclass(BotFault, IllegalActionError)


def test_every_worker_has_its_own_process(program, monkeypatch):
    monkeypatch.setattr(tournament, "CHUNK_DEALS", 2)
    one, two = program(), program()
    results = [compete(one, deals=8, workers=1), compete(two, deals=8, workers=2)]
    assert (results[0].line_ups[0].payoffs == results[1].line_ups[0].payoffs).all()


def test_processes_end_with_the_policy(program):
    policy = ProcessPolicy(program().spec)
    [pid] = policy.processes
    other = copy.copy(policy)
    assert other.processes != [pid]
    other.close()
    del policy
    assert not alive(pid)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("process:", "needs a command"),
        ("process:/nowhere/program", "cannot be run"),
        ("process:true", "has ended"),
        ("process:echo hello", "no JSON|has ended"),
        ("process:'", "No closing quotation"),
        ("process:{folder}/none.yaml", "No such file"),
        ("process:{folder}/keys.yaml", "the keys are command"),
        ("process:{folder}/time.yaml", "timeout -1"),
        ("process:{folder}/command.yaml", "no text or list"),
    ],
)
def test_programs_that_cannot_be_begun_are_refused(tmp_path, text, message):
    (tmp_path / "keys.yaml").write_text("comand: x\n")
    (tmp_path / "time.yaml").write_text("command: cat\ntimeout: -1\n")
    (tmp_path / "command.yaml").write_text("command: 3\n")
    with pytest.raises(ValueError, match=message):
        make(text.format(folder=tmp_path), outside=True)


def test_a_yaml_file_names_a_program(tmp_path):
    path = tmp_path / "bot.yaml"
    path.write_text(
        textwrap.dedent(
            f"""\
            command: [{sys.executable}, -S, bot.py]
            name: my bot
            timeout: 0.25
            """
        )
    )
    spec = read_spec(str(path))
    assert spec == ProcessSpec((sys.executable, "-S", "bot.py"), "my bot", 0.25)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_example_in_another_language(capsys):
    command = f"process:node {EXAMPLES / 'process_bot.js'}"
    words = ["tournament", command, "random", "--deals", "10", "--format", "json"]
    assert main(words) == 0
    rows = json.loads(capsys.readouterr().out)["standings"]["rows"]
    row = next(row for row in rows if row["policy"] == "node bot")
    assert row["forfeits"] == 0
    assert row["won"] > 0.8


def test_a_missing_file_is_still_told_apart():
    with pytest.raises(PolicyFileError):
        make("process/nothing.json", outside=True)


def test_a_fault_at_the_table_keeps_the_record(tmp_path, capsys):
    path, file = tmp_path / "program.py", tmp_path / "match.jsonl"
    path.write_text(PROGRAM)
    command = f"process:{sys.executable} -S {path} illegal 2"
    assert main(["watch", command, "danish", "--record", str(file)]) == 1
    assert "program: 'discard Xx' is not legal" in capsys.readouterr().err
    assert check_file(file) == 1
