# Everything a person or CI does with a checkout. `make` alone explains itself.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
DATA_DIR ?= .flowxpert
FLOWXPERT_DATA ?= ../shared/data
BENCH ?= bench
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --override requirements-overrides.txt \
	--custom-compile-command "make lock"
PRODUCT := --override requirements-overrides-product.txt
ROOMS_IN := $(wildcard services/*/requirements.in)

# Bytecode is kept: each worker and each process that a test starts would compile everything again.
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --dist loadfile
# Tests of servers wait half of their time, so there is one worker more than cores.
WAITING = -n $(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 1)')

.DEFAULT_GOAL := help
.PHONY: help run test test-slow lint format unit bench lock openapi proto docs secrets examples clean

help: ## Print this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.ready ## Ingest the examples, start everything, turn an alert into a workflow.
	$(BIN)/flowxpert run --data-dir $(DATA_DIR) $(ARGS)

test: $(VENV)/.ready-dev lint ## Style, types, import rules and all tests that guard behaviour.
	$(PYTEST) -n auto tests/unit tests/contract -m "not slow" $(ARGS)
	$(PYTEST) $(WAITING) tests/integration tests/e2e -m "not slow" $(ARGS)

test-slow: $(VENV)/.ready-dev ## The tests that take long: kills, fuzzing, injection, chart, wheel.
	$(PYTEST) $(WAITING) $$(grep -rl --include='test_*.py' 'mark[.]slow' tests) -m slow $(ARGS)

unit: $(VENV)/.ready-dev ## The unit tests alone: under a minute, no network.
	$(PYTEST) -n auto tests/unit -m "not slow" $(ARGS)

lint: $(VENV)/.ready-dev ## Style, types and import rules.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready-dev ## Rewrite the code in the one style.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ready ## Measure retrieval, workflows, scorer and speed on FLOWXPERT_DATA, into bench/.
	mkdir -p $(BENCH)
	$(BIN)/flowxpert ingest $(FLOWXPERT_DATA)/corpus --data-dir $(BENCH)/data
	$(BIN)/flowxpert bench retrieval --data-dir $(BENCH)/data --out $(BENCH)/retrieval.json \
		--pairs $(FLOWXPERT_DATA)/retrieval/alert_to_runbook.jsonl
	$(BIN)/flowxpert bench workflows --data-dir $(BENCH)/data --out $(BENCH)/workflows.json \
		--pairs $(FLOWXPERT_DATA)/bench/workflows.jsonl
	$(BIN)/flowxpert bench scorer --data-dir $(BENCH)/data --out $(BENCH)/scorer.json \
		--pairs $(FLOWXPERT_DATA)/bench/workflows.jsonl
	$(BIN)/flowxpert bench speed --data-dir $(BENCH)/data --out $(BENCH)/speed.json

lock: $(VENV)/.ready-dev ## Renew all locks from requirements*.in and those of the rooms.
	$(BIN)/$(LOCK) $(PRODUCT) requirements.in $(ROOMS_IN) requirements-build.in -o requirements.txt
	for room in $(filter-out room,$(patsubst services/%/requirements.in,%,$(ROOMS_IN))); do \
		$(BIN)/$(LOCK) $(PRODUCT) services/room/requirements.in services/$$room/requirements.in \
		-c requirements.txt -o deploy/requirements/$$room.txt || exit; done
	$(BIN)/$(LOCK) requirements-torch.in -c requirements.txt -o requirements-torch.txt
	$(BIN)/$(LOCK) requirements-training.in -c requirements.txt -c requirements-torch.txt -o requirements-training.txt
	$(BIN)/$(LOCK) requirements-dev.in -c requirements.txt -o requirements-dev.txt
	$(BIN)/$(LOCK) requirements-vllm.in -o requirements-vllm.txt

openapi: $(VENV)/.ready ## Renew proto/openapi from the apps.
	$(BIN)/python proto/export.py

proto: $(VENV)/.ready-dev ## Release the messages of proto/: later changes must not break them.
	cd proto && ../$(BIN)/buf build --exclude-source-info -o flowxpert.binpb

docs: openapi ## Renew all that the code says: docs/reference, tables, dashboards, compose, chart.
	$(BIN)/flowxpert settings --format markdown > docs/reference/settings.md
	$(BIN)/flowxpert settings --format env > .env.example
	$(BIN)/flowxpert metrics > docs/operate/metrics.md
	$(BIN)/python deploy/observability/grafana/build.py
	$(BIN)/python docs/reference/export.py
	$(BIN)/python deploy/export.py

secrets: ## Make the secrets of docker-compose.yml in deploy/secrets, each once.
	deploy/make-secrets

examples: $(VENV)/.ready-dev ## Renew the made documents among the examples, and their readings.
	$(BIN)/python examples/build.py
	$(BIN)/python examples/draw.py

clean: ## Remove the environment and caches; the data folder stays.
	rm -rf $(VENV) .venv-vllm build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info

$(VENV)/.ready: requirements.txt pyproject.toml deploy/install
	deploy/install "$(PYTHON)" $(VENV)
	touch $@

$(VENV)/.ready-dev: $(VENV)/.ready requirements-torch.txt requirements-training.txt requirements-dev.txt
	FLOWXPERT_EMBEDDER=torch deploy/install "$(PYTHON)" $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-training.txt
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-dev.txt
	touch $@
