#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a Python test with the packages of toolchain/python.txt: python.sh ENVIRONMENT SCRIPT [ARGUMENT...]. 77: they are missing.
environment=$1; shift
[ -x "$environment/bin/python3" ] || { echo "skipped: no $environment; ./dev setup --all makes it"; exit 77; }
exec "$environment/bin/python3" "$@"
