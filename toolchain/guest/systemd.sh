#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Boots the distribution with systemd in QEMU without KVM, for ./dev vm systemd: tests/vm/systemd.sh runs in it, with the packages
# that are given and the modules that it names. Exits as that does; 77 = skipped, with the reason.
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
cp tests/vm/systemd.sh "$work/payload/run"
guest_modules "$work/payload" <<<$'stereocam\nvirtio_blk\nvirtio_pci\ncrc32c_generic\next4'
mv "$work/payload/lib/modules/$(<$kernel/version)" "$work/payload/modules"
PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -d "$work/payload" "$work/payload.img" 64M
guest_disk_archive "$work/disk" "$work/initramfs"
guest_boot "${PLX_GUEST_TIMEOUT_S:-580}" "$work/initramfs" \
    -drive file="build/guest/base-$arch.img",if=virtio,format=raw,snapshot=on -drive file="$work/payload.img",if=virtio,format=raw,readonly=on
