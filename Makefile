# Everything a person or a CI does with this repository. `make` alone says what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Cargo uses all cores by itself; two of them would only wait for each other.
.NOTPARALLEL:

CARGO ?= cargo
PREFIX ?= /usr/local
# How long each fuzz target runs; `make test` only makes sure that none of them has rotted.
FUZZ_SECONDS ?= 60
# How often `make test-repeat` runs the tests.
N ?= 10

TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help
help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the modoai command (target/release/modoai)
	$(CARGO) build --release

.PHONY: module
module: ## Build the Apache module (target/release/libmod_oai.so)
	$(CARGO) build --release --package mod_oai

.PHONY: tools
tools: ## Install what the tests need and is missing (Debian)
	tools/install-test-tools

.PHONY: test
test: ## Install what is missing, then check and test everything
	CARGO="$(CARGO)" tools/test

.PHONY: test-repeat
test-repeat: ## Run the tests N=10 times, every second time beside a load
	CARGO="$(CARGO)" tools/test-repeat $(N)

.PHONY: check
check: ## Formatting, lints, and what may depend on what
	CARGO="$(CARGO)" tools/test formatting lints dependencies

.PHONY: fmt
fmt: ## Format the code
	$(CARGO) fmt --all

.PHONY: doc
doc: ## Build the API documentation, warnings denied
	CARGO="$(CARGO)" tools/test documentation

.PHONY: fuzz
fuzz: ## Fuzz every parser of foreign bytes (FUZZ_SECONDS=60 each)
	fuzz/run $(FUZZ_SECONDS)

.PHONY: bench
bench: ## Measure against the peers, one table (BENCH_FLAGS=--quick for a smoke run)
	bench/run $(BENCH_FLAGS)

.PHONY: bench-apache
bench-apache: ## Measure the module in a real httpd (BENCH_FLAGS=--quick for a smoke run)
	bench/apache $(BENCH_FLAGS)

.PHONY: bench-harvest
bench-harvest: ## Measure the harvester beside others (BENCH_FLAGS=--quick for a smoke run)
	bench/harvest $(BENCH_FLAGS)

.PHONY: bench-spider
bench-spider: ## Measure the spider beside other checkers of links (BENCH_FLAGS=--quick for a smoke run)
	bench/spider $(BENCH_FLAGS)

.PHONY: bench-archive
bench-archive: ## Measure an archive of arXiv's size (BENCH_FLAGS=--quick for a smoke run)
	bench/archive $(BENCH_FLAGS)

.PHONY: install
install: build ## Install command, man pages and completions (PREFIX=/usr/local, DESTDIR=)
	install -D -m 755 $(TARGET)/release/modoai $(DESTDIR)$(PREFIX)/bin/modoai
	$(TARGET)/release/modoai man $(DESTDIR)$(PREFIX)/share/man
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,bash-completion/completions zsh/site-functions fish/vendor_completions.d)
	$(TARGET)/release/modoai completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/modoai
	$(TARGET)/release/modoai completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_modoai
	$(TARGET)/release/modoai completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/modoai.fish

.PHONY: install-apache
install-apache: module ## Install the Apache module where apxs says (APXS=apxs, DESTDIR=)
	DESTDIR=$(DESTDIR) APXS=$(APXS) packaging/install-apache $(TARGET)/release/libmod_oai.so

.PHONY: deb
deb: build module ## Build the Debian packages (target/deb)
	packaging/build-deb $(TARGET)

# As root: it installs, upgrades, removes and purges the packages on this machine.
.PHONY: deb-test
deb-test: deb ## Try the Debian packages from install to purge (root)
	packaging/test $(TARGET)/deb
