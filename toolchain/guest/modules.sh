#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the modules that no distribution ships built, for the kernel in build/guest/kernel-ARCH, and adds them to its own: stereocam,
# udmabuf, gpiotest, and v4l2loopback from the source package that came with the kernel. Built again when a source changes.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
arch=${1-amd64}
make=(make -s) strip=strip
[[ $arch == amd64 ]] || make+=(ARCH="$arch" CROSS_COMPILE=aarch64-linux-gnu-) strip=aarch64-linux-gnu-strip
exec 8>build/guest/lock
flock 8
root=$PWD/build/guest/kernel-$arch/root
version=$(<"build/guest/kernel-$arch/version")
extra=$root/lib/modules/$version/extra

build_module() { # NAME SOURCES
    local name=$1 sources=$2 folder=build/guest/$1-$arch sum
    sum=$(cd "$sources" && cat -- * | sha256sum)
    [[ ! -f $extra/$name.ko || ! -f $folder/sum || $(<"$folder/sum") != "$sum" ]] || return 0
    rm -rf "$folder" "$extra/$name.ko"
    mkdir -p "$extra"
    cp -r "$sources" "$folder"
    if ! "${make[@]}" -C "$root/usr/src/linux-headers-$version" M="$PWD/$folder" modules >"$folder/log" 2>&1; then
        cat "$folder/log" >&2
        return 1
    fi
    "$strip" --strip-debug -o "$extra/$name.ko" "$folder/$name.ko"
    depmod -b "$root" "$version"
    echo "$sum" >"$folder/sum"
}

build_module stereocam "$here/stereocam"
build_module udmabuf "$here/udmabuf"
build_module gpiotest "$here/gpiotest"
for loopback in "$root"/usr/src/v4l2loopback-*; do
    [[ ! -d $loopback ]] || build_module v4l2loopback "$loopback" ||
        printf 'guest: v4l2loopback does not build for this kernel; its cases will be skipped\n' >&2
done
