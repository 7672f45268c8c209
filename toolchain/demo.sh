#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh [--web] [PATH]: runs the service on the embedded scene, or on a directory of stereo pairs, and shows what a robot program
# sees; with --web in a browser, until Ctrl-C. Called by ./dev demo. Everything goes through the shared memory, as on a robot.
set -euo pipefail

bin=$(cd "$(dirname "$0")/.." && pwd)/build/release/bin
out=demo
runtime=$(mktemp -d) # for the socket: its path must be short
socket=$runtime/parallax.sock
service=
page=http://127.0.0.1:8765/

stop() {
    [[ -z ${web-} ]] || kill -TERM "$web" 2>/dev/null || true
    [[ -z $service ]] || kill -TERM "$service" 2>/dev/null || true
    [[ -z $service ]] || wait "$service" 2>/dev/null || true
    service=
    rm -rf "$runtime"
}
trap stop EXIT

in_browser=
[[ ${1-} != --web ]] || { in_browser=1; shift; }
source_keys=(--set source.type=synthetic)
what="the embedded scene"
if [[ ${1-} ]]; then
    [[ -d $1 ]] || { echo "demo: $1 is not a directory" >&2; exit 66; }
    source_keys=(--set source.type=replay --set "source.path=$1" --set source.loop=true)
    what=$1
fi

mkdir -p "$out"
rm -f "$out"/*.png
printf '\033[1m==> Starting parallaxd on %s\033[0m\n' "$what"
"$bin/parallaxd" "${source_keys[@]}" --set "publish.socket=$socket" --set publish.right=true --set blackbox.directory="$out/blackbox" >"$out/parallaxd.log" 2>&1 &
service=$!
for _ in {1..100}; do
    [[ -S $socket ]] && break
    if ! kill -0 "$service" 2>/dev/null; then
        code=0
        wait "$service" || code=$?
        service=
        cat "$out/parallaxd.log" >&2
        exit "$code"
    fi
    sleep 0.05
done

if [[ $in_browser ]]; then
    "$bin/parallax-web" --set "publish.socket=$socket" --set blackbox.directory="$out/blackbox" 2>"$out/parallax-web.log" &
    web=$!
    sleep 0.5
    kill -0 "$web" 2>/dev/null || { cat "$out/parallax-web.log" >&2; exit 1; }
    printf '\033[1m==> Open %s in a browser; Ctrl-C ends it\033[0m\n' "$page"
    trap 'exit 0' INT TERM
    wait "$web" || { cat "$out/parallax-web.log" >&2; exit 1; }
    exit 0
fi

printf '\033[1m==> What a robot program sees, for ten seconds\033[0m\n'
"$bin/parallax" watch --socket "$socket" --seconds 10 --changes
"$bin/parallax" snapshot --socket "$socket" --output "$out"

printf '\033[1m==> Stopping the service\033[0m\n'
kill -TERM "$service"
code=0
wait "$service" || code=$?
service=
[[ $code == 0 ]] || { echo "demo: parallaxd ended with code $code; its log: $out/parallaxd.log" >&2; exit 1; }

pictures=("$out/left.png" "$out/disparity.png" "$out/obstacles.png" "$out/columns.png")
[[ -e $out/disparity.png ]] || pictures=("$out/left.png" "$out/right.png") # raw pairs: nothing says how they are rectified
live="./dev demo --web                      the same live in a browser"
[[ -z ${DISPLAY-}${WAYLAND_DISPLAY-} ]] || live+=", at $page"
cat <<END

Look at  ${pictures[*]}
Live:    $live
Next:    ./dev demo PATH                     your own pairs (KITTI-style, or left/ and right/)
         build/release/bin/parallax --help   the command: status, watch, snapshot, record, run
         README.md                           a client in 20 lines
         ./dev test                          every promise, tested
END
