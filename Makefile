# Every target sets itself up first: a virtual environment in .venv, renewed when pyproject.toml changes.

PYTHON ?= python3
FLAGS ?=
BIN := .venv/bin
STAMP := .venv/stamp

.DEFAULT_GOAL := help
.PHONY: help setup check format test docs native fuzz coverage bench demo clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: $(STAMP) ## make the virtual environment and install everything into it

# A system Python may come without ensurepip; its own pip then fills the environment from outside.
INSTALL = if $(BIN)/python -m pip --version >/dev/null 2>&1; then pip="$(BIN)/python -m pip"; \
	 else pip="$(PYTHON) -m pip --python $(BIN)/python"; fi; \
	 PIP_DISABLE_PIP_VERSION_CHECK=1 $$pip install --quiet --quiet

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("make: Python 3.11 or newer is needed, name one with PYTHON=" if sys.version_info < (3, 11) else 0)'
	@echo "setting up .venv"
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || $(PYTHON) -m venv --clear --without-pip .venv
	@$(INSTALL) --editable '.[dev,plot]'
	@touch $@

check: $(STAMP) ## format, lint, types, layers, lengths
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_lengths.py

format: $(STAMP) ## format the code and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: $(STAMP) ## run the tests in two processes (FLAGS="-k name" for some of them)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(FLAGS)

docs: $(STAMP) ## run the examples in README, docs and docstrings
	$(BIN)/python -m pytest tests/test_docs.py src --doctest-modules $(FLAGS)

native: $(STAMP) ## compile the stages with mypyc into build/native (README, "Install")
	@rm -rf build/native; ANADROME_COMPILED=1; export ANADROME_COMPILED; $(INSTALL) --no-deps --upgrade --target build/native .

fuzz: $(STAMP) ## run the slow tests, and the property tests with many examples (hours)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "fuzz or slow or hypothesis" --hypothesis-profile=fuzz --timeout=0 $(FLAGS)

coverage: $(STAMP) ## which lines of ad and passes the tests reach
	$(BIN)/coverage run -m pytest $(FLAGS)
	$(BIN)/coverage report

bench: $(STAMP) ## print one table of all programs beside C (FLAGS="--small" for a look)
	$(BIN)/python benchmarks/run.py $(FLAGS)

demo: $(STAMP) ## fit a Gaussian mixture with a compiled gradient
	$(BIN)/anadrome demo $(FLAGS)

clean: ## remove what the targets made, except the virtual environment
	rm -rf build dist out .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
