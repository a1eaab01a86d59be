# The short names of what one does here. The scripts do the work; each works from a bare machine with rustup and Node.js 20.
# Seconds a fuzz target.
seconds = 60

.PHONY: run test build cli release bench fuzz setup dev fmt clean

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

bench: ## how long the command line takes, as its input doubles
	@. scripts/env.sh && cargo build --release --quiet && node scripts/bench.mjs

fuzz: setup ## the fuzz targets, `make fuzz seconds=3600` for longer
	@. scripts/env.sh && node scripts/fuzz.mjs $(seconds)

setup: ## installs what is missing
	@sh scripts/setup.sh

dev: setup ## rebuilds on each change, in a dist of its own
	@. scripts/env.sh && OOMSCOPE_DEV=1 trunk serve --dist dist-dev

fmt: setup
	@. scripts/env.sh && cargo fmt

clean:
	rm -rf target dist dist-dev release node_modules tests/browser/out
