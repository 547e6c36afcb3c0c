"""Records of tournaments and benchmarks, interrupts, and studies that go on where they were."""

import json

import numpy as np
import pytest

from agents.evaluation import benchmark, knock_study, parts, threshold_study, tournament
from agents.evaluation.claims import claims
from agents.evaluation.claims.experiments import Rounds, Swap
from agents.evaluation.cli import main
from agents.evaluation.jobs import run_jobs
from agents.evaluation.recording import Recording, Wanted
from agents.evaluation.store import PlanError
from agents.policies import ForeignPolicy, make
from tests.agents.small import small_policy, threshold_policy
from thirtyone_env import Rules, make_bot
from thirtyone_env.record import check_file, read

DANISH = Rules.preset("danish")


def play(tmp_path, roster, *, most=None, name="all.jsonl", **options):
    """A small tournament with records."""
    settings = {"rules": DANISH, "players": 2, "deals": 12, "seed": 3, "pairing": "all"} | options
    workers = settings.pop("workers", 1)
    plan = tournament.make_plan(roster, **settings)
    recording = Recording(tmp_path / name, most)
    results = tournament.run(
        plan, roster, rules=settings["rules"], recording=recording, workers=workers
    )
    recording.close()
    return results, [record for _, record in read(tmp_path / name)]


@pytest.mark.parametrize("players", [2, 3])
def test_the_records_are_the_matches_that_were_counted(tmp_path, players):
    roster = [make("random"), threshold_policy(25), ForeignPolicy(make_bot("danish"))]
    results, records = play(tmp_path, roster, players=players)
    assert check_file(tmp_path / "all.jsonl") == results.plan.matches == len(records)
    left = iter(records)
    for members, played in zip(results.plan.line_ups, results.line_ups, strict=True):
        names = [roster[i].name for i in members]
        for d in range(12):
            for rotation in range(players):
                record = next(left)
                seats = [(p + rotation) % players for p in range(players)]
                assert record["deal"] == d
                assert [record["policies"][seat] for seat in seats] == names
                paid = [record["returns"][seat] for seat in seats]
                assert paid == pytest.approx(played.payoffs[d, rotation].tolist(), abs=1e-6)


def test_answers_are_noted_not_asked_for_again(tmp_path):
    """A policy that plays otherwise each time is recorded as it played."""
    rng = np.random.default_rng(1)

    class Moody:
        name = "moody"

        def act_batch(self, tables, rows=None):
            masks = tables.action_mask(rows)
            return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])

        def act(self, env):
            raise NotImplementedError

    results, records = play(tmp_path, [ForeignPolicy(Moody()), make("danish")])
    assert check_file(tmp_path / "all.jsonl") == 24
    paid = [r["returns"][r["policies"].index("moody")] for r in records]
    assert paid == results.line_ups[0].payoffs[:, :, 0].ravel().tolist()


def test_workers_make_no_difference(tmp_path, monkeypatch):
    monkeypatch.setattr(tournament, "CHUNK_DEALS", 4)
    roster = [make("random"), make("danish"), threshold_policy(25)]
    for workers in (1, 3):
        play(tmp_path, roster, name=f"{workers}.jsonl", workers=workers)
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "3.jsonl").read_bytes()


def test_the_first_matches_are_those_of_the_first_deals(tmp_path):
    roster = [make("random"), make("danish"), make("dutch")]
    _, records = play(tmp_path, roster, most=8)
    assert [record["deal"] for record in records].count(0) == 6
    assert [record["deal"] for record in records].count(1) == 2
    assert len(records) == 8


def test_what_is_wanted():
    wanted = Wanted((2, 3), 7)
    deals = np.arange(4)
    assert wanted.of(0, deals).sum() + wanted.of(1, deals).sum() == 7
    assert wanted.of(1, deals)[:2].tolist() == [[True] * 3, [False] * 3]
    assert Wanted((2, 3)).of(1, deals).all()


def test_a_forfeited_match_is_recorded_as_far_as_it_went(tmp_path):
    class Broken:
        name = "broken"

        def act_batch(self, tables, rows=None):
            raise RuntimeError("no")

        def act(self, env):
            raise NotImplementedError

    results, records = play(tmp_path, [ForeignPolicy(Broken()), make("danish")])
    assert results.line_ups[0].forfeited[:, :, 0].any()
    assert any(record.get("unfinished") for record in records)
    assert check_file(tmp_path / "all.jsonl") == 24


def words(*more):
    return ["tournament", "danish", "dutch", "random", "--deals", "300", *more]


def test_a_stopped_tournament_keeps_its_records(tmp_path, monkeypatch, capsys):
    whole, file = tmp_path / "whole.jsonl", tmp_path / "file.jsonl"
    assert main(words("--record", str(whole), "--record-matches", "2000")) == 0
    real, calls = tournament.play_deals, []

    def stop(*args, **more):
        calls.append(1)
        if len(calls) > 4:
            raise KeyboardInterrupt
        return real(*args, **more)

    monkeypatch.setattr(tournament, "play_deals", stop)
    options = ["--record", str(file), "--record-matches", "2000", "--out", str(tmp_path / "out")]
    assert main(words(*options, "--workers", "1")) == 130
    assert not file.exists(), "it is written when the tournament is finished"
    monkeypatch.setattr(tournament, "play_deals", real)
    assert main(words(*options)) == 0
    assert file.read_bytes() == whole.read_bytes()
    assert main(words(*options)) == 2
    assert "nothing is overwritten" in capsys.readouterr().err


def test_records_of_a_benchmark(tmp_path, capsys):
    file = tmp_path / "matches.jsonl.gz"
    command = ["benchmark", "danish", "swedish", "--opponents", "random", "--players", "2,3"]
    command += ["--deals", "4", "--format", "json"]
    assert main([*command, "--record", str(file)]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert check_file(file) == sum(row["matches"] for row in rows) == 40
    for row in rows:
        won = [
            record["policies"][record["winner"]] == row["policy"]
            for _, record in read(file)
            if row["policy"] in record["policies"] and record["num_players"] == row["players"]
        ]
        assert np.mean(won) == pytest.approx(row["win_rate"])
    few = tmp_path / "few.jsonl"
    assert main([*command, "--record", str(few), "--record-matches", "7"]) == 0
    assert check_file(few) == 7


BENCHMARK = ["benchmark", "danish", "--opponents", "random,dutch,swedish", "--players", "2"]


def stopped(monkeypatch, module, name, after):
    """Ctrl-C in the midst of the work: the numbers of calls, and what undoes it."""
    real, calls = getattr(module, name), []

    def stop(*args, **more):
        calls.append(1)
        if len(calls) > after:
            raise KeyboardInterrupt
        return real(*args, **more)

    monkeypatch.setattr(module, name, stop)
    return calls, lambda: monkeypatch.setattr(module, name, real)


def test_an_interrupted_benchmark_tells_what_is_finished(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "CHUNK_DEALS", 10)
    stopped(monkeypatch, benchmark, "play_chunk", 5)
    file = tmp_path / "matches.jsonl"
    command = [*BENCHMARK, "--deals", "30", "--workers", "1", "--format", "json"]
    assert main([*command, "--record", str(file)]) == 130
    said = capsys.readouterr()
    assert "1 of 3 pairings are finished, 2 are shown" in said.err
    assert "name --out" in said.err
    assert [row["deals"] for row in json.loads(said.out)["rows"]] == [30, 20]
    assert check_file(file) == 100


CHART = ["chart", "danish", "--against", "dutch", "--deals", "30", "--players", "2,3"]
CLAIMS = ["claims", "do_not_chase_31", "a_blitz_is_rare", "--rules", "danish", "--players", "2"]


@pytest.mark.parametrize(
    ("command", "module", "size", "call"),
    [
        ([*BENCHMARK, "--deals", "30"], benchmark, 10, "play_chunk"),
        (CHART, knock_study, 10, "play_deals"),
        ([*CLAIMS, "--deals", "40"], claims, 20, None),
    ],
)
def test_what_was_stopped_goes_on(command, module, size, call, tmp_path, monkeypatch, capsys):
    """With the same bytes as what was never stopped, records too, and nothing is played twice."""
    monkeypatch.setattr(module, "CHUNK_DEALS", size)
    if call is None:
        module, call = Swap, "columns"
    whole, part = tmp_path / "whole", tmp_path / "part"
    record = command[0] == "benchmark"

    def words(folder):
        file = ["--record", str(tmp_path / f"{folder.name}.jsonl")] if record else []
        return [*command, "--workers", "1", "--out", str(folder), *file]

    all_calls, undo = stopped(monkeypatch, module, call, 999)
    assert main(words(whole)) == 0
    undo()
    _, undo = stopped(monkeypatch, module, call, 5)
    assert main(words(part)) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
    assert not (tmp_path / "part.jsonl").exists()
    undo()
    calls, _ = stopped(monkeypatch, module, call, 999)
    assert main(words(part)) == 0
    assert len(calls) == len(all_calls) - 5
    for file in whole.rglob("*.[cjn][sp][ovz]*"):
        assert (part / file.relative_to(whole)).read_bytes() == file.read_bytes(), file.name
    if record:
        assert (tmp_path / "part.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert main([*words(part), "--seed", "1", *(["--record", str(tmp_path / "n.jsonl")] * record)])
    assert "seed differ; choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize("command", [BENCHMARK, CHART, CLAIMS])
def test_an_interrupt_before_anything_is_finished_is_said(command, monkeypatch, capsys):
    def stop(*args, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(benchmark, "play_chunk", stop)
    monkeypatch.setattr(knock_study, "play_deals", stop)
    monkeypatch.setattr(Swap, "columns", stop)
    monkeypatch.setattr(Rounds, "columns", stop)
    assert main([*command, "--deals", "20"]) == 130
    said = capsys.readouterr()
    assert not said.out
    assert "interrupted: 0 " in said.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--record-matches", "3"], "needs --record"),
        (["--record", "/nowhere/file.jsonl"], "no folder"),
        (["--record", "file.jsonl", "--record-matches", "0"], "at least 1"),
        (["--ray-address", "auto"], "needs --backend ray"),
    ],
)
def test_what_cannot_be_recorded_is_refused(more, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words(*more)) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# --- thresholds ----------------------------------------------------------------------------------

OPTIONS = {"thresholds": (24, 27, 30), "players": (2, 3), "deals": 1000, "larger_deals": 600}


def test_a_stopped_threshold_study_goes_on(tmp_path, monkeypatch):
    whole = threshold_study.run(DANISH, **OPTIONS, seed=4)
    calls = []

    def stop_after(limit):
        def run(jobs, work, **more):
            def counted(job):
                if len(calls) >= limit:
                    raise KeyboardInterrupt
                calls.append(job)
                return work(job)

            return run_jobs(jobs, counted, **more)

        return run

    def study():
        store = threshold_study.open_store(tmp_path, DANISH, **OPTIONS, seed=4)
        return threshold_study.run(DANISH, **OPTIONS, seed=4, store=store)

    monkeypatch.setattr(threshold_study, "by_turn", lambda *args: (None, False))
    monkeypatch.setattr(parts, "run_jobs", stop_after(4))
    part = study()
    assert part.interrupted
    monkeypatch.setattr(parts, "run_jobs", stop_after(99))
    again = study()
    assert not again.interrupted
    assert len(calls) == 2 + 2 * 3, "none is played twice"
    for one, other in zip(whole.payoffs, again.payoffs, strict=True):
        assert (one.matrix == other.matrix).all()
        assert (one.half == other.half).all()
        assert one.shares == other.shares
        assert (one.by_seat == other.by_seat).all()


def test_a_folder_of_another_study_is_refused(tmp_path):
    threshold_study.open_store(tmp_path, DANISH, **OPTIONS, seed=4)
    with pytest.raises(PlanError, match="another study: seed differ"):
        threshold_study.open_store(tmp_path, DANISH, **OPTIONS, seed=5)
    plan = tournament.make_plan(
        [make("danish"), small_policy()], rules=DANISH, players=2, deals=4, seed=1
    )
    with pytest.raises(PlanError, match="holds a thresholds study"):
        tournament.Store(tmp_path, plan)


INTERRUPTS = """
import os, random, signal, threading, time
from agents.evaluation.jobs import run_jobs

chance = random.Random(SEED)
for _ in range(25):
    def interrupt():
        for _ in range(2):  # a shell sends it to the program and to its group
            os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(chance.uniform(0, 0.15), interrupt)
    try:
        timer.start()
        results, interrupted = run_jobs(range(40_000), lambda i: time.sleep(1e-4) or i, workers=2)
    except KeyboardInterrupt:
        continue  # before or behind the work
    finally:
        timer.join()
    assert interrupted
    done = [i for i, result in enumerate(results) if result is not None]
    assert all(results[i] == i for i in done) and len(done) < 40_000
    assert not done or done[-1] <= len(done), "in order, but for those that were under way"
"""


@pytest.mark.integration
def test_an_interrupt_at_any_moment_ends_the_work():
    import random
    import signal
    import subprocess
    import sys

    seed = random.randrange(10_000)
    print("seed", seed)  # noqa: T201
    code = INTERRUPTS.replace("SEED", str(seed))
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        timeout=120,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
