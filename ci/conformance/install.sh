#!/bin/sh
# install.sh NAME: what npm/NAME/package-lock.json pins, into build/npm/NAME, unless
# it is there already. It runs no package's scripts.
set -eu
cd "$(dirname "$0")"
from=npm/$1 to=../../build/npm/$1
command -v npm >/dev/null || { echo "npm is missing; on Debian: apt-get install npm" >&2; exit 1; }
cmp -s "$from/package-lock.json" "$to/installed" && exit 0
mkdir -p "$to"
cp "$from/package.json" "$from/package-lock.json" "$to/"
(cd "$to" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
cp "$from/package-lock.json" "$to/installed"
