#!/bin/sh
# Builds libarapuca, its header, its .pc file and the program arapuca from a
# source tree, and installs them.
#
#   library.sh SOURCE PREFIX
#
# It exits with 3 when a tool is missing, and says what to install.
set -eu

[ $# = 2 ] || { echo "usage: $0 SOURCE PREFIX" >&2; exit 2; }
source=$1 prefix=$2

missing=
need() { command -v "$1" >/dev/null || missing="$missing
  $1: $2"; }
need cc "the package gcc"
need make "the package make"
need pkg-config "the package pkg-config (pkgconf)"
if [ -f "$source/Cargo.toml" ]; then
  need cargo "Rust 1.85 or newer, from rustup or, in Debian 13 and Fedora, the package cargo"
  need cbindgen "cargo install cbindgen, or the package cbindgen"
fi
[ -z "$missing" ] || { echo "library: to build arapuca, install$missing" >&2; exit 3; }

cd "$source"
# Newer trees build in one step and install in another.
if grep -q '^package:' Makefile; then
  make package PREFIX="$prefix"
fi
make install PREFIX="$prefix"
