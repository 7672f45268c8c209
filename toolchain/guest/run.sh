#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of tests/vm in the test guest: a kernel of the distribution, booted in QEMU without KVM, with nothing but
# busybox, the modules that the case names, and the built programs. Exits as the case does; 77 = skipped, with the reason.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
[[ $# == 2 ]] || { printf 'usage: toolchain/guest/run.sh BUILD_FOLDER CASE\n' >&2; exit 64; }
bin=$1/bin case=$2

skip() { printf 'skipped: %s\n' "$*" >&2; exit 77; }
for tool in qemu-system-x86_64 busybox cpio depmod xz; do
    command -v $tool >/dev/null || skip "no $tool here; ./dev setup --all installs what the test guest needs"
done
"$here/kernel.sh"
"$here/modules.sh"
kernel=build/guest/kernel
version=$(<$kernel/version)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree"/{bin,lib64,dev,proc,sys,guest,root}
cp "$(command -v busybox)" "$tree/bin/busybox"
cp "$here/init" "$tree/init"
echo "$case" >"$tree/guest/case"

# Its modules, and those they need.
folder=$PWD/$kernel/root/lib/modules/$version
modules=$tree/lib/modules/$version
mkdir -p "$modules"
sed -n 's/^[ *]*guest: *//p' "tests/vm/$case.c" >"$tree/guest/modules"
while read -r module _; do
    needed=$(modprobe -d "$PWD/$kernel/root" -S "$version" --show-depends "$module") ||
        skip "there is no module $module for this kernel ($version)"
    while read -r kind file _; do
        [[ $kind != insmod ]] || install -D "$file" "$modules/${file#*/lib/modules/"$version"/}"
    done <<<"$needed"
done <"$tree/guest/modules"
cp "$folder"/modules.{order,builtin,builtin.modinfo} "$modules"
depmod -b "$tree" "$version"

# The programs, at the paths that they were compiled with too, and their libraries.
programs=("$bin/$case" "$bin"/{parallaxd,parallax})
for program in "${programs[@]}"; do strip --strip-debug -o "$tree/bin/${program##*/}" "$program"; done
mkdir -p "$tree/$1"
ln -s /bin "$tree/$bin"
{ ldd "${programs[@]}" "$(command -v busybox)" || true; } 2>/dev/null | grep -oE '/[^ :]+\.so[^ :]*' | grep -v '^/dev' | sort -u | while read -r library; do
    install -D "$library" "$tree$library"
done

# The pictures that it names, of the test data, where that is here.
sed -n 's/^[ *]*guest-data: *//p' "tests/vm/$case.c" | while read -r name; do
    [[ ! -e ${PLX_TEST_DATA-}/$name ]] || { mkdir -p "$tree/data/$name" && cp -rT "$PLX_TEST_DATA/$name" "$tree/data/$name"; }
done
(cd "$tree" && find . | cpio -o -H newc --quiet) >"$work/initramfs"

# Uncompressed, kernel and initramfs boot in half the time. A guest that hangs is ended by the timeout.
code=0
timeout -k 5 "${PLX_GUEST_TIMEOUT_S:-280}" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 1024 -smp 2 -display none -no-reboot \
    -nodefaults -serial stdio -device isa-debug-exit,iobase=0xf4,iosize=4 -kernel $kernel/vmlinux -initrd "$work/initramfs" \
    -append "console=ttyS0 oops=panic panic=-1 quiet mitigations=off" </dev/null || code=$?
# The device turns code c into 2c + 1.
case $code in
124 | 137) echo "guest: the case did not end in time"; exit 1 ;;
*[13579]) exit $((code >> 1)) ;;
*) echo "guest: it ended without a result (QEMU's exit code is $code)"; exit 1 ;;
esac
