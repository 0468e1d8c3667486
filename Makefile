# Signet: two commands are enough. `make help` lists the rest.

SHELL := /bin/bash
CARGO ?= cargo
ARGS ?=

.DEFAULT_GOAL := help
SIM_RUNS ?= 100000

.PHONY: help run cluster sim dist test-packages test setup lint unit clients docs faults faults-quick fuzz bench bench-programs instructions build clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the release binary, target/release/signet, with link-time optimisation
	SIGNET_COMMIT="$$(git rev-parse --short=12 HEAD 2>/dev/null)" $(CARGO) build --release --locked -p signet

dist: ## packages into dist/: the static binary, .deb, .rpm, image, chart, compose file, list of components, checksums, signature
	@scripts/dist.sh $(ARGS)

test-packages: ## try them: packed twice into the same bytes, the signature, Helm's and Compose's own code, the .deb in a Debian that is booted for it (as root)
	@scripts/test-packages.sh $(ARGS)

# The link-time optimisation of a release is half of its build's time, and nobody waits for it at a first try.
run: ## build without link-time optimisation, then start a development server on https://localhost:8443 (ARGS="--listen 127.0.0.1:9443")
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 SIGNET_COMMIT="$$(git rev-parse --short=12 HEAD 2>/dev/null)" $(CARGO) build --release --locked -p signet
	@exec target/release/signet serve --dev $(ARGS)

cluster: build ## build, then start three development nodes on 8443, 8444 and 8445, and print what to try (ARGS as for run)
	@exec scripts/cluster.sh target/release/signet $(ARGS)

test: setup lint docs unit clients faults-quick fuzz ## install what the tests need, lint, run every test
	@echo
	@echo "All tests passed. Next: 'make run' starts a server to try, 'make bench' measures it; CONTRIBUTING.md says how to change it."

setup: ## install what the tests need and the machine lacks
	@scripts/setup-tests.sh

lint: ## formatting, comments at 100 columns, words of the glossary, clippy, and what is linked: unused dependencies, licences, sources
	$(CARGO) fmt --all --check
	@scripts/comment-width.py
	@scripts/words.py
	@scripts/lint-dependencies.sh
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

unit: ## the Rust tests of every crate, real server processes among them
	TMPDIR="$$(scripts/test-folder.sh)" $(CARGO) test --workspace --locked

clients: ## real client libraries, a real browser, real reverse proxies and the Terraform provider against the running binary
	$(CARGO) build --locked -p signet
	@scripts/test-clients.sh target/debug/signet
	@python3 tests/gate/test_gate.py target/debug/signet
	@echo "== The manifests of Kubernetes, and applying from a real API server for custom resources"
	@scripts/test-kubernetes.sh target/debug/signet
	@echo "== The reverse proxies of the manuals, started for real and attacked"
	@python3 tests/gate/test_proxies.py target/debug/signet
	@echo "== A login in front of an application, through each of the reverse proxies"
	@python3 tests/gate/test_login.py target/debug/signet
	@echo "== The alert rules, as Prometheus reads them, and what is sent to a collector, by OpenTelemetry's own schema"
	@scripts/test-prometheus.sh
	@echo "== The Terraform provider, as Terraform drives it"
	@scripts/test-terraform.sh target/debug/signet

docs: ## the manual as a site with search, in target/docs; a link that leads nowhere is an error
	@scripts/docs.sh

faults-quick: ## the few faults of real clusters that are tried with every change: under a minute
	$(CARGO) build --locked -p signet -p signet-faults
	@target/debug/signet-faults --quick --binary target/debug/signet

faults: build ## every fault of real clusters under load, checked; writes docs/faults-report.md (OLD=an earlier binary; ARGS="--only NAME", "--list")
	$(CARGO) build --locked -p signet-faults
	target/debug/signet-faults --binary target/release/signet $(if $(OLD),--old $(OLD)) --report docs/faults-report.md $(ARGS)

fuzz: ## every fuzz target for a few seconds, on stable Rust
	$(CARGO) run --quiet --locked --manifest-path fuzz/Cargo.toml --target-dir target --bin smoke -- --seconds 3

sim: ## 100,000 simulated clusters and replicated stores (SIM_RUNS=n); a failing one prints its seed
	SIGNET_SIM_RUNS=$(SIM_RUNS) $(CARGO) test --locked -p signet-cluster --test it sim:: -- --nocapture
	SIGNET_SIM_RUNS=$(SIM_RUNS) $(CARGO) test --locked --workspace --test sim -- --nocapture

bench: build bench-programs ## measure everything beside its floor; report and plots in bench-results (ARGS="quick", ten minutes; "full"; "part grid"; "full --peers")
	@SIGNET_BIN="$(CURDIR)/target/release/signet" target/release/signet-bench $(or $(ARGS),quick)

# The program and the benches that it runs, with one set of features: built once, and before the clock runs.
bench-programs:
	$(CARGO) build --release --locked -p signet-bench --features peer
	$(CARGO) bench --locked --no-run -p signet-bench --features peer

instructions: ## count the instructions of the hot paths; fails where one changed by 2 % (ARGS=--accept keeps the new counts)
	$(CARGO) build --release --locked -p signet-bench --features peer
	@target/release/signet-bench instructions $(ARGS)

clean: ## remove what was built
	$(CARGO) clean
