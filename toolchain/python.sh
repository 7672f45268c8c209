#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what toolchain/python.txt names into build/python, a virtual environment; called by ./dev setup --all. Needs a network.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
! cmp -s toolchain/python.txt build/python/installed.txt || exit 0
/usr/bin/python3 -m venv --clear build/python
build/python/bin/pip install --quiet --disable-pip-version-check -r toolchain/python.txt
cp toolchain/python.txt build/python/installed.txt
