#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs cases of tests/vm, or tests of tests/system, in one test guest: a kernel of the distribution, booted in QEMU without KVM, with
# nothing but busybox, the modules that the cases name, and the built programs. Writes the output of each case to RESULTS/CASE.log and its
# exit code to RESULTS/CASE.code; 77 = skipped, with the reason. Fails only if the guest itself does.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
[[ $# -ge 3 ]] || { printf 'usage: toolchain/guest/run.sh BUILD_FOLDER RESULTS CASE...\n' >&2; exit 64; }
build=$1 results=$2; shift 2
. "$here/initramfs.sh"
. "$here/results.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
forget_results "$results" "$@"
# In a shell of its own, because what is missing makes it exit.
if ! (guest_tools && "$here/kernel.sh" && "$here/modules.sh") 2>"$work/why"; then
    cat "$work/why" >&2
    grep -q '^skipped: ' "$work/why" || exit 1
    for case; do write_result "$results" "$case" 77 <"$work/why"; done
    exit 0
fi

# The lines of a case's header comment that begin with "guest: " or "guest-data: "; tests of tests/system have none.
header_lines() { # CASE WORD
    [[ ! -f tests/vm/$1.c ]] || sed -n "s/^[ *]*$2: *//p" "tests/vm/$1.c"
}

tree=$work/tree bin=$build/bin
mkdir -p "$tree"/{bin,lib64,guest/modules}
cases=()
for case; do
    header_lines "$case" guest >"$tree/guest/modules/$case"
    if (guest_modules "$tree" <"$tree/guest/modules/$case") 2>"$work/why"; then
        cases+=("$case")
    else
        write_result "$results" "$case" 77 <"$work/why"
    fi
done
[[ ${cases-} ]] || exit 0
printf '%s\n' "${cases[@]}" >"$tree/guest/cases"

# The programs, at the paths that they were compiled with too, and their libraries.
programs=("${cases[@]/#/$bin/}" "$bin"/{parallaxd,parallaxd_faulty,parallax,parallax-recorder,ring_peer})
[[ ! -x $bin/parallax-gpio ]] || programs+=("$bin/parallax-gpio") # where libgpiod 1 is installed
for program in "${programs[@]}"; do strip --strip-debug -o "$tree/bin/${program##*/}" "$program"; done
mkdir -p "$tree/$build" "$tree/etc"
ln -s /bin "$tree/$bin"
cp -r "$build/systemd" "$tree/$build"
printf '%s\n' 'root:x:0:0::/root:/bin/sh' 'nobody:x:65534:65534::/:/bin/sh' >"$tree/etc/passwd"
ldd "${programs[@]}" | grep -oE '/[^ :]+\.so[^ :]*' | grep -v '^/dev' | sort -u |
    while read -r library; do
        install -D "$library" "$tree$library"
    done

# The pictures that they name, of the test data, where that is here.
for case in "${cases[@]}"; do header_lines "$case" guest-data; done | sort -u | while read -r name; do
    [[ ! -e ${PLX_TEST_DATA-}/$name ]] || { mkdir -p "$tree/data/$name" && cp -rT "$PLX_TEST_DATA/$name" "$tree/data/$name"; }
done

guest_pack "$tree" "$here/init" "$work/initramfs"
code=0
guest_boot "${PLX_GUEST_TIMEOUT_S:-1400}" "$work/initramfs" -no-reboot >"$work/console" 2>&1 || code=$?
split_results "$results" "$work/console"
[[ $code == 0 ]] || { tail -n 40 "$work/console" >&2; exit 1; }
