#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks what a cross build would ship: build/PRESET is installed into build/PRESET/stage, and every program and library there
# must be for AArch64, need only libraries that the target has, hold code for the preset's GPU and no other, and know no path of this
# machine.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
[[ $# == 1 && -d build/${1-} ]] || { printf 'usage: toolchain/check_target.sh PRESET   (which has been built)\n' >&2; exit 64; }

stage=$PWD/build/$1/stage sysroot=$PWD/build/sysroot-arm64 failed=0 count=0
cuda=$(sed -n 's/^PLX_CUDA_TARGET:[A-Z]*=//p' "build/$1/CMakeCache.txt")
# Of the GPUs that the preset is for: "87-real" is sm_87.
architectures=$(sed -n 's/^CMAKE_CUDA_ARCHITECTURES:[A-Z]*=//p' "build/$1/CMakeCache.txt" | tr ';' '\n' | sed 's/-.*//; s/^/sm_/' | sort -u | paste -sd' ')
rm -rf "$stage"
DESTDIR=$stage cmake --install "build/$1" --strip >/dev/null

complain() { printf 'check_target: %s: %s\n' "${file#"$stage"}" "$*" >&2; failed=1; }

# The library is in the target's root file system, or is ours.
on_target() { # NAME
    [[ -n $(find "$sysroot/lib/aarch64-linux-gnu/" "$sysroot/usr/lib/aarch64-linux-gnu/" "$stage" "$sysroot/lib/" ${cuda:+"$cuda/lib/"} -maxdepth 4 -name "$1" -print -quit 2>/dev/null) ]]
}

while read -r file; do
    [[ $(head -c 4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
    count=$((count + 1))
    machine=$(readelf -h "$file" | sed -n 's/^ *Machine: *//p')
    [[ $machine == AArch64 ]] || complain "is for $machine, expected AArch64"
    needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    for library in $needed; do on_target "$library" || complain "needs $library, which the target has not"; done
    path=$(readelf -d "$file" | sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]/\2/p')
    [[ -z $path ]] || complain "looks for libraries in $path"
    ! grep -qaF "$PWD" "$file" || complain "holds the path $PWD"
    gpu=
    if [[ $architectures ]]; then
        gpu=$("$cuda/bin/cuobjdump" --list-elf "$file" 2>/dev/null | grep -o 'sm_[0-9a-z]*' | sort -u | paste -sd' ' || true)
        [[ ! $gpu && $file != */parallaxd || $gpu == "$architectures" ]] || complain "holds code for the GPUs: ${gpu:-none}; expected $architectures"
    fi
    printf '%-34s %s: %s\n' "${file#"$stage"}" "$machine${gpu:+ $gpu}" "$(echo $needed)"
done < <(find "$stage" -type f)
[[ $count -gt 0 ]] || { echo "check_target: nothing was installed" >&2; exit 1; }
exit $failed
