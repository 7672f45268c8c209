#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# skipped.sh LOG: a line for each thing that the tests of CTest's LastTest.log left out: how many tests, why, and what brings them.
set -euo pipefail
awk '
function advice(why) {
    if (why ~ /GPU|CUDA/) return "on a machine with an NVIDIA GPU: ./dev test -L gpu"
    if (match(why, /\.\/dev [a-z]+( --?[a-z]+| faults)?/)) return substr(why, RSTART, RLENGTH) (why ~ /dev setup/ ? ", then ./dev test" : "")
    if (why ~ /sanitizer/) return "./dev test release"
    if (why ~ /data/) return "put the test data at ../shared/data (README.md)"
    if (why ~ /root|may make no|cannot be (made|mounted)|not allowed/) return "as root: sudo ./dev test"
    if (why ~ /guest/) return "./dev setup --all, then ./dev vm"
    return "./dev setup --all, or a newer distribution"
}
/^[0-9]+\/[0-9]+ Test: / { test = $3 }
/skipped( in part)?: / {
    why = $0
    part = why ~ /skipped in part: /
    sub(/.*skipped( in part)?: /, "", why)
    sub(/[;,]? *\(?\.\/dev .*/, "", why)
    if (why in seen && index(seen[why], test) > 0) next
    if (!(why in seen)) { order[++count] = why; brings[why] = advice($0) }
    seen[why] = seen[why] " " test
    tests[why]++
    partial[why] = partial[why] || part || /^ /
}
END {
    if (count) print "Left out:"
    for (i = 1; i <= count; i++) {
        why = order[i]
        split(seen[why], name, " ")
        printf("    %s%s: %s. %s\n", partial[why] ? "part of " : "", tests[why] == 1 ? name[1] : tests[why] " tests, as " name[1], why, brings[why])
    }
}' "$1"
