#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs parallax-selftest on HOST over ssh, prints its report, and brings it back into build/target/HOST; called by ./dev target. The service
# there is stopped meanwhile, for cameras belong to one program at a time. Further arguments are parallax-selftest's: --full.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
[[ $# -ge 1 ]] || { echo 'usage: toolchain/target.sh HOST [--full]' >&2; exit 64; }
host=$1; shift
for argument in "$@"; do
    [[ $argument == --quick || $argument == --full ]] || { echo "target: unknown option $argument; there are --quick and --full" >&2; exit 64; }
done
die() { printf 'target: %s\n' "$*" >&2; exit 1; }
here=build/target/${host//\//_}

ssh "$host" 'command -v parallax-selftest >/dev/null' || die "cannot reach $host by ssh, or it has no parallax-selftest: ./dev deploy $host"
there=$(ssh "$host" mktemp -d /tmp/parallax.XXXXXX)
[[ $there == /tmp/parallax.?????? ]] || die "$host gave no directory: $there"

terminal=-T
[[ ! -t 0 ]] || terminal=-t
code=0
ssh $terminal "$host" "
    root=; [ \$(id -u) = 0 ] || root=sudo
    running=
    if [ -d /run/systemd/system ] && systemctl -q is-active parallaxd; then running=yes; fi
    [ -z \"\$running\" ] || \$root systemctl stop parallaxd
    parallax-selftest --version >$there/version
    \$root parallax-selftest $* --junit $there/selftest.xml >$there/selftest.tap
    code=\$?
    [ -z \"\$running\" ] || \$root systemctl start --no-block parallaxd
    exit \$code" || code=$?

mkdir -p "$here"
ssh "$host" tar -C "$there" -c version selftest.tap selftest.xml | tar -C "$here" -x || die "no report came back (code $code)"
ssh "$host" "rm -rf $there 2>/dev/null || sudo rm -rf $there"
cat "$here/version" "$here/selftest.tap"
echo "The report: $here/selftest.tap, selftest.xml"
exit $code
