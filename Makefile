# Everything that a newcomer needs: `make demo` and `make test` install what is missing first.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
UV     := $(BIN)/uv

# two at a time: most of what installs or checks waits for the network or runs on one core
ifeq ($(filter clean,$(MAKECMDGOALS)),)
MAKEFLAGS += --jobs=2
endif
unexport MAKEFLAGS # programs would look for this make's job server, which recipes cannot reach

# A new machine fetches hundreds of files. What asks again by itself does so for about a minute; what
# ends where one of them is cut off is run again, and goes on from there.
export UV_HTTP_RETRIES ?= 8
export CARGO_NET_RETRY ?= 8
thrice = { $(1) || $(1) || $(1); }

export UV_LINK_MODE ?= copy
# Maven runs for seconds: Java's second compiler would not pay
export MAVEN_OPTS ?= -XX:TieredStopAtLevel=1
# compiled modules are kept: tests and functions of the twin are many processes that import the same
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## List what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: setup
setup: $(STAMPS)/package $(STAMPS)/engine $(STAMPS)/mariadb $(STAMPS)/postgres $(STAMPS)/volumes ## Install everything into .venv/ and .cache/

$(STAMPS)/venv: tools/bootstrap.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "plimsoll needs Python 3.11 or later: make PYTHON=python3.11 setup" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "this Python cannot make virtual environments; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(call thrice,$(BIN)/python -m pip install --quiet --require-hashes -r tools/bootstrap.txt)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dependencies: requirements-dev.txt $(STAMPS)/venv
	$(UV) pip sync --quiet --require-hashes --python $(BIN)/python tools/bootstrap.txt requirements-dev.txt
	@touch $@

$(STAMPS)/package: pyproject.toml $(STAMPS)/dependencies
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

ENGINE_SOURCES := $(shell find engine -name target -prune -o \( -name '*.rs' -o -name '*.toml' -o -name 'Cargo.lock' \) -print)

.PHONY: rust
rust:
	@command -v cargo >/dev/null && command -v cc >/dev/null || { \
	  echo "the engine is built from source: it needs Rust (on Debian or Ubuntu: apt-get install rustup && rustup default stable) and a C compiler (apt-get install build-essential)" >&2; exit 1; }

$(STAMPS)/engine: $(ENGINE_SOURCES) $(STAMPS)/dependencies | rust
	$(BIN)/maturin build --quiet --release --locked --manifest-path engine/Cargo.toml --interpreter $(BIN)/python --out .cache/wheels
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --force-reinstall "$$(ls -t .cache/wheels/plimsoll_engine-*.whl | head -1)"
	@touch $@

$(STAMPS)/mariadb: plimsoll/local/databases/mariadb_program.py $(STAMPS)/package
	$(BIN)/python -m plimsoll.local.databases.mariadb_program
	@touch $@

$(STAMPS)/postgres: plimsoll/local/databases/postgres_program.py $(STAMPS)/package | $(STAMPS)/mariadb # Maven by Maven
	$(BIN)/python -m plimsoll.local.databases.postgres_program
	@touch $@

# Cassandra's jars, for whoever runs it: Java 17 is asked for when it starts
$(STAMPS)/cassandra: plimsoll/local/databases/cassandra_program.py plimsoll/local/databases/cassandra.sha256 $(STAMPS)/package | $(STAMPS)/mariadb $(STAMPS)/postgres # Maven by Maven
	$(BIN)/python -m plimsoll.local.databases.cassandra_program
	@touch $@

.PHONY: cassandra-local
cassandra-local: $(STAMPS)/cassandra ## Fetch the Cassandra that runs on this machine (it needs Java 17)

$(STAMPS)/test-programs: Makefile tools/debian_package.py $(STAMPS)/venv | browser # apt by apt
	$(BIN)/python tools/debian_package.py victoria-metrics influxdb mariadb-server \
	  mariadb-server-core liburing2 'libaio1|libaio1t64' \
	  pgbouncer libc-ares2 'libevent-2.1-7|libevent-2.1-7t64'
	@touch $@

# the browser that reports are tested in; CHROMIUM=/path/to/it for another one
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
export CHROMIUM

# a new machine's own updates hold apt's lists, so these are the ones of tools/debian_package.py, and
# its lock, which is waited for
APT_FOLDER := $(CURDIR)/.cache/debian/apt
APT_GET := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=8 -o DPkg::Lock::Timeout=600 \
  -o Dir::State::Lists="$(APT_FOLDER)/lists" -o Dir::Cache="$(APT_FOLDER)"

# $(call installed,ITS PATH,PACKAGE,WHAT FOR): root installs what is missing, others are told to
define installed
	@if [ -z "$(1)" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    mkdir -p "$(APT_FOLDER)/lists/partial" "$(APT_FOLDER)/archives/partial"; \
	    $(APT_GET) update && $(APT_GET) install -y --no-install-recommends $(2) >/dev/null; \
	  else \
	    echo "$(3) (on Debian or Ubuntu: apt-get install $(2))" >&2; exit 1; \
	  fi; \
	fi
endef

.PHONY: browser
browser: | systemd # apt by apt
	$(call installed,$(CHROMIUM),chromium,the reports are tested in a browser: it needs Chromium)

.PHONY: systemd
systemd:
	$(call installed,$(shell command -v systemd-analyze),systemd,a Cassandra target's user data is tested with systemd-analyze: it needs systemd)

.PHONY: namespaces
namespaces: $(STAMPS)/package
	@$(BIN)/python -m tests.faults.namespaces

$(STAMPS)/volumes: $(wildcard plimsoll/volumes/native/*) $(STAMPS)/package
	@command -v "$${CC:-cc}" >/dev/null || { echo "the emulated volume is built from source: it needs a C compiler (on Debian or Ubuntu: apt-get install build-essential)" >&2; exit 1; }
	@if [ "$$(uname)" = Linux ]; then $(BIN)/python -c 'from plimsoll.volumes.build import find_native_part; [find_native_part(name) for name in ("core", "shim", "watcher")]'; fi
	@touch $@

.PHONY: lint
lint: lint-python types lint-rust ## Format, lint and type checks

# Deployed code imports no development dependency. Tests and tools may.
DEPTRY := $(BIN)/deptry --no-ansi --exclude '\.venv' --exclude hatch_build --exclude tests/second_opinion/environment --exclude '\.cache' --exclude node_modules --exclude 'cdk\.out'

.PHONY: lint-python
lint-python: $(STAMPS)/dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(DEPTRY) --exclude tests --exclude benchmarks --exclude tools .
	$(DEPTRY) --ignore DEP004 .

.PHONY: types
types: $(STAMPS)/package
	$(BIN)/mypy

# after the engine, with its profile: what both compile is compiled once
.PHONY: lint-rust
lint-rust: $(STAMPS)/engine
	cargo fmt --manifest-path engine/Cargo.toml --check
	cargo clippy --manifest-path engine/Cargo.toml --release --locked --quiet --all-features --all-targets -- --deny warnings

# the examples, which tests do not use, are compiled by the line above
RUST_TESTS := cargo test --manifest-path engine/Cargo.toml --locked --quiet --lib --tests

.PHONY: rust-tests-built
rust-tests-built: rust
	$(RUST_TESTS) --no-run

.PHONY: rust-tests
rust-tests: rust ## The engine's own tests
	$(RUST_TESTS)

.PHONY: unit
unit: setup ## The quick tests, without databases
	$(BIN)/pytest -q -n 2 --hypothesis-profile quick -m "not whole" tests/unit

WHAT_TESTS_NEED := namespaces rust-tests-built setup browser systemd $(STAMPS)/test-programs $(STAMPS)/cassandra $(STAMPS)/node

.PHONY: test
test: $(WHAT_TESTS_NEED) ## At least one test of each kind of proof, lint and types: 12 to 14 minutes on two cores
	$(BIN)/python -m tools.suite test

.PHONY: test-all
test-all: $(WHAT_TESTS_NEED) aarch64 $(STAMPS)/generators $(STAMPS)/second-opinion ## Every test, before an issue is called resolved or a release is made
	$(BIN)/python -m tools.suite test-all

RUNS ?= 3
TIER ?= test

.PHONY: hunt
hunt: $(WHAT_TESTS_NEED) $(STAMPS)/generators ## Look for tests that fail by chance: RUNS=3 TIER=test FILES=
	$(BIN)/python -m tools.suite hunt --runs $(RUNS) --tier $(TIER) $(FILES)

# what measures lines, apart: nothing else needs it
$(STAMPS)/coverage: tools/coverage.txt $(STAMPS)/venv
	rm -rf .cache/coverage
	$(UV) pip install --quiet --no-config --require-hashes --target .cache/coverage --python $(BIN)/python -r tools/coverage.txt
	@touch $@

.PHONY: coverage
coverage: $(WHAT_TESTS_NEED) $(STAMPS)/generators $(STAMPS)/coverage ## Which lines of plimsoll/ the tests run, subprocesses included: TIER=test FILES=
	$(BIN)/python -m tools.line_coverage --tier $(TIER) $(FILES)

.PHONY: faults
faults: namespaces setup ## Every fault in every phase of a run, and the table of docs/security.md
	$(BIN)/pytest -q -n 2 --write-faults tests/faults

.PHONY: audit
audit: $(STAMPS)/dependencies ## Hold what is locked against public advisories
	$(BIN)/python -m tools.audit

# programs that others wrote, in environments of their own: LocalStack, JSONata, an IAM simulator,
# the emulator that the app is deployed on, checkov
$(STAMPS)/second-opinion: tests/second_opinion/environment_of_its_own.py $(wildcard tests/second_opinion/environment/*) $(STAMPS)/package | $(STAMPS)/mariadb $(STAMPS)/postgres # Maven by Maven
	$(BIN)/python -m tests.second_opinion.environment_of_its_own
	@touch $@

SECOND_OPINION := $(BIN)/pytest -q tests/second_opinion

.PHONY: check-aws
check-aws: setup $(STAMPS)/node $(STAMPS)/second-opinion ## Hold what runs on AWS against programs of others, and write down what they said
	$(SECOND_OPINION) --write-down

# the CDK's libraries run on Node.js, on whose release they would comment at every start
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 18,20

$(STAMPS)/node: package-lock.json | $(STAMPS)/venv
	@command -v node >/dev/null && command -v npm >/dev/null || { \
	  echo "the CDK needs Node.js 20 or later (on Debian or Ubuntu: apt-get install nodejs npm)" >&2; exit 1; }
	$(call thrice,npm ci --ignore-scripts --no-audit --no-fund --loglevel error)
	@touch $@

.PHONY: synth
synth: setup $(STAMPS)/node ## Write the targets' templates, and the app's into cdk.out/
	$(BIN)/python -m stacks.targets.synthesis
	npx --no-install cdk synth --quiet

.PHONY: check-infra
check-infra: setup $(STAMPS)/node systemd ## What is deployed: rules of AWS, of CloudFormation and our own
	$(BIN)/pytest -q tests/infrastructure

$(STAMPS)/zig: tools/zig.txt $(STAMPS)/venv
	$(UV) pip install --quiet --require-hashes --target .cache/zig --python $(BIN)/python -r tools/zig.txt
	@touch $@

# what writes a client from docs/openapi.json, apart: its dependencies are its own
$(STAMPS)/generators: tools/generators.txt $(STAMPS)/venv
	rm -rf .cache/generators
	$(UV) pip install --quiet --no-config --require-hashes --target .cache/generators --python $(BIN)/python -r tools/generators.txt
	@touch $@

# what builds the engine for Lambda's processor
.PHONY: aarch64
aarch64: rust $(STAMPS)/zig
	@rustc --print target-libdir --target aarch64-unknown-linux-gnu | xargs test -d || rustup target add aarch64-unknown-linux-gnu

.PHONY: dist
dist: setup aarch64 ## Build what users install into dist/: a source archive and a wheel for each platform
	$(BIN)/python -m tools.distribution dist

.PHONY: package
package: setup aarch64 ## Build the functions' packages for AWS Lambda and show their sizes
	$(BIN)/python -m stacks.make_packages

.PHONY: docs
docs: setup ## Write the pages that are generated, build the site of docs/ and follow its links
	$(BIN)/python -m tools.request_reference
	$(BIN)/python -m tools.verdict_reference
	$(BIN)/python -m tools.openapi
	$(BIN)/python -m tools.json_schemas
	$(BIN)/python -m tools.event_schemas
	$(BIN)/python -m tools.grafana_dashboards
	$(BIN)/python -m tools.site

.PHONY: demo
demo: setup ## Find the load line of a real database at two IOPS settings, on this machine
	$(BIN)/plimsoll run scenarios/r1-demo.yaml --local

CASSANDRA := apache-cassandra-5.0.8-bin.tar.gz

.PHONY: cassandra
cassandra: setup ## Fetch the archive that Cassandra targets install (for `cassandra` in cdk.json)
	curl --fail --location --retry 8 --progress-bar --output .cache/$(CASSANDRA).part https://archive.apache.org/dist/cassandra/5.0.8/$(CASSANDRA)
	@echo "$$($(BIN)/python -c 'from stacks.targets.cassandra_template import SHA512; print(SHA512)')  .cache/$(CASSANDRA).part" | sha512sum --check --quiet
	@mv .cache/$(CASSANDRA).part .cache/$(CASSANDRA)

FUZZ_SECONDS ?= 60

.PHONY: fuzz
fuzz: ## Broken answers against the engine, for a minute (FUZZ_SECONDS=60)
	cargo run --manifest-path engine/Cargo.toml --locked --quiet --release --example fuzz -- $(FUZZ_SECONDS)

.PHONY: lock
lock: $(STAMPS)/venv ## Resolve the dependencies again, with hashes
	$(UV) pip compile --quiet --universal --generate-hashes --custom-compile-command "make lock" --extra service --extra checks pyproject.toml -o requirements.txt
	$(UV) pip compile --quiet --universal --generate-hashes --custom-compile-command "make lock" --all-extras --group dev pyproject.toml -o requirements-dev.txt
	$(UV) pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" tools/generators.in -o tools/generators.txt
	$(UV) pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" tools/coverage.in -o tools/coverage.txt
	cd tests/second_opinion/environment && $(CURDIR)/$(UV) pip compile --quiet --python-version 3.13 --generate-hashes --custom-compile-command "make lock" requirements.in -o requirements.txt
	cd tests/second_opinion/environment && $(CURDIR)/$(UV) pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" ministack.in -o ministack.txt
	cd tests/second_opinion/environment && $(CURDIR)/$(UV) pip compile --quiet --no-config --python-version 3.13 --generate-hashes --custom-compile-command "make lock" checkov.in -o checkov.txt

.PHONY: clean
clean: ## Remove what setup made
	rm -rf $(VENV) .cache engine/target
