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

says() {
    name=$1; shift
    test -x "$build/bin/$name" || { echo "$name: not tried, it is not built"; return; }
    "$build/bin/$name" "$@" 2>"$work/log" &
    program=$!
    for _ in $(seq 600); do
        grep -q "reads the service at $work/none, which .PARALLAX_SOCKET names" "$work/log" &&
            grep -q "$work/none: no service is there" "$work/log" && break
        kill -0 "$program" 2>/dev/null || break
        sleep 0.1
    done
    grep -q "$work/none: no service is there" "$work/log" || { cat "$work/log"; echo "$name does not say it" >&2; exit 1; }
    kill "$program"
    wait "$program" || { cat "$work/log"; echo "$name did not end well" >&2; exit 1; }
    program=
}

says parallax-web --listen 127.0.0.1:0
says parallax-recorder --set "recorder.socket=$work/r" --set "recorder.directory=$work/recordings"
says parallax-ros
