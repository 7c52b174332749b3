# The two commands that matter are `make demo` and `make test`; both set up what they need.

# Another interpreter for the environment: make PYTHON=python3.12 test
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
# Newer than what it depends on: the environment is up to date.
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo demo-gui test check format bench compatibility pythons clean

help: ## Show what can be made
	@echo 'Usage: make TARGET'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(INSTALLED) ## Find the guilty thread switch in two real programs (results in build/demo)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash demos/run_demo.sh build/demo

demo-gui: $(INSTALLED) ## Crash a real program with windows and isolate the guilty actions (results in build/demo-gui)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash demos/run_demo_gui.sh build/demo-gui

test: check ## Check, build the package, and test it under every supported Python on this machine
	@$(BIN)/python tools/install_system_packages.py
	@$(BIN)/python tools/test_all_pythons.py

check: $(INSTALLED) ## Check format, style, types, and which module may import which
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --python-version 3.13
	$(BIN)/lint-imports

format: $(INSTALLED) ## Put every file in the agreed format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED) ## Measure how fast the tool is
	@$(BIN)/python -m tests.benchmarks

compatibility: $(INSTALLED) ## Judge other people's programs under the scheduler (about an hour)
	@$(BIN)/python -m tests.compatibility --again

pythons: ## Bring Python 3.14 and 3.15 below build/pythons, from the packages of a later Debian
	@$(PYTHON) tools/get_pythons.py

clean: ## Remove everything that make has made
	rm -rf .venv .venv-test-* build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml setup.py $(wildcard replay_dd/schedules/runtime/accelerator/*.[ch])
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "replay-dd needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo not there)." >&2; \
	  echo "Name another one: make PYTHON=python3.12 $(or $(MAKECMDGOALS),test)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --editable '.[dev]'
	@touch $@
