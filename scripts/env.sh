# Sourced by the other scripts, from the project's top: where tools are looked for.
tools=${XDG_CACHE_HOME:-$HOME/.cache}/oomscope/tools
PATH=$PWD/node_modules/.bin:$tools/bin:$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
export PATH

# The pinned compiler may be there under another name: a "stable" of the same version saves a download, and on some machines no other
# can be had.
channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
has_toolchain() { rustup toolchain list 2>/dev/null | grep -q "^$1"; }
if [ -z "${RUSTUP_TOOLCHAIN:-}" ] && ! has_toolchain "$channel" && has_toolchain stable && rustc +stable --version | grep -q "^rustc $channel "; then
  RUSTUP_TOOLCHAIN=stable
  export RUSTUP_TOOLCHAIN
fi
