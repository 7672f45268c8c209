#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of build/package-PRESET on HOST over ssh and looks whether the service runs then; called by ./dev deploy. HOST is
# whatever ssh takes; needs root there, or sudo. An older version is accepted.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
[[ $# == 2 ]] || { echo 'usage: toolchain/deploy.sh HOST PRESET' >&2; exit 64; }
host=$1 packages=build/package-$2/packages
die() { printf 'deploy: %s\n' "$*" >&2; exit 1; }

debs=("$packages"/*.deb)
[[ -f ${debs[0]} ]] || die "no packages in $packages: ./dev package $2"
ours=$(dpkg-deb -f "${debs[0]}" Architecture)
theirs=$(ssh "$host" dpkg --print-architecture) || die "cannot reach $host by ssh, or it is no Debian or Ubuntu"
[[ $ours == "$theirs" ]] || die "$host is $theirs, the packages of $2 are for $ours"

# Python's only where NumPy is already: the robot may have no network to fetch it.
files=$(cd "$packages" && ls -- *.deb)
ssh "$host" dpkg -s python3-numpy >/dev/null 2>&1 || files=$(grep -v '^python3-' <<<"$files")

there=$(ssh "$host" mktemp -d /tmp/parallax.XXXXXX)
[[ $there == /tmp/parallax.?????? ]] || die "$host gave no directory: $there"
tar -C "$packages" -c $files | ssh "$host" tar -C "$there" -x

terminal=-T
[[ ! -t 0 ]] || terminal=-t # sudo may ask for a password
ssh $terminal "$host" "
    root=; [ \$(id -u) = 0 ] || root=sudo
    \$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends --allow-downgrades --reinstall \
        $there/*.deb
    code=\$?
    rm -rf $there
    exit \$code" || die "the packages could not be installed"

# The package has restarted the service; ready is its first frame.
ssh "$host" '
    parallaxd --version
    [ -d /run/systemd/system ] || { echo "systemd does not run there: nothing was started"; exit 0; }
    [ -e /etc/parallax/parallax.yaml ] || { echo "no /etc/parallax/parallax.yaml there: nothing was started. See parallax cameras"; exit 0; }
    for waited in $(seq 30); do
        state=$(systemctl is-active parallaxd)
        [ "$state" = activating ] || break
        sleep 1
    done
    echo "parallaxd.service is $state"
    [ "$state" = active ] || { journalctl -u parallaxd -n 20 --no-pager; exit 1; }' || die "the service does not run"
