#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the output of a case from the guest that run.sh booted, and exits with the exit code of the case. CTest runs it for each case.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/results.sh"
[[ $# == 2 ]] || { printf 'usage: toolchain/guest/result.sh RESULTS CASE\n' >&2; exit 64; }
take_result "$@"
