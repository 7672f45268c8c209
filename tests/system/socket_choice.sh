#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each program that reads the service says which socket it reads, that of $PARALLAX_SOCKET, and that no service is there. Argument: the
# build directory.
set -eu
build=$1
work=$(mktemp -d)
program=
trap 'test -z "$program" || kill "$program" 2>/dev/null || true; rm -rf "$work"' EXIT
export PARALLAX_SOCKET="$work/none" ROS_LOCALHOST_ONLY=1

# Each program has a log of its own, which exists before the program starts: the lines of the program before are no answer.
says() {
    name=$1; log=$work/$1.log; shift
    test -x "$build/bin/$name" || { echo "$name: not tried, it is not built"; return; }
    : >"$log"
    "$build/bin/$name" "$@" 2>>"$log" &
    program=$!
    for _ in $(seq 900); do # 90 s, and the test has 300 s for three programs
        grep -q "reads the service at $work/none, which .PARALLAX_SOCKET names" "$log" &&
            grep -q "$work/none: no service is there" "$log" && break
        kill -0 "$program" 2>/dev/null || break
        sleep 0.1
    done
    for said in "reads the service at $work/none, which .PARALLAX_SOCKET names" "$work/none: no service is there"; do
        grep -q "$said" "$log" || { cat "$log"; echo "$name does not say: $said" >&2; exit 1; }
    done
    kill "$program"
    wait "$program" || { cat "$log"; echo "$name did not end well" >&2; exit 1; }
    program=
}

says parallax-web --listen 127.0.0.1:0
says parallax-recorder --set "recorder.socket=$work/r" --set "recorder.directory=$work/recordings"
says parallax-ros
