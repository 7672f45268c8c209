#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/guest/base-ARCH.img, the disk of the guest with systemd: the distribution's smallest system, and the packages that
# Parallax's own packages (those given) depend on. debootstrap unpacks here and ends its work in the guest, so that nothing needs
# root or touches this machine. Takes minutes, once; exits 77 with the reason where it cannot be done.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
[[ $# -ge 2 ]] || { printf 'usage: toolchain/guest/base.sh amd64|arm64 PACKAGE.deb...\n' >&2; exit 64; }
arch=$1; shift
. "$here/initramfs.sh"
guest_tools debootstrap fakeroot mkfs.ext4
. /etc/os-release
[[ $ID == debian || $ID == ubuntu ]] || skip "the guest with systemd is made for Debian and Ubuntu, not for $ID"

needed=$(for package; do dpkg-deb -f "$package" Depends | tr ',' '\n'; done | sed 's/|.*//; s/(.*)//; s/ //g' |
    grep -Ev '^$|parallax' | sort -u)
packages=$(printf '%s\n' systemd systemd-sysv udev dbus kmod procps libcmocka0 "$needed" | paste -sd,)
wanted="$VERSION_CODENAME $arch $packages $(sha256sum <"$here/base.sh")"
image=build/guest/base-$arch.img
[[ ! -f $image || ! -f $image.wanted || $(<"$image.wanted") != "$wanted" ]] || exit 0

exec 9>build/guest/base-lock
flock 9
rm -f "$image" "$image.wanted"
work=$(mktemp -d -p "$PWD/build/guest")
trap 'rm -rf "$work"' EXIT
components=main
[[ $ID == debian ]] || components=main,universe
echo 'guest: making the system that it runs, once; this takes some minutes'
cat >"$work/make" <<'MAKE'
set -e
root=$1 image=$2; shift 2
debootstrap --foreign --variant=minbase "$@"
for folder in proc sys dev; do [ ! -L "$root/$folder" ] || { rm "$root/$folder"; mkdir "$root/$folder"; }; done
mkdir -p "$root/etc/systemd/system/multi-user.target.wants" "$root/payload"
echo guest >"$root/etc/hostname"
mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/guest"
cat >"$root/etc/systemd/system/guest.service" <<UNIT
[Unit]
Description=What this guest was started for
After=multi-user.target
[Service]
ExecStart=/payload/run
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
UNIT
# Units that a test does not need only cost time.
for unit in getty.target getty@tty1.service serial-getty@ttyS0.service serial-getty@ttyAMA0.service systemd-logind.service apt-daily.timer \
    apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer; do
    ln -s /dev/null "$root/etc/systemd/system/$unit"
done
ln -s ../guest.service "$root/etc/systemd/system/multi-user.target.wants/guest.service"
mkfs.ext4 -q -O ^has_journal -d "$root" "$image" 1500M # nobody will need to repair it
MAKE
PATH=$PATH:/sbin:/usr/sbin fakeroot sh "$work/make" "$work/root" "$work/image" --arch="$arch" --components="$components" \
    --include="$packages" "$VERSION_CODENAME" "$work/root" >"build/guest/base-$arch.log" 2>&1 ||
    { tail -n 5 "build/guest/base-$arch.log" >&2; skip "debootstrap cannot make the system (see above; it needs the network once)"; }

guest_disk_archive "$work/disk" "$work/initramfs"
guest_boot 1500 "$work/initramfs" -no-reboot -drive file="$work/image",if=virtio,format=raw,cache=unsafe \
    >>"build/guest/base-$arch.log" 2>&1 ||
    { tail -n 30 "build/guest/base-$arch.log" >&2; echo "guest: the system could not be made" >&2; exit 1; }
mv "$work/image" "$image"
printf '%s\n' "$wanted" >"$image.wanted"
