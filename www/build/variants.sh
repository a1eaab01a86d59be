#!/bin/sh
# Trunk's pre-build hook: both variants of the wasm, each with its glue, in target/plain/pkg and target/threads/pkg.
# Plain runs anywhere. Threads needs shared memory, so an isolated page, and a standard library built with atomics.
set -eu
cd "$(dirname "$0")/../.."

# Flags are joined by the unit separator, which stands in no path, so that folders with spaces work.
join() {
  joined=$1
  shift
  for flag in "$@"; do joined=$joined$(printf '\037')$flag; done
  printf %s "$joined"
}

# Where the builder's files lie is nobody's business, and the same sources should give the same page everywhere.
private() {
  join "$@" "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" "--remap-path-prefix=$(rustc --print sysroot)=/rust" "--remap-path-prefix=$PWD=/oomscope"
}

compile() { # variant, then cargo's further arguments
  variant=$1
  shift
  cargo build --lib --release --no-default-features --target wasm32-unknown-unknown --target-dir "target/$variant" "$@"
}

# Glue and wasm must come from one run of wasm-bindgen. When cargo had nothing to do, neither have the tools after it.
package() { # variant
  wasm=target/$1/wasm32-unknown-unknown/release/oomscope.wasm
  pkg=target/$1/pkg
  done=target/$1/packaged.wasm
  if [ "$done" -nt www/build/variants.sh ] && cmp -s "$wasm" "$done"; then return; fi
  rm -rf "$pkg" "$done"
  wasm-bindgen --target web --out-dir "$pkg" "$wasm"
  # Without feature flags wasm-opt takes the features from the module; --all-features would break it.
  node_modules/.bin/wasm-opt -O3 -o "$pkg/oomscope_bg.wasm" "$pkg/oomscope_bg.wasm"
  cp "$wasm" "$done"
}

unset RUSTFLAGS

plain() {
  CARGO_ENCODED_RUSTFLAGS=$(private -Ctarget-feature=+simd128)
  export CARGO_ENCODED_RUSTFLAGS
  compile plain
  package plain
}

# The link arguments make the memory shared and imported: without them the build succeeds and the page fails with "Memory could
# not be cloned". RUSTC_BOOTSTRAP opens -Zbuild-std to the pinned stable compiler.
# -Awarnings silences its note that atomics are unstable; the code's own warnings come with the plain variant.
threads() {
  CARGO_ENCODED_RUSTFLAGS=$(private -Awarnings -Ctarget-feature=+atomics,+bulk-memory,+mutable-globals,+simd128 \
    -Clink-arg=--shared-memory -Clink-arg=--import-memory -Clink-arg=--max-memory=4294967296 \
    -Clink-arg=--export=__wasm_init_tls -Clink-arg=--export=__tls_size -Clink-arg=--export=__tls_align -Clink-arg=--export=__tls_base)
  export CARGO_ENCODED_RUSTFLAGS
  RUSTC_BOOTSTRAP=1 compile threads --features threads -Zbuild-std=std,panic_abort
  package threads
}

# Side by side: each spends most of its time on one core.
(plain) &
plain=$!
(threads)
wait "$plain"
