# `make help` lists the targets. All builds use the release profile, so that RocksDB is compiled only once.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# ccache, where present, is found through PATH: other values of CC and CXX would make Cargo rebuild RocksDB.
ifneq ($(wildcard /usr/lib/ccache/clang++),)
export PATH := /usr/lib/ccache:$(PATH)
endif

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
ifneq ($(words $(TARGET_DIR)),1)
$(error CARGO_TARGET_DIR must not have spaces: $(TARGET_DIR))
endif
TIDELINE := $(TARGET_DIR)/release/tideline
TESTED := $(TARGET_DIR)/tested/tideline
MACHINES_LOG := $(TARGET_DIR)/tested/machines.log
# Not in `data`, which is the data directory of `make run`.
DEMO := $(TARGET_DIR)/demo
LISTEN ?= 127.0.0.1:8080
OPS ?= 1000000
MINUTES ?= 1000000
THREADS ?= 8
SEED ?= 20260101
STREAMS ?= 2000
RATE ?= 200
SECONDS ?= 60
CUTS ?= 100
BACKUPS ?= 20
ROUNDS ?= 200
# All tests are of one program, with failpoints built in, so that our crates are compiled once for them.
CARGO_TEST := cargo --config .cargo/tests.toml test --release --locked --features failpoints
QUICK_TEST := $(subst test --,--config .cargo/quick.toml test --,$(CARGO_TEST))
# The packages with unit tests. tests/features keeps the features of all others as they are when everything is built.
UNITS := $(patsubst crates/%,tideline-%,$(wildcard crates/*)) tideline
UNIT_TESTS = --package tideline-features $(addprefix --package ,$1) --lib
# Most tests wait more than they compute.
export RUST_TEST_THREADS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores > 9 ? 20 : 2 * cores + 2)))
# Where flushing to the device costs nothing, if there is room. What a flush leaves on the device after a power cut is proven by
# tests/power_cuts.py.
RAM_DIR := $(shell [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] 2>/dev/null && echo /dev/shm)
IN_RAM := $(if $(RAM_DIR),TMPDIR=$(RAM_DIR))

# One target after the other, also with --jobs; those below `test` ask for more themselves.
ifeq ($(MAKELEVEL),0)
.NOTPARALLEL:
endif

##@ Day one

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^##@ / { printf "%s%s\n", (n++ ? "\n" : ""), substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: build ## serve with the settings of config.toml; more options in ARGS=
	$(TIDELINE) serve --config config.toml $(ARGS)

.PHONY: demo
demo: build ## make a small community and serve it; LISTEN= changes the address
	@$(TIDELINE) demo --dir $(DEMO) --listen $(LISTEN)

# The last of its files.
$(DEMO)-files/profiles.ndjson: | build
	rm -rf $(DEMO)-files
	$(TIDELINE) demo --out $(DEMO)-files

# `make try TEST=http::docs` while you work: a change is compiled in parts. Of the unit tests only the packages that have
# a function or a module of this name.
NAMED = $(shell grep -rlE '(fn|mod) \w*$(lastword $(subst ::, ,$(TEST)))' crates/*/src src | sed -E 's|^crates/([^/]+)/.*|tideline-\1|; s|^src/.*|tideline|' | sort -u)
TRY_unit = $(call UNIT_TESTS,$(or $(NAMED),$(UNITS)))
.PHONY: try
try: setup ## run the tests with TEST= in their names, of the program IN= (program, library or unit)
	@set -o pipefail; $(IN_RAM) $(QUICK_TEST) $(or $(TRY_$(IN)),--test $(or $(IN),program)) -- $(TEST) | \
	  awk '{ print; fflush() } /^running [1-9]/ { ran = 1 } END { if (!ran) { print "try: no test of this program has this in its name"; exit 1 } }'

# The machines use a copy of the program. None is left at its path, because it would have failpoints.
.PHONY: test
test: setup ## run all tests, and short shares of the proof machines; says which were left out for lack of tools
	@.ci/setup curl
	$(CARGO_TEST) --test '*' --no-run
	@install -D $(TIDELINE) $(TESTED)
	@$(MAKE) --no-print-directory --jobs 3 --keep-going test-library test-program test-machines
	@rm -f $(TIDELINE)
	@! grep 'left out' $(MACHINES_LOG) || echo 'make test: all other tests passed; the lines above name the tests whose tools are missing'

.PHONY: test-library test-program
test-library: ; $(CARGO_TEST) --test library
test-program: ; $(CARGO_TEST) --test program

# MORE= names further ones. Each tells all that it has to say at its end, with the time that it took.
.PHONY: test-machines
test-machines: export TIMEFORMAT := took %R s, %U s of the processor and %S s of the system
test-machines:
	@set -o pipefail; env -u MAKEFLAGS make --no-print-directory --jobs 3 --output-sync=target --keep-going \
	  TIDELINE=$(TESTED) $(addprefix machine-,$(MORE) $(MACHINES)) | tee $(MACHINES_LOG)

# Short shares of the proof machines, each in some seconds to two minutes; the longest come first. The unit tests are compiled
# once the others run: Cargo compiles for one command at a time.
MACHINES := slow-clients console python-client unit typescript-client examples chaos docs recipes backups standby power-cuts lying-disk alerts proxies site install
.PHONY: $(addprefix machine-,$(MACHINES))
# Those of each package are compiled without optimisation, above libraries that are compiled already.
UNIT_TEST = $(subst test --,--config profile.release.package.$1.opt-level=0 test --,$(CARGO_TEST)) $(call UNIT_TESTS,$1)
machine-unit: ; time { true $(foreach unit,$(UNITS),&& $(call UNIT_TEST,$(unit))); }
machine-docs: ; time python3 tests/docs.py --binary $(TIDELINE)
machine-chaos: ; time python3 tests/chaos.py --binary $(TIDELINE) --rounds 5 --seed 20260101
machine-backups: ; time python3 tests/backups.py --binary $(TIDELINE) --backups 3 --seed 20260101
machine-standby: ; time python3 tests/standby_chaos.py --binary $(TIDELINE) --rounds 4 --seed 20260101
machine-power-cuts: ; time python3 tests/power_cuts.py --binary $(TIDELINE) --cuts 3 --seconds 0.6 --seed 20260101
machine-lying-disk: ; time python3 tests/power_cuts.py --binary $(TIDELINE) --cuts 5 --seconds 0.6 --seed 20260101 --lying-disk
machine-slow-clients: ; time python3 tests/slow_clients.py --binary $(TIDELINE) --clients 200 --seconds 13 --timeout 6 --untimed
machine-python-client: ; time python3 tests/clients.py --binary $(TIDELINE) --only python
machine-typescript-client: ; time python3 tests/clients.py --binary $(TIDELINE) --only typescript
machine-recipes: ; time python3 tests/recipes.py --binary $(TIDELINE) --rows 50000
machine-examples: ; time python3 tests/examples.py --binary $(TIDELINE)
machine-site: ; time python3 tests/doc_site.py
machine-alerts: ; time python3 tests/alerts.py --binary $(TIDELINE)
machine-proxies: ; time python3 tests/proxies.py --binary $(TIDELINE)
machine-install: ; time python3 tests/install.py
machine-console: ; time python3 tests/console.py --binary $(TIDELINE) --items 1000 --arrivals 100

.PHONY: fmt
fmt: ## format the code
	cargo fmt --all

.PHONY: check
check: lint test ## all that must be good before a commit: lint and test

##@ Develop

.PHONY: setup
setup: ## install the tools for build and tests; other targets do it themselves
	@.ci/setup
	@.ci/announce

.PHONY: build
build: setup ## build the server
	cargo build --release --locked

.PHONY: lint
lint: setup ## format, lints, unused dependencies, documentation of the code, licences, advisories; ARGS=--required
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 || rustup component add rustfmt clippy
	cargo fmt --all --check
	@.ci/machete
	cargo clippy --release --locked --workspace -- -D warnings
	cargo clippy --release --locked --workspace --features failpoints --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --locked --workspace --no-deps
	@.ci/deny $(ARGS)

.PHONY: clients
clients: build ## write the generated parts of the clients anew from the OpenAPI document
	python3 clients/generate.py --binary $(TIDELINE)

.PHONY: docs-tables
docs-tables: ## write config.toml and the tables of the documentation anew from the declarations
	TIDELINE_WRITE_DOCS=1 $(MAKE) try IN=library TEST=docs_tables

.PHONY: site
site: ## make the documentation into a site with a search, and fail on a broken link; ARGS=--write
	@python3 tests/doc_site.py --required $(ARGS)

.PHONY: pictures
pictures: build ## make the pictures of docs/use/console.md anew; needs chromium
	python3 tests/console.py --strict --binary $(TIDELINE) --screenshots docs/images

.PHONY: cluster
cluster: build ## three brokers and three nodes on this machine, to try; needs Java and Maven: ARGS=
	@python3 tests/cluster_by_hand.py --binary $(TIDELINE) $(ARGS)

.PHONY: clean
clean: ## remove the demo data and the built crates, but not the compiled RocksDB
	rm -rf $(DEMO) $(DEMO)-files
	cargo clean --release --package tideline $(patsubst crates/%,--package tideline-%,$(wildcard crates/*))

##@ Prove for longer, or with further tools

.PHONY: prove
prove: setup ## OPS= random operations on each store against the plain function; SEED=
	$(IN_RAM) TIDELINE_TEST_OPS=$(OPS) TIDELINE_TEST_SEED=$(SEED) \
	  cargo test --release --locked --test library promises::every_page -- --nocapture --test-threads 1

.PHONY: prove-cluster
prove-cluster: setup ## OPS= random operations on three nodes and a log in memory with faults; SEED=
	$(IN_RAM) TIDELINE_TEST_OPS=$(OPS) TIDELINE_TEST_SEED=$(SEED) \
	  cargo test --release --locked --test library cluster::every_page -- --nocapture

.PHONY: soak
soak: build ## check threads and kill servers for MINUTES=; THREADS= SEED=
	cargo test --release --locked --test library --no-run
	@trap 'kill 0' INT TERM; \
	  python3 tests/chaos.py --binary $(TIDELINE) --minutes $(MINUTES) --seed $(SEED) & chaos=$$!; \
	  TIDELINE_TEST_MINUTES=$(MINUTES) TIDELINE_TEST_THREADS=$(THREADS) TIDELINE_TEST_SEED=$(SEED) \
	    cargo test --release --locked --test library promises::reads_at_the_same_time -- --nocapture; threads=$$?; \
	  wait $$chaos; chaos=$$?; echo "threads: exit code $$threads, kills: exit code $$chaos"; \
	  [ $$threads -eq 0 ] && [ $$chaos -eq 0 ]

.PHONY: chaos
chaos: build ## kill the server at random instants under load, and compare all acknowledged changes: ARGS=
	python3 tests/chaos.py --binary $(TIDELINE) $(ARGS)

.PHONY: power-cuts
power-cuts: build ## cut the power CUTS= times under load, in each durability, and compare what is left: ARGS=
	python3 tests/power_cuts.py --binary $(TIDELINE) --cuts $(CUTS) $(ARGS)

.PHONY: backups
backups: build ## take BACKUPS= backups under load, restore and compare each: ARGS=
	python3 tests/backups.py --binary $(TIDELINE) --backups $(BACKUPS) $(ARGS)

.PHONY: standby-chaos
standby-chaos: build ## ROUNDS= rounds of kills, cuts, promotions and switches of a server and its standby: ARGS=
	python3 tests/standby_chaos.py --binary $(TIDELINE) --rounds $(ROUNDS) $(ARGS)

.PHONY: cluster-chaos
cluster-chaos: build ## ROUNDS= rounds of kills, pauses, lost answers and full disks in a real cluster: ARGS=
	python3 tests/cluster_chaos.py --binary $(TIDELINE) --rounds $(ROUNDS) $(ARGS)

.PHONY: test-cluster
test-cluster: build ## tests of a real cluster (minutes): chaos, paused leader, cut off, one node, guards; needs Java, Maven
	python3 tests/cluster_chaos.py --binary $(TIDELINE) --rounds 10 --seed 20260101 --case rounds --case paused-leader --case cut-off --case one-node --case guards

.PHONY: test-cluster-short
test-cluster-short: build ## a short share of test-cluster
	@$(MAKE) --no-print-directory machine-cluster

.PHONY: machine-cluster
machine-cluster: ; time python3 tests/cluster_chaos.py --binary $(TIDELINE) --optional --rounds 2 --times 1 --seed 20260101 --case rounds --case paused-leader

.PHONY: fuzz
fuzz: setup ## any bytes as keys, values, cursors, imports and bodies, SECONDS= each; installs a nightly compiler
	@rustup toolchain list | grep -q '^nightly' || rustup toolchain install nightly --profile minimal
	@cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
	for target in keys values cursors imports bodies; do \
	  cargo +nightly fuzz run $$target -- -max_total_time=$(SECONDS) -rss_limit_mb=2048 || exit 1; done

.PHONY: scale
scale: $(if $(FOLLOWS),build,$(DEMO)-files/profiles.ndjson) ## compare a served data set with a merge of its files: FOLLOWS= CONTENT= IDS= ARGS=
	python3 tests/scale.py --binary $(TIDELINE) \
	  --follows $(or $(FOLLOWS),$(DEMO)-files/follows.csv) --content $(or $(CONTENT),$(DEMO)-files/content.ndjson) $(if $(IDS),--ids $(IDS)) $(ARGS)

.PHONY: memory-attack
memory-attack: build ## unread pages, idle streams, large batches and a long scan at once; answers to others: ARGS=
	python3 tests/memory_attack.py --binary $(TIDELINE) $(ARGS)

# Not SECONDS ?=: bash sets this variable, too.
.PHONY: slow-clients
slow-clients: build ## 2,000 slow clients for SECONDS=; answers to others: ARGS=
	python3 tests/slow_clients.py --binary $(TIDELINE) --seconds $(if $(filter command line,$(origin SECONDS)),$(SECONDS),120) $(ARGS)

.PHONY: erasure-load
erasure-load: build ## erase a user with 100,000 items and 1,000,000 followers under load: ARGS=
	python3 tests/erasure_load.py --binary $(TIDELINE) $(ARGS)

##@ Test what is around the server

.PHONY: clients-test
clients-test: build ## check, test and pack the clients: ARGS=
	python3 tests/clients.py --binary $(TIDELINE) $(ARGS)

.PHONY: client-tour
client-tour: build ## generate clients for Java, Kotlin, Go and TypeScript, and call the server with each: ARGS=
	python3 tests/client_tour.py --binary $(TIDELINE) $(ARGS)

.PHONY: examples-test
examples-test: build ## run the examples with their tests: ARGS=
	python3 tests/examples.py --binary $(TIDELINE) $(ARGS)

.PHONY: console-test
console-test: build ## use the console in chromium; a timeline of 10,000 items while 1,000 arrive: ARGS=
	python3 tests/console.py --binary $(TIDELINE) $(ARGS)

.PHONY: recipes-test
recipes-test: build ## the recipes with a real PostgreSQL and Redis: ARGS=
	python3 tests/recipes.py --binary $(TIDELINE) $(ARGS)

# Where promtool cannot be had, the test says so.
.PHONY: alerts-test
alerts-test: build ## fire each alert rule once, with promtool
	@.ci/tools promtool || true
	@$(MAKE) --no-print-directory machine-alerts

# Where they cannot be had, the test says so.
.PHONY: proxies
proxies: build ## nginx and Caddy in front, with the configurations of the documentation
	@.ci/tools nginx caddy || true
	@$(MAKE) --no-print-directory machine-proxies

# Where they cannot be installed, the test says so.
.PHONY: units-test
units-test: build image-setup ## the systemd units, with the commands of the documentation (root, packages of Debian): ARGS=
	@$(MAKE) --no-print-directory machine-units

.PHONY: machine-units
machine-units: ; time python3 tests/units.py --binary $(TIDELINE) $(ARGS)

# Where they cannot be installed, the test says so.
.PHONY: image-test
image-test: build image-setup ## the container image and compose files (root, packages of Debian): ARGS=
	@$(MAKE) --no-print-directory machine-image

.PHONY: machine-image
machine-image: ; time python3 tests/image.py --binary $(TIDELINE) $(ARGS)

.PHONY: image-setup
image-setup:
	@[ "$$(id -u)" -ne 0 ] || .ci/setup buildah podman runc mmdebstrap netavark aardvark-dns catatonit iptables podman-compose debian-archive-keyring </dev/null || true

.PHONY: deb-test
deb-test: ## install, use, remove and purge the Debian package in an empty system
	@.ci/setup mmdebstrap || true
	.ci/deb-test $(TARGET_DIR)/debian/tideline_*.deb

##@ Measure

# The directory goes even when the run is interrupted. Only a full run writes the page.
.PHONY: bench
bench: setup ## compare with Redis, PostgreSQL, bare RocksDB and actix-web (an hour); QUICK=1 DIR= ARGS=
	@.ci/setup redis-server postgresql wrk
	cargo build --release --locked
	@dir=$$(mktemp -d $(or $(DIR),/var/tmp)/tideline-bench-XXXXXX) && trap 'rm -rf "$$dir"' EXIT && chmod 755 "$$dir" && \
	  cargo bench --locked --bench peers -- --dir "$$dir" $(if $(QUICK),--quick) $(ARGS) $(if $(QUICK)$(ARGS),,--output docs/contribute/benchmarks.md)

# What cannot be installed is left out, and said so. Only a full run writes the page.
.PHONY: compare
compare: build ## one trace through Tideline, Redis, SQL and two libraries, each page judged; QUICK=1 ARGS=
	@.ci/setup redis-server postgresql </dev/null || true
	python3 benches/compare.py --binary $(TIDELINE) $(if $(QUICK),--quick) $(ARGS) $(if $(QUICK)$(ARGS),,--output docs/comparison.md)

.PHONY: ratios
ratios: setup ## fan-out and pages as multiples of the bare engine and web server (minutes): ARGS=
	@.ci/setup wrk
	cargo bench --locked --bench peers -- --only ratios,sources,follows $(ARGS)

.PHONY: streams
streams: setup ## STREAMS= open streams, RATE= publishes a second for SECONDS=, then CUTS= cuts
	cargo bench --locked --bench streams -- $(STREAMS) $(RATE) $(SECONDS) $(CUTS)

.PHONY: cluster-bench
cluster-bench: build ## the costs of a cluster of one, two and three nodes; needs Java and Maven: ARGS=
	python3 benches/cluster_bench.py --binary $(TIDELINE) $(ARGS)

##@ Release

.PHONY: release-check
release-check: ## say what this commit still needs before a release, as TAG= if given
	.ci/release-check $(TAG)

.PHONY: dist
dist: ## make the archive of a release, with the profile `dist`
	@OPENSSL_NO_VENDOR=0 .ci/setup binutils git
	.ci/dist

.PHONY: deb
deb: dist ## make the Debian package of a release
	.ci/deb

.PHONY: docker
docker: ## build the container image
	DOCKER_BUILDKIT=1 docker build --tag tideline .
