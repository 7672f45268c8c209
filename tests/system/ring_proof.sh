#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The proof of the ring. The model app/publish/ring.pml is checked exhaustively; then each ordering in the table of
# docs/shared-memory.md is weakened to relaxed, one at a time, in the model and, where the table says so, in the C code under
# ThreadSanitizer: both must fail then. The table is held to name every ordering of the C code, and no other.
# Arguments: source and scratch directory, and *whole*; without it: the model with two readers alone, and the C code without mutants.
set -euo pipefail
source=$(cd "$1" && pwd)
work=$2
whole=${3-}
table=docs/shared-memory.md
files=(app/publish/shm.c client/map.c client/next.c)
cc=${CC:-cc}
fail() { echo "ring_proof.sh: $*" >&2; exit 1; }
verdicts=$work-verdicts
rm -rf "$work"
mkdir -p "$work" "$verdicts"
cd "$work"

# --- the model ------------------------------------------------------------------------------------------------------

# Sets $verdict to how many errors spin finds, $states to the states it visited. The search is exhaustive, so that a verdict is kept for the
# same model, options and tools.
model() { # NAME OPTION...
    local name=$1 kept; shift
    kept=$verdicts/$({ cat "$source/app/publish/ring.pml"; echo "$@"; spin -V; "$cc" --version; } | sha256sum | cut -c1-40)
    if [[ -f $kept ]]; then
        read -r verdict states <"$kept"
        return
    fi
    rm -rf "$name"
    mkdir "$name"
    (cd "$name" && spin -a "$@" "$source/app/publish/ring.pml" >spin.log 2>&1 &&
        "$cc" -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c && ./pan -m100000 -n >pan.log 2>&1) || true
    verdict=$(sed -n 's/^State-vector.*errors: //p' "$name/pan.log" 2>/dev/null)
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored$/\1/p' "$name/pan.log" 2>/dev/null)
    [[ $verdict ]] || { cat "$name/spin.log" "$name/pan.log" >&2; fail "$name: spin came to no verdict"; }
    ! grep -q 'max search depth too small\|out of memory\|reached -DMEMLIM' "$name/pan.log" || fail "$name: not exhaustive"
    echo "$verdict $states" >"$kept"
}

holds() { # NAME OPTION...
    local begun=$SECONDS
    model "$@"
    [[ $verdict == 0 ]] || { grep 'assertion\|error' "$1/pan.log" >&2; fail "$1: the model has an error ($work/$1)"; }
    echo "model: $1 holds in $states states ($((SECONDS - begun)) s)"
}

one_reader="-DREADERS=1 -DLOOKS=1"
if command -v spin >/dev/null; then
    # shellcheck disable=SC2086 # options
    {
        holds two_readers -DREADERS=2 -DLOOKS=1 -DFAULTS=0
        [[ ! $whole ]] || {
            holds two_readers_and_a_fault -DREADERS=2 -DLOOKS=1
            holds long_looks -DREADERS=1 -DLOOKS=3 -DFAULTS=0 -DFRAMES=4 -DWORDS=2
            holds two_deaths -DREADERS=1 -DLOOKS=2 -DDEATHS=2 -DFAULTS=0
        }
        for what in 1:overtaken 2:accepted 3:overwritten 4:asleep; do
            model "reaches_${what#*:}" $one_reader -DREACHED="${what%:*}"
            [[ $verdict != 0 ]] || fail "no reader of the model is ever ${what#*:}"
        done
    }
else
    echo "skipped: the model, for there is no spin (./dev setup --all)"
fi

# --- the C code under ThreadSanitizer -------------------------------------------------------------------------------

# A copy of the sources, so that they can be spoiled.
mkdir tree
(cd "$source" && cp -r --parents app/publish client include core tests/unit/{test_shm_threads.c,ring_shm.h} tests/*.h "$work/tree" 2>/dev/null) || true

thread_sanitizer() { # NAME; builds and runs test_shm_threads in tree/
    (cd tree && "$cc" -std=gnu11 -D_GNU_SOURCE -O1 -g -w -fsanitize=thread -I. -Iinclude -o "$work/$1" tests/unit/test_shm_threads.c \
        app/publish/shm.c client/*.c core/base/error.c core/base/text.c -lcmocka -lpthread -lm) >"$1.log" 2>&1 || { cat "$1.log"; fail "$1: does not build"; }
    TSAN_OPTIONS=exitcode=66 "./$1" >"$1.log" 2>&1
}

sanitizer=
if echo 'int main(void) { return 0; }' | "$cc" -xc -fsanitize=thread -o probe - 2>/dev/null && ./probe; then
    sanitizer=1
    thread_sanitizer test_shm_threads || { tail -n 40 test_shm_threads.log >&2; fail "ThreadSanitizer finds a race in the ring"; }
    echo "ThreadSanitizer: no race in test_shm_threads"
else
    echo "skipped: ThreadSanitizer does not work here"
fi

# --- the mutants ----------------------------------------------------------------------------------------------------

named=0
while IFS='|' read -r _ ordering file expression _ caught _; do
    ordering=${ordering//[\` ]/} file=${file//[\` ]/}
    expression=$(sed 's/^[ `]*//; s/[ `]*$//' <<<"$expression")
    [[ $(grep -cF -- "$expression" "$source/$file") == 1 ]] || fail "$table: $file does not hold once: $expression"
    named=$((named + 1))
    if command -v spin >/dev/null; then
        # shellcheck disable=SC2086
        model "without_$ordering" $one_reader "-D$ordering=RELAXED"
        [[ $verdict != 0 ]] || fail "the model does not need $ordering"
        echo "model: an error without $ordering"
    fi
    if [[ $whole && $sanitizer && $caught == *ThreadSanitizer* ]]; then
        line=$(grep -nF -- "$expression" "$source/$file" | cut -d: -f1)
        sed "${line}s/memory_order_[a-z]*/memory_order_relaxed/" "$source/$file" >"tree/$file"
        ! thread_sanitizer "test_shm_$ordering" || fail "ThreadSanitizer does not see that $ordering is missing"
        grep -q 'ThreadSanitizer: data race' "test_shm_$ordering.log" || { cat "test_shm_$ordering.log"; fail "$ordering: no race"; }
        cp "$source/$file" "tree/$file"
        echo "ThreadSanitizer: a race without $ordering"
    fi
done < <(grep -E '^\| `[A-Z_]+` \| `' "$source/$table")

# plx_ring_copy, which reads within the service, has the orderings of client/map.c once more.
written=$(cd "$source" && sed '/^bool plx_ring_copy/,/^}/d' "${files[@]}" | grep -v '^ *\(/\*\|\*\)' | grep -o 'memory_order_[a-z]*' | grep -vc relaxed)
[[ $named == "$written" ]] || fail "$table names $named orderings; ${files[*]} hold $written"
command -v spin >/dev/null && [[ $sanitizer ]] || exit 77
