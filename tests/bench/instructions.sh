#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Instructions that the matching kernels execute on the CPU for one small pair, AVX2 (counted by valgrind) beside NEON (by QEMU):
# `tests/bench/instructions.sh [WIDTH HEIGHT DISPARITIES]`, from builds of ./dev build and ./dev cross. A kernel's own
# instructions only, not those of memset and memcpy. Per pixel of the pair, all calls of a frame together, and for cost, aggregate
# and argmin per pixel and disparity; then the same per vector, of 32 bytes or 16, which is NEON's measure: at half the width it
# needs at best twice as many. No time is measured: the counts are the same on every machine with the same compilers.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

die() { printf 'instructions.sh: %s\n' "$*" >&2; exit 1; }
[[ $# == 0 || $# == 3 && ! "$*" =~ [^0-9\ ] ]] || { echo "usage: tests/bench/instructions.sh [WIDTH HEIGHT DISPARITIES]" >&2; exit 64; }
size=("${1-320}" "${2-32}" "${3-64}")

x86=build/release/bin/bench_instructions arm=build/arm64-cpu/bin/bench_instructions
command -v valgrind >/dev/null || die "no valgrind: apt-get install valgrind"
command -v qemu-aarch64 >/dev/null || die "no qemu-aarch64: apt-get install qemu-user"
[[ -x $x86 ]] || die "no $x86: ./dev build, on an x86-64 machine"
[[ -x $arm ]] || die "no $arm: ./dev cross"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# "kernel count" a line. Functions that the compiler made of a kernel (.part, .cold) are its own.
avx2() {
    valgrind --tool=callgrind --callgrind-out-file="$folder/callgrind" "$x86" avx2 "${size[@]}" 2>"$folder/log" ||
        die "valgrind could not run $x86: $(cat "$folder/log")"
    callgrind_annotate --threshold=100 "$folder/callgrind" |
        sed -nE 's/^ *([0-9,]+) .*:plx_([a-z0-9_]+)_avx2.*/\2 \1/p' | tr -d ,
}

# QEMU logs each executed instruction, its function last on the line.
neon() {
    qemu-aarch64 -L build/sysroot-arm64 -singlestep -d nochain,exec "$arm" neon "${size[@]}" 2>&1 |
        awk '$NF ~ /^plx_[a-z0-9_]+_neon/ {count[$NF]++} END {for (name in count) print name, count[name]}' |
        sed -E 's/^plx_([a-z0-9_]+)_neon[^ ]*/\1/' || die "qemu-aarch64 could not run $arm"
}

avx2 >"$folder/avx2"
neon >"$folder/neon"
awk -v pixels=$((size[0] * size[1])) -v disparities="${size[2]}" '
FNR == 1 {file++}
{count[file, $1] += $2}
END {
    printf "%-18s %10s %10s %10s %12s\n", "", "AVX2", "NEON", "NEON/AVX2", "per vector"
    n = split("cost aggregate argmin disparities census smooth gradients split penalties partners median_3x3 median_valid_5x5 even check agree confidence", names)
    for (i = 1; i <= n; i++) {
        unit = pixels * (i <= 3 ? disparities : 1)
        a = count[1, names[i]]; b = count[2, names[i]]
        if (a && b) printf "%-18s %10.3f %10.3f %10.2f %12.2f\n", names[i], a / unit, b / unit, b / a, b / a / 2
    }
}' "$folder/avx2" "$folder/neon"
