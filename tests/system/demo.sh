#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh SOURCE BINARIES: what ./dev demo prints of the embedded scene: confirmed obstacles and, beside them, a verdict with its reason.
set -euo pipefail
source=$1 binaries=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/toolchain" "$place/build/release"
cp "$source/toolchain/demo.sh" "$place/toolchain/"
ln -s "$binaries/bin" "$place/build/release/bin"

cd "$place"
said=$(toolchain/demo.sh 2>&1) || { printf '%s\n' "$said"; exit 1; }
expect() { # PATTERN
    grep -qE "$1" <<<"$said" || { printf '%s\nthe demo does not say %s\n' "$said" "$1"; exit 1; }
}
expect ' s    \+ #[0-9]+ .* m ahead '
# The box stands in a zone for three quarters of the ten seconds.
expect ' s  verdict    (stop|slow): something stands in a zone.* \((stop|slow)'
! grep -E ' m high  new' <<<"$said" || { echo 'the demo shows what is not confirmed'; exit 1; }
