#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/guest/kernel-ARCH (amd64, arm64): this distribution's own kernel, unpacked from its packages and never installed, as the test guest
# needs it: vmlinux (uncompressed: it boots faster), root/ with its modules, the headers to build others against and busybox, and version.
# Needs no root. Fetched once; ./dev clean forgets it. Exits 77 with the reason where it cannot be had.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

skip() { printf 'skipped: %s\n' "$*" >&2; exit 77; }

arch=${1-amd64}
mkdir -p build/guest
exec 8>build/guest/lock
flock 8
kernel=$PWD/build/guest/kernel-$arch
[[ ! -f $kernel/version ]] || exit 0

[[ $(uname -m) == x86_64 ]] || skip "the test guest is for x86-64 machines, this one is $(uname -m)"
command -v apt-get >/dev/null || skip "the test guest is made of Debian or Ubuntu packages, and there is no apt-get here"

# An apt of its own on the machine's sources: fresh lists, no root, nothing left behind.
apt=$PWD/build/guest/apt
rm -rf "$apt" "$kernel"
mkdir -p "$apt"/{lists,archives}/partial "$kernel"
cat >"$apt/apt.conf" <<CONF
APT::Sandbox::User "";
APT::Architecture "$arch";
#clear APT::Architectures;
APT::Architectures { "$arch"; };
Acquire::Languages "none";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt";
CONF
export APT_CONFIG=$apt/apt.conf
apt-get -qq update || skip "the package lists cannot be fetched (see above): the test guest needs the network once"

# The packages that PACKAGE depends on and whose names match PATTERN.
needs() { # PACKAGE PATTERN
    apt-cache depends "$1" 2>/dev/null | sed -n 's/^ *Depends: //p' | grep -E -- "$2" || true
}

. /etc/os-release
case $ID in
debian)
    image=$(needs "linux-image-$arch" '^linux-image-[0-9]')
    version=${image#linux-image-}
    headers=linux-headers-$version
    mapfile -t packages < <(printf '%s\n' "$image" "$headers"; needs "$headers" '^linux-(headers|kbuild)-')
    ;;
ubuntu)
    [[ $arch == amd64 ]] || skip "Ubuntu keeps its packages for $arch on other servers: the $arch guest needs Debian"
    image=$(needs linux-image-generic '^linux-image-[0-9]')
    version=${image#linux-image-}
    packages=("$image" "linux-modules-$version" "linux-modules-extra-$version" "linux-headers-$version"
              "linux-headers-${version%-generic}")
    ;;
*) skip "packages of the kernel are known for Debian and Ubuntu, not for $ID" ;;
esac
[[ $version ]] || skip "$ID's kernel package (linux-image-$arch or linux-image-generic) is not in the sources of apt"
packages+=(busybox-static)
[[ ! $(apt-cache policy v4l2loopback-dkms) ]] || packages+=(v4l2loopback-dkms)

(cd "$apt/archives" && apt-get -qq download "${packages[@]}") || skip "the kernel's packages cannot be fetched (see above)"
for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$kernel/root"; done
rm -rf "$apt"
root=$kernel/root
[[ -d $root/lib ]] || ln -s usr/lib "$root/lib" # where packages no longer use /lib

# The kernel proper is vmlinuz itself, or one compressed stream within it.
vmlinuz=$root/boot/vmlinuz-$version
[[ $arch == amd64 ]] || cp "$vmlinuz" "$kernel/vmlinux"
while [[ $arch == amd64 ]] && read -r magic tool; do
    for offset in $(LC_ALL=C grep -obUaP "$magic" "$vmlinuz" | cut -d: -f1); do
        tail -c "+$((offset + 1))" "$vmlinuz" | $tool >"$kernel/vmlinux" 2>/dev/null || true # it ends at the stream's end
        [[ $(head -c 4 "$kernel/vmlinux" | tr -d '\177') != ELF ]] || break 2
    done
done <<'TOOLS'
\xfd7zXZ\x00 xz -dc --single-stream
\x28\xb5\x2f\xfd zstd -dc
\x1f\x8b\x08 gzip -dc
TOOLS
[[ $arch != amd64 || $(head -c 4 "$kernel/vmlinux" | tr -d '\177') == ELF ]] || skip "no kernel was found in $vmlinuz (compressed with zstd? apt-get install zstd)"

# Modules as busybox can load them, and an index of them.
find "$root/lib/modules" -name '*.ko.xz' -exec xz -dq {} +
if [[ $(find "$root/lib/modules" -name '*.ko.zst' -print -quit) ]]; then
    find "$root/lib/modules" -name '*.ko.zst' -exec zstd -dq --rm {} +
fi
depmod -b "$root" "$version"

# Debian's headers name where they would have been installed.
makefile=$root/usr/src/linux-headers-$version/Makefile
[[ -L $makefile ]] || sed -i "s|^include /usr/src|include $root/usr/src|" "$makefile"
# Modules for another architecture are built with this one's tools.
if [[ $arch != amd64 ]]; then
    flock -u 8
    toolchain/guest/kernel.sh amd64
    rm -rf "$root"/usr/lib/linux-kbuild-*
    cp -a build/guest/kernel-amd64/root/usr/lib/linux-kbuild-* "$root/usr/lib"
fi
echo "$version" >"$kernel/version"
