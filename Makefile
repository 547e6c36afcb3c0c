# Two commands matter: `make train` and `make test`. Everything lives in .venv; nothing is
# installed outside it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
export NO_MKDOCS_2_WARNING := 1

PYTHON ?= python3
CONFIG ?= configs/quickstart.yaml
ARGS ?=
ROWS ?=
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OLDEST := .venv-oldest
# Libraries that cannot share .venv; torchrl and supersuit can.
APART := rllib tianshou agilerl
# Libraries that benchmarks/compare.py measures beside ours.
PEERS := $(basename $(notdir $(wildcard benchmarks/constraints/*.txt)))

.PHONY: help setup train test test-slow test-oldest test-integrations check format playthroughs \
	docs bench bench-guard count-guard bench-peers clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf '  %-18s %s\n' "$$name" "$$text"; done

setup: $(READY) ## make .venv with the pinned packages

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"constraints.txt pins packages that need Python 3.11 or newer; say make PYTHON=...")'
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt setuptools wheel
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation \
		--editable '.[app,sb3,ray,render,openspiel,torchrl,supersuit,dev]'
	$(BIN)/python -m pip check
	@touch $@

train: $(READY) ## train a policy that learns when to knock (CONFIG=..., ARGS=...)
	$(BIN)/python train.py $(CONFIG) $(ARGS)

test: $(READY) ## the fast tests
	$(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

test-slow: $(READY) ## the tests that take minutes
	$(BIN)/python -m pytest -n $(WORKERS) -m slow $(ARGS)

test-oldest: $(OLDEST)/.ready ## the environment's tests on the lowest versions that are allowed
	$(OLDEST)/bin/python -m pytest tests --ignore tests/agents --ignore tests/adapters \
		--ignore tests/integrations \
		--ignore tests/test_docs.py --ignore tests/test_wheel.py $(ARGS)

$(OLDEST)/.ready: pyproject.toml constraints-oldest.txt
	@$(OLDEST)/bin/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --constraint constraints-oldest.txt \
		numpy numba gymnasium pettingzoo pygame-ce pytest hypothesis
	@touch $@

test-integrations: $(READY) $(APART:%=.venv-%/.ready) ## every library of docs/interfaces.md (ROWS=...)
	$(BIN)/python tools/integrations.py $(ROWS)

.venv-%/.ready: constraints/%.txt pyproject.toml
	@$(@D)/bin/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint $< setuptools wheel
	$(@D)/bin/python -m pip install --quiet --constraint $< --no-build-isolation \
		--editable '.[$*]' pytest hypothesis
	$(@D)/bin/python -m pip check
	@touch $@

check: $(READY) ## style, types, import arrows, documentation, forbidden things
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python docs/generate.py --check
	$(BIN)/mkdocs build --strict --quiet
	$(BIN)/python tools/check_tree.py

format: $(READY) ## let ruff put the style right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

playthroughs: $(READY) ## write the golden playthroughs anew; read the diff before committing it
	$(BIN)/python -m tests.playthroughs

docs: $(READY) ## write the generated tables and build the site into site/
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict

bench: $(READY) ## measure the speed of everything beside its target (two minutes)
	$(BIN)/python -m benchmarks.speed $(ARGS)

bench-guard: $(READY) ## fail where a kernel has become a fifth slower (ten seconds; ARGS=FILE)
	$(BIN)/python -m benchmarks.guard $(ARGS)

count-guard: $(READY) ## fail where a kernel executes a fifth more than written down (busy machines too)
	$(BIN)/python -m benchmarks.counts $(ARGS)

bench-peers: $(READY) $(PEERS:%=.venv-bench-%/.ready) ## speed beside other libraries; writes docs/performance.md (ROWS=...)
	$(BIN)/python -m benchmarks.compare $(ROWS)

# One that cannot be installed is a row of the table that says why.
.venv-bench-%/.ready: benchmarks/constraints/%.txt
	@$(@D)/bin/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(@D)
	@rm -f $@
	@if $(@D)/bin/python -m pip install --requirement $< >$(@D)/install.log 2>&1; then \
		touch $@; else echo '$* cannot be installed: see $(@D)/install.log'; fi

clean: ## remove everything that can be made again, .venv too; runs/ stays
	rm -rf $(VENV) .venv-* site build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
