# Tasks for developers and CI. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Cargo uses all cores, and two Cargo processes would wait for each other.
.NOTPARALLEL:

CARGO ?= cargo
PREFIX ?= /usr/local
# Seconds per fuzz target; `make test` only checks that they still run.
FUZZ_SECONDS ?= 60
# Number of runs of `make test-repeat`.
N ?= 10
# Seeds of `make simulate`.
SEEDS ?= 100000

# The target of `make static`.
MUSL := $(shell uname -m)-unknown-linux-musl
TARGET := $(or $(CARGO_TARGET_DIR),target)

# Builds before an installation. Under sudo, root has no Rust and installs the results of `make dist`.
BUILT := $(if $(shell command -v $(CARGO)),dist)

# Of `make image`: the program that builds it, and the certificates of public authorities.
PODMAN ?= podman
CERTIFICATES ?= /etc/ssl/certs/ca-certificates.crt

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the modoai command (target/release/modoai)
	$(CARGO) build --release

.PHONY: dist
dist: ## Build command and Apache module with all optimisations (target/dist)
	$(CARGO) build --profile dist --package modoai --package mod_oai

.PHONY: tools
tools: ## Install missing tools of the tests (Debian)
	tools/install-test-tools

.PHONY: test
test: ## Install missing tools, then run all checks and tests
	CARGO="$(CARGO)" tools/test

.PHONY: simulate
simulate: ## Simulate harvests of SEEDS=100000 random repositories, or of a range (SEEDS=5000..9000)
	$(CARGO) run --release --package modoai-simulation -- $(SEEDS)

.PHONY: simulate-nightly
simulate-nightly: ## Simulate harvests of new random repositories for an hour
	$(CARGO) run --release --package modoai-simulation -- --seconds 3600

.PHONY: test-repeat
test-repeat: ## Run the tests N=10 times, every second time under load
	CARGO="$(CARGO)" tools/test-repeat $(N)

.PHONY: check
check: ## Check formatting, lints and dependencies
	CARGO="$(CARGO)" tools/test formatting lints dependencies

.PHONY: fmt
fmt: ## Format the code
	$(CARGO) fmt --all

.PHONY: doc
doc: ## Build the API documentation with warnings as errors
	CARGO="$(CARGO)" tools/test documentation

.PHONY: fuzz
fuzz: ## Fuzz all parsers of untrusted input (FUZZ_SECONDS=60 each)
	fuzz/run $(FUZZ_SECONDS)

.PHONY: bench
bench: ## Compare with other providers (BENCH_FLAGS=--quick for a smoke run)
	bench/run $(BENCH_FLAGS)

.PHONY: bench-apache
bench-apache: ## Measure the module in httpd (BENCH_FLAGS=--quick for a smoke run)
	bench/apache $(BENCH_FLAGS)

.PHONY: bench-paper
bench-paper: ## Repeat the experiments of the 2005 paper (BENCH_FLAGS=--quick for a smoke run)
	bench/paper $(BENCH_FLAGS)

.PHONY: bench-harvest
bench-harvest: ## Compare the harvester with others (BENCH_FLAGS=--quick for a smoke run)
	bench/harvest $(BENCH_FLAGS)

.PHONY: bench-replay
bench-replay: ## Check that pywb replays whole sites after three harvests (BENCH_FLAGS=--quick for a smoke run)
	bench/replay $(BENCH_FLAGS)

.PHONY: bench-spider
bench-spider: ## Compare the spider with other link checkers (BENCH_FLAGS=--quick for a smoke run)
	bench/spider $(BENCH_FLAGS)

.PHONY: bench-archive
bench-archive: ## Measure an archive of arXiv's size (BENCH_FLAGS=--quick for a smoke run)
	bench/archive $(BENCH_FLAGS)

.PHONY: install
install: $(BUILT) ## Install command, man pages, completions and systemd units (PREFIX=/usr/local, DESTDIR=)
	install -D -m 755 $(TARGET)/dist/modoai $(DESTDIR)$(PREFIX)/bin/modoai
	$(TARGET)/dist/modoai man $(DESTDIR)$(PREFIX)/share/man
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,bash-completion/completions zsh/site-functions fish/vendor_completions.d)
	$(TARGET)/dist/modoai completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/modoai
	$(TARGET)/dist/modoai completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_modoai
	$(TARGET)/dist/modoai completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/modoai.fish
	packaging/install-units $(PREFIX) $(DESTDIR)

.PHONY: install-apache
install-apache: $(BUILT) ## Install the Apache module in the directory of apxs (APXS=apxs, DESTDIR=)
	DESTDIR=$(DESTDIR) APXS=$(APXS) packaging/install-apache $(TARGET)/dist/libmod_oai.so

.PHONY: deb
deb: ## Build the Debian packages (target/deb)
	packaging/build-deb $(TARGET)

# Needs root: installs, upgrades, removes and purges the packages on this machine.
.PHONY: deb-test
deb-test: deb ## Test the Debian packages from install to purge (root)
	packaging/test $(TARGET)/deb

.PHONY: static
static: ## Build the modoai command as a static program (target/TRIPLE/dist/modoai; needs musl-tools)
	$(CARGO) build --profile dist --target $(MUSL)

.PHONY: image
image: static ## Build the container image modoai (PODMAN=podman)
	rm -rf $(TARGET)/image
	install -D -m 755 $(TARGET)/$(MUSL)/dist/modoai $(TARGET)/image/root/usr/bin/modoai
	install -D -m 644 $(CERTIFICATES) $(TARGET)/image/root/etc/ssl/certs/ca-certificates.crt
	install -d -m 1777 $(TARGET)/image/root/tmp
	install -d -m 700 $(TARGET)/image/state/modoai
	$(PODMAN) build --tag modoai --file Containerfile $(TARGET)/image

.PHONY: crates
crates: ## Package the library crates for crates.io (target/package)
	$(CARGO) package --no-verify $(CRATE_FLAGS) $(addprefix --package modoai-,protocol fetch state settings repository harvester)
