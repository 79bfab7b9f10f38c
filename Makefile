# Everything a person or CI calls. `make demo` and `make test` are the two to know.
.DEFAULT_GOAL := help
TRUNKLINE := target/release/trunkline

.PHONY: help demo test lint test-rust test-python test-hadoop test-studies test-report wheel deb static release site audit build bench study report clean

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: ## import a real Hadoop job, predict it at 10 Mbit/s, show both, write the page
	@scripts/need cargo
	@scripts/demo

test: ## every test in every language, each to its end; then what failed
	@scripts/test

lint: ## formatting, lints and documentation, warnings are errors
	@scripts/test lint

test-rust: ## the tests in Rust
	@scripts/test rust

test-python: ## the Python package
	@scripts/test python

test-hadoop: ## what runs within Hadoop (Java)
	@scripts/test hadoop

test-studies: ## every study in its short form
	@scripts/test studies

test-report: ## the page
	@scripts/test page

audit: ## licences and sources of all dependencies
	@scripts/need cargo cargo-deny
	cargo deny --locked check licenses bans sources

build: $(TRUNKLINE) ## the program, optimised

.PHONY: $(TRUNKLINE)
$(TRUNKLINE):
	@scripts/need cargo
	cargo build --release --locked -p trunkline

wheel: ## the Python package, optimised, into target/wheels
	@scripts/wheel

deb: ## the Debian package, into target/packages
	@scripts/deb

static: ## the program linked statically, as an archive and a container image, into target/packages
	@scripts/static

release: ## everything of a release but publishing it, into target/packages/trunkline-VERSION
	@scripts/release

site: ## the documents as pages with a search, into target/site
	@scripts/site

bench: build ## packet-hops per CPU second, peak memory, event queues, gateways, scans of records, the page's frames; ns-2, stunnel and mawk beside them where installed
	$(TRUNKLINE) bench
	scripts/bench-kat
	cargo bench --workspace --locked
	@scripts/need node npm
	cd report && npm ci --no-audit --no-fund && npm run bench

study: build ## the long comparisons: studies in full, recorded and real Hadoop jobs, millions of connections
	$(TRUNKLINE) study all
	scripts/study
	scripts/study-hadoop
	scripts/study-placement
	$(TRUNKLINE) bench incast-short-2000-100s

report: ## build the page that the program embeds
	@scripts/need node npm
	cd report && npm ci --no-audit --no-fund && npm run build

.PHONY: hooks
hooks: ## run the quick checks of scripts/hooks before every commit
	git config core.hooksPath scripts/hooks

clean: ## remove what was built
	cargo clean
	rm -rf report/node_modules out
