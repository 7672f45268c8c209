#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the packages that the programs and libraries below STAGE need, for a Depends field: as dpkg-shlibdeps finds them, or, for a
# cross build, from the shlibs files of the target's own packages, which SYSROOT keeps where dpkg does, and one more FILE like them.
set -euo pipefail
[[ $# -ge 1 && $# -le 3 ]] || { echo 'usage: depends.sh STAGE [SYSROOT [FILE]]' >&2; exit 64; }
stage=$1 sysroot=${2-} more=${3-}

programs() {
    local file
    find "$stage" -type f | sort | while read -r file; do
        [[ $(head -c 4 "$file" | tr -d '\0') != $'\x7fELF' ]] || echo "$file"
    done
}
mapfile -t files < <(programs)
[[ ${#files[@]} -gt 0 ]] || exit 0

if [[ ! $sysroot ]]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/debian"
    : >"$work/debian/control"
    (cd "$work" && dpkg-shlibdeps -O "${files[@]}") | sed 's/^shlibs:Depends=//'
    exit
fi

# libNAME.so.VERSION or NAME-VERSION.so is written NAME VERSION there.
for soname in $(readelf -d "${files[@]}" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
    name=$(sed -E 's/\.so\.(.*)$/ \1/; t; s/-([0-9.]+)\.so$/ \1/' <<<"$soname")
    found=$(cat "$sysroot"/var/lib/dpkg/info/*.shlibs $more | awk -v name="$name " \
        'index($0, name) == 1 && !found {found = substr($0, length(name) + 1)} END {print found}')
    [[ $found ]] || { echo "depends.sh: no package of $sysroot says that it has $soname" >&2; exit 1; }
    echo "$found"
done | sort -u | paste -sd, | sed 's/,\([^ ]\)/, \1/g'
