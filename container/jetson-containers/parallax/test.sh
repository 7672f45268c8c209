#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What jetson-containers runs in the image: the service with simulated pictures on the GPU gives a frame, and ends in order.
set -euo pipefail
work=$(mktemp -d)
export PARALLAX_SOCKET=$work/parallax.sock
parallaxd --version
parallaxd --set backend=gpu --set publish.socket="$PARALLAX_SOCKET" --set blackbox.directory= &
service=$!
trap 'kill $service 2>/dev/null || true; rm -rf "$work"' EXIT
until parallax snapshot --output="$work" 2>"$work/error"; do
    kill -0 $service || { cat "$work/error"; exit 1; }
    sleep 1
done
parallax status
test -s "$work/points.ply"
kill $service
wait $service
