# Two commands for a newcomer: `make demo` and `make test`. Everything is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
# a process a core, four at most; the tests of a file share one
TESTS := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup demo quick test test-all hostile lint types tables pictures bench clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/ready  ## make .venv and install regard with its development tools

# .venv/unfinished stands there until all is installed: a set-up that was cut short begins again.
.venv/ready: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || \
	  { echo "There is no $(PYTHON) here: regard needs Python 3.11 or newer. Debian: apt install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "regard needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make a virtual environment. Debian: apt install python3-venv"; exit 1; }
	@if [ -e $@ ]; then echo "Updating .venv: pyproject.toml or constraints.txt has changed."; else \
	  echo "Installing regard, PyTorch and the tools into .venv: about 150 packages, 3 GB to download, 6 GB on disk; once, some minutes."; \
	  echo "PyTorch's CPU build makes it 130 packages, 0.7 GB and 3 GB: see 'Install' in README.md."; fi
	@if [ -e .venv/unfinished ]; then rm -rf .venv; fi
	@mkdir -p .venv && touch .venv/unfinished
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --root-user-action=ignore --constraint constraints.txt --editable '.[dev]'
	@rm .venv/unfinished && touch $@

demo: setup  ## train a small translator in five minutes and see what it looks at
	@$(BIN)/regard demo

quick: setup  ## the tests that matter while editing, in two minutes
	$(TESTS) -m "not (slow or heavy or hostile)"

test: setup lint types  ## lint, type-check and test
	$(TESTS)

test-all: setup lint types  ## the same with the heavy tests: every browser test, interpreted kernels
	$(TESTS) -m "not hostile"

hostile: setup  ## hostile inputs, files, clients and moments, from one seed
	$(BIN)/python -m pytest -m hostile tests/hostile

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

tables: setup  ## write the tables of options, names and results in docs/ again
	$(BIN)/python docs/scripts/option_tables.py
	$(BIN)/python docs/scripts/name_tables.py
	$(BIN)/python docs/scripts/results_index.py

pictures: setup  ## draw the pictures of docs/mechanisms again
	$(BIN)/python docs/scripts/mechanism_pictures.py

bench: setup  ## measure the speed of every mechanism (CPU)
	$(BIN)/python benchmarks/attention.py

clean:  ## remove .venv and caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist src/*.egg-info
