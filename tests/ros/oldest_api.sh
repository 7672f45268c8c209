#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parallax-ros uses only what Cyclone DDS 0.8.2 has (Ubuntu 22.04), whichever version it is built with here. Argument: the program.
set -eu
cd "$(dirname "$0")"
nm -D --undefined-only "$1" | grep -o '\bdds_[a-z_0-9]*' | sort -u >"${TMPDIR:-/tmp}/plx-dds.$$"
trap 'rm -f "${TMPDIR:-/tmp}/plx-dds.$$"' EXIT
test -s "${TMPDIR:-/tmp}/plx-dds.$$" || { echo "oldest_api.sh: $1 uses no function of Cyclone DDS" >&2; exit 1; }
newer=$(grep -v '^#' cyclonedds-0.8.2.txt | comm -13 - "${TMPDIR:-/tmp}/plx-dds.$$")
test -z "$newer" || { echo "oldest_api.sh: not known to be in Cyclone DDS 0.8.2:" $newer >&2; exit 1; }
