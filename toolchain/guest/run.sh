#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of tests/vm in the test guest: a kernel of the distribution, booted in QEMU without KVM, with nothing but
# busybox, the modules that the case names, and the built programs. Exits as the case does; 77 = skipped, with the reason.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
[[ $# == 2 ]] || { printf 'usage: toolchain/guest/run.sh BUILD_FOLDER CASE\n' >&2; exit 64; }
bin=$1/bin case=$2
. "$here/initramfs.sh"
guest_tools
"$here/kernel.sh"
"$here/modules.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree"/{bin,lib64,guest}
echo "$case" >"$tree/guest/case"
sed -n 's/^[ *]*guest: *//p' "tests/vm/$case.c" >"$tree/guest/modules"
guest_modules "$tree" <"$tree/guest/modules"

# The programs, at the paths that they were compiled with too, and their libraries.
programs=("$bin/$case" "$bin"/{parallaxd,parallax})
for program in "${programs[@]}"; do strip --strip-debug -o "$tree/bin/${program##*/}" "$program"; done
mkdir -p "$tree/$1"
ln -s /bin "$tree/$bin"
ldd "${programs[@]}" | grep -oE '/[^ :]+\.so[^ :]*' | grep -v '^/dev' | sort -u |
    while read -r library; do
        install -D "$library" "$tree$library"
    done

# The pictures that it names, of the test data, where that is here.
sed -n 's/^[ *]*guest-data: *//p' "tests/vm/$case.c" | while read -r name; do
    [[ ! -e ${PLX_TEST_DATA-}/$name ]] || { mkdir -p "$tree/data/$name" && cp -rT "$PLX_TEST_DATA/$name" "$tree/data/$name"; }
done

guest_pack "$tree" "$here/init" "$work/initramfs"
guest_boot "${PLX_GUEST_TIMEOUT_S:-280}" "$work/initramfs" -no-reboot
