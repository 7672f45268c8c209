#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Boots the distribution with systemd in QEMU without KVM, with the packages that are given. On amd64 (./dev vm systemd) tests/vm/systemd.sh
# runs in it; on arm64 (./dev vm arm64) tests/vm/target.sh, with the tests of tests/system built in build/arm64-cpu. Exits as that
# does; 77 = skipped, with the reason.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
[[ $# -ge 2 ]] || { printf 'usage: toolchain/guest/systemd.sh amd64|arm64 PACKAGE.deb...\n' >&2; exit 64; }
arch=$1; shift
. "$here/initramfs.sh"
guest_tools mkfs.ext4
"$here/kernel.sh" "$arch"
"$here/modules.sh" "$arch"
"$here/base.sh" "$arch" "$@"

# The system's disk is never written to: its changes last as long as QEMU, over reboots.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/payload"
cp "$@" "$work/payload"
cp tests/vm/guest.sh "$work/payload"
case $arch in
amd64)
    cp tests/vm/systemd.sh "$work/payload/run"
    devices=$'stereocam\ngpiotest' seconds=580
    ;;
arm64)
    cp tests/vm/target.sh "$work/payload/run"
    # Its clock counts instructions, a nanosecond each: however slow or busy this machine is, times there are those of a processor of
    # 1,000 million instructions a second, and what tests promise in milliseconds can be judged.
    devices=vivid seconds=3600
    bin=build/arm64-cpu/bin
    mkdir "$work/payload/bin"
    for program in "$bin"/{parallax,parallaxd,parallax-selftest,parallaxd_faulty,ring_peer,ring_peer_mutant,selftest_mutant} tests/system/test_*.c; do
        program=$(basename "$program" .c)
        aarch64-linux-gnu-strip --strip-debug -o "$work/payload/bin/$program" "$bin/$program"
    done
    cp -r docs "$work/payload"
    readlink -f build/arm64-cpu >"$work/payload/binaries"
    pwd -P >"$work/payload/sources"
    ;;
esac
guest_modules "$work/payload" <<<"$devices"$'\nvirtio_blk\nvirtio_pci\ncrc32c_generic\next4'
mv "$work/payload/lib/modules/$(<$kernel/version)" "$work/payload/modules"
PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -d "$work/payload" "$work/payload.img" 256M
guest_disk_archive "$work/disk" "$work/initramfs"
guest_boot "${PLX_GUEST_TIMEOUT_S:-$seconds}" "$work/initramfs" \
    -drive file="build/guest/base-$arch.img",if=virtio,format=raw,snapshot=on -drive file="$work/payload.img",if=virtio,format=raw,readonly=on
