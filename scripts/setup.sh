#!/bin/sh
# Installs what is missing to build the page; `setup.sh tests` also what the tests need, `setup.sh audit` what `make audit` does instead. Asks
# nothing, does nothing twice.
set -eu
cd "$(dirname "$0")/.."
. scripts/env.sh

trunk_version=0.21.14
deny_version=0.20.2
wasm_bindgen_version=$(sed -n 's/^wasm-bindgen = "=\(.*\)"/\1/p' Cargo.toml) # glue and tool must be of one version

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'oomscope: %s\n' "$*" >&2
  exit 1
}

command -v rustup >/dev/null || fail "rustup is missing. Install it from https://rustup.rs, open a new shell and run this again."
command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null ||
  fail "Node.js 20 or newer with npm is missing. Install it from https://nodejs.org (or your system's packages) and run this again."
if [ "$(uname)" = Linux ] && ! command -v cc >/dev/null; then
  fail "a C compiler for linking is missing. Install gcc (Debian, Ubuntu: apt-get install gcc libc6-dev) and run this again."
fi

# What rust-toolchain.toml names, unless it is there.
if [ -z "${RUSTUP_TOOLCHAIN:-}" ] && ! has_toolchain "$channel"; then
  say "installing Rust $channel"
  rustup toolchain install
fi
library=$(rustc --print sysroot)/lib/rustlib
if [ ! -d "$library/src/rust/library" ] || [ ! -d "$library/wasm32-unknown-unknown" ] || ! cargo clippy --version >/dev/null 2>&1 || ! cargo fmt --version >/dev/null 2>&1; then
  say "adding parts to Rust $channel"
  rustup component add rust-src clippy rustfmt
  rustup target add wasm32-unknown-unknown
fi

# Tools by cargo go to a folder of the user's cache, shared by all clones. They run for moments: a release profile that is quick to
# build halves the wait.
cargo_tool() { # name, version, then cargo's further arguments
  name=$1 version=$2
  shift 2
  case "$("$name" --version 2>/dev/null || :)" in "$name $version"*) return ;; esac
  say "building $name $version (once, some minutes)"
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG=0 \
    cargo install --quiet --root "$tools" --version "$version" "$@"
}
if [ "${1:-}" = audit ]; then
  cargo_tool cargo-deny "$deny_version" cargo-deny --locked
else
  cargo_tool wasm-bindgen "$wasm_bindgen_version" wasm-bindgen-cli --bin wasm-bindgen # no --locked: its lock file names a withdrawn version
  cargo_tool trunk "$trunk_version" trunk --locked --no-default-features --features rustls
fi

# npm only when the lock file changed.
if ! cmp -s package-lock.json node_modules/.installed-lock.json; then
  say "installing the packages of package-lock.json"
  npm ci --no-progress --loglevel=error
  cp package-lock.json node_modules/.installed-lock.json
fi

[ "${1:-}" = tests ] || exit 0
node scripts/browsers.mjs
