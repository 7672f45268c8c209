#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ships is hardened, as its files say: position-independent, all relocations read-only before the first line runs, no
# executable stack, stack protector and checked libc calls. Arguments: build directory, _FORTIFY_SOURCE level, sanitizers.
set -euo pipefail
build=$1 level=$2
fail() { echo "hardening.sh: $*" >&2; exit 1; }
if [[ ${3-} || $level == 0 ]]; then echo "skipped: a sanitizer or debug build is not what ships"; exit 77; fi
command -v readelf >/dev/null || { echo "skipped: no readelf"; exit 77; }

library=$(readlink -f "$build/lib/libparallax.so")
for file in "$build/bin/parallaxd" "$build/bin/parallax" "$build/bin/parallax-recorder" "$library"; do
    [[ ! -u $file && ! -g $file ]] || fail "$file is setuid or setgid"
    headers=$(readelf --wide --file-header --program-headers --dynamic "$file")
    symbols=$(readelf --wide --dyn-syms "$file")
    grep -q 'Type: *DYN' <<<"$headers" || fail "$file is not position-independent"
    [[ $file == "$library" ]] || grep -q 'FLAGS_1.*PIE' <<<"$headers" || fail "$file is no PIE"
    grep -q 'GNU_RELRO' <<<"$headers" || fail "$file: no RELRO"
    grep -q 'FLAGS_1.*NOW' <<<"$headers" || fail "$file: relocations are not bound at start (full RELRO)"
    grep -q 'GNU_STACK.* RW ' <<<"$headers" || fail "$file: the stack is executable"
    ! grep -q 'TEXTREL' <<<"$headers" || fail "$file: its code is written to at start"
    grep -q '__stack_chk_fail' <<<"$symbols" || fail "$file: no stack protector"
    # The library calls nothing that would need a check at run time.
    [[ $file == "$library" ]] || grep -q '__snprintf_chk' <<<"$symbols" || fail "$file: libc's calls are not checked (_FORTIFY_SOURCE)"
    echo "$(basename "$file"): PIE, full RELRO, stack protector, no executable stack"
done

# The level shows in no file; so the commands are asked. The stages, whose inner loops read what others have checked, and tests are
# the only folders without.
commands=$build/compile_commands.json
for folder in $(sed -n 's|.*"command": .* -o \([a-z]*\)/.*|\1|p' "$commands" | sort -u | grep -vxE 'cpu|gpu|oracle|tests'); do
    all=$(grep -c -- "\"command\": .* -o $folder/" "$commands" || true)
    fortified=$(grep -- "\"command\": .* -o $folder/" "$commands" | grep -c -- "-D_FORTIFY_SOURCE=$level .*-fstack-protector-strong" || true)
    [[ $all -gt 0 && $all == "$fortified" ]] || fail "$folder/: $fortified of $all files have _FORTIFY_SOURCE=$level and the stack protector"
    echo "$folder/: $all files with _FORTIFY_SOURCE=$level"
done
