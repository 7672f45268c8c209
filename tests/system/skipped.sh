#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ./dev test says at its end of tests that were left out, with each awk that is here. Argument: source directory.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/log" <<'LOG'
Start testing: Nov 26 16:55 UTC
1/7 Testing: parity/test_sgm
1/7 Test: parity/test_sgm
skipped: no GPU that CUDA can use (CUDA driver version is insufficient)
2/7 Test: parity/test_frame
skipped: no GPU that CUDA can use (CUDA driver version is insufficient)
3/7 Test: golden/test_run
test_run: skipped in part: no test data here
[       OK ] others
4/7 Test: vm/vm_vivid
skipped: no qemu-system-x86_64 here; ./dev setup --all installs what the test guest needs
5/7 Test: system/test_clocks
skipped: no busybox here
6/7 Test: unit/test_words
[  PASSED  ] 3 test(s).
7/7 Test: system/ring_proof
skipped: needs a build without sanitizers
LOG
cat >"$work/expected" <<'TEXT'
Left out:
    2 tests, as parity/test_sgm: no GPU that CUDA can use (CUDA driver version is insufficient). on a machine with an NVIDIA GPU: ./dev test -L gpu
    part of golden/test_run: no test data here. put the test data at ../shared/data (README.md)
    vm/vm_vivid: no qemu-system-x86_64 here. ./dev setup --all, then ./dev test
    system/test_clocks: no busybox here. ./dev setup --all, or a newer distribution
    system/ring_proof: needs a build without sanitizers. ./dev test release
TEXT
printf '1/1 Test: unit/test_words\n[  PASSED  ] 3 test(s).\n' >"$work/complete"

mkdir "$work/bin"
for awk in mawk gawk original-awk 'busybox awk'; do
    command -v "${awk% *}" >/dev/null || continue
    printf '#!/bin/sh\nexec %s "$@"\n' "$awk" >"$work/bin/awk"
    chmod +x "$work/bin/awk"
    PATH=$work/bin:$PATH "$source/toolchain/skipped.sh" "$work/log" | diff -u "$work/expected" -
    [[ ! $(PATH=$work/bin:$PATH "$source/toolchain/skipped.sh" "$work/complete") ]]
    echo "ok: $awk"
done
