# `make quick` while you work, `make test` before you hand in a change; all targets set up what they need.

# Another interpreter for the environment: make PYTHON=python3.12 test
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
# Newer than what it depends on: the environment is up to date.
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo demo-gui demo-input demo-changes quick test check format mutants fuzz documents film-strip packages bench compatibility pythons clean

help: ## Show what can be made
	@echo 'Usage: make TARGET'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(INSTALLED) ## Find the guilty thread switch in two programs (results in build/demo)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash demos/run_demo.sh build/demo

demo-gui: $(INSTALLED) ## Crash a real GUI program and isolate the guilty actions (results in build/demo-gui)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash demos/run_demo_gui.sh build/demo-gui

demo-changes: $(INSTALLED) ## Find the change in a release of a package that broke a test (uses the package index)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash demos/run_demo_changes.sh build/demo-changes

demo-input: $(INSTALLED) ## Reduce two real inputs that break real programs (results in build/demo-input)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash demos/run_demo_input.sh build/demo-input

quick: check ## Check, and run the quick tests under one Python (some minutes)
	@$(BIN)/python -m pytest -q -n auto --quick

test: $(INSTALLED) ## Check, build the package, and test it under every supported Python
	@$(BIN)/python -m tools.install_system_packages
	@$(BIN)/python -m tools.test_all_pythons

check: $(INSTALLED) ## Check format, style, types, imports, the rules of the house, and the subjects of commits
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --python-version 3.13
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/house/test_source_rules.py tests/house/test_words.py
	@$(BIN)/python -m tools.check_subjects

format: $(INSTALLED) ## Format every file
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

mutants: $(INSTALLED) ## Plant small defects in what changed here (or WHAT=folder), and show those that no test notices
	@$(BIN)/python -m tools.mutants $(WHAT)

documents: $(INSTALLED) ## Update what the documents show of commands, and redraw the pictures
	@$(BIN)/python -m tools.documents
	@$(BIN)/python -m tools.draw_terminal
	@$(BIN)/python -m tools.draw_architecture
	@$(BIN)/python -m tools.draw_result_page

film-strip: demo-gui ## Run the GUI demo, and take the documents' picture of its film strip
	@$(BIN)/python -m tools.draw_film_strip build/demo-gui/minimal.html

packages: $(INSTALLED) ## Build the source archive and the wheels (results in dist)
	@$(BIN)/python -m tools.build_packages

fuzz: $(INSTALLED) ## Read 100,000 damaged logs of each format (or COUNT=number); none may end in a traceback
	@$(BIN)/python -m tests.fuzz $(COUNT)

bench: $(INSTALLED) ## Measure how fast the tool is
	@$(BIN)/python -m tests.benchmarks

compatibility: $(INSTALLED) ## Judge other people's programs again under the scheduler (about an hour)
	@$(BIN)/python -m tests.compatibility

pythons: ## Bring Python 3.14, 3.15 and the free-threaded 3.13 and 3.14, as `make test` does
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
