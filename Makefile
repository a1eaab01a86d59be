# The short names of what one does here. The scripts do the work; each works from a bare machine with rustup and Node.js 20.
# Seconds a fuzz target.
seconds = 60

.PHONY: run test build cli release bench fuzz audit reproducible setup dev fmt clean

run: build ## builds the page and serves it, isolated so that it may use threads
	@node scripts/serve.mjs

test: ## every check
	@sh scripts/setup.sh tests
	@. scripts/env.sh && node scripts/check.mjs

build: setup ## dist/index.html
	@. scripts/env.sh && trunk build

release: build ## release/: the page with all licences in one archive, and its hash
	@. scripts/env.sh && node scripts/release.mjs

cli: build ## target/release/oomscope, with the page in it for --html
	@. scripts/env.sh && cargo build --release --features page

bench: build ## the command line, the page and single readers beside their peers, as the input doubles
	@. scripts/env.sh && cargo build --release --quiet && node scripts/bench.mjs

fuzz: setup ## the fuzz targets, `make fuzz seconds=3600` for longer
	@. scripts/env.sh && node scripts/fuzz.mjs $(seconds)

audit: ## licences, versions, sources, advisories and signatures of all dependencies; asks the network
	@sh scripts/setup.sh audit
	@. scripts/env.sh && cargo deny --locked check
	@. scripts/env.sh && cargo deny --locked --manifest-path tests/fuzz/Cargo.toml --config deny.toml check --allow unmatched-skip
	npm audit
	npm audit signatures

reproducible: setup ## builds what is committed twice, in two folders, and compares the bytes
	@. scripts/env.sh && node scripts/reproducible.mjs

setup: ## installs what is missing
	@sh scripts/setup.sh

dev: setup ## rebuilds on each change, in a dist of its own
	@. scripts/env.sh && OOMSCOPE_DEV=1 trunk serve --dist dist-dev

fmt: setup
	@. scripts/env.sh && cargo fmt

clean:
	rm -rf target dist dist-dev release node_modules tests/browser/out
