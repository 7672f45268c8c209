#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Keeps the tree clean; called by ./dev check. Each step is a function; all run in this order unless some are named. Those of more_steps run
# only when named: they take too long for every push.
set -euo pipefail
cd "$(dirname "$0")/.."

steps="format layers gcc clang cuda tidy cppcheck analyzer asan tsan fuzz python"
more_steps="fresh release"
jobs=$(nproc)
logs=build/log
mkdir -p "$logs"

sources() { git ls-files "$@"; }

# Builds PRESET into build/check-NAME with warnings as errors.
build() { # NAME PRESET [CMAKE OPTION...]
    local name=$1 preset=$2; shift 2
    cmake --preset "$preset" -B "build/check-$name" -DPLX_WERROR=ON "$@" && cmake --build "build/check-$name" -j "$jobs"
}

unit_tests() { # NAME
    ctest --test-dir "build/check-$1" -j "$jobs" --output-on-failure -L unit
}

step_format() {
    sources '*.[ch]' '*.cu' '*.cuh' | xargs clang-format-14 --dry-run --Werror || return 1
    ! git grep -nE '^(<{7}|>{7})( |$)' || { echo 'these lines are left from a merge'; return 1; }
    local long
    long=$(sources '*.md' | LC_ALL=C.UTF-8 xargs grep -nHE '^.{161}' | cut -d: -f1,2)
    [[ ! $long ]] || { printf '%s: longer than 160 characters\n' $long; return 1; }
}
# Which folder may include which.
step_layers() { toolchain/layers.py; }
# Without the GPU backend, which the step cuda builds, its C by both compilers.
step_gcc() { build gcc release -DPLX_GPU=OFF; }
step_clang() { build clang release -DPLX_GPU=OFF -DCMAKE_C_COMPILER=clang; }
step_cuda() { toolchain/check_cuda.sh; }
# Keeps one of the commands that compile a source in the same way: tests/parity compiles some of other folders again.
once='import json, sys
commands = json.load(open(sys.argv[1]))
kinds = {(each["file"], *[word for word in each["command"].split() if word.startswith(("-DPLX_", "-m"))]): each for each in commands[::-1]}
json.dump(list(kinds.values()), open(sys.argv[1], "w"))'
step_tidy() {
    build tidy release -DCMAKE_C_COMPILER=clang
    local tidy=clang-tidy-14
    command -v "$tidy" >/dev/null || tidy=clang-tidy
    # One file a run, compiled once: from the second on, clang-tidy 14 takes every va_list for uninitialized.
    python3 -c "$once" build/check-tidy/compile_commands.json || return 1
    sources '*.c' | grep -Ev '^(tests/fuzz|toolchain/guest)/' | xargs -P "$jobs" -n 1 "$tidy" -p build/check-tidy --quiet --warnings-as-errors='*'
}
# ctuuninitvar takes each function that fills a struct for one that reads it.
step_cppcheck() {
    cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,portability,performance \
        --suppress=missingIncludeSystem --suppress=ctuuninitvar -I . -I include -j "$jobs" -D_GNU_SOURCE -DPLX_ISA=generic \
        "-DcJSON_ArrayForEach(item,array)=while ((item = (array)->child))" \
        $(sources '*.c' | grep -Ev '^(tests|toolchain|docs)/')
}
# All programs and libraries, but for the inner loops of cpu/ and gpu/: gcc 12 takes vector shifts for too wide ones.
step_analyzer() {
    cmake --preset release -B build/check-analyzer -DCMAKE_C_COMPILER=gcc -DPLX_GPU=OFF -DPLX_ANALYZER=ON -DPLX_WERROR=ON \
        -DBUILD_TESTING=OFF && cmake --build build/check-analyzer -j "$jobs"
}
step_asan() { build asan asan && unit_tests asan; }
step_tsan() { build tsan tsan && unit_tests tsan; }
# Each target for PLX_FUZZ_SECONDS, one minute unless said otherwise, as many at a time as there are cores. What it finds is kept beside
# its corpus in build/fuzz, what it says in build/log/fuzz_NAME.log.
step_fuzz() {
    cmake --preset release -B build/check-fuzz -DCMAKE_C_COMPILER=clang -DPLX_GPU=OFF -DPLX_FUZZ=ON \
        -DPLX_SANITIZE=address,undefined,fuzzer-no-link -DPLX_WERROR=ON && cmake --build build/check-fuzz -j "$jobs" --target fuzz || return 1
    export -f fuzz_target
    export logs
    basename -s .c tests/fuzz/fuzz_*.c | xargs -P "$jobs" -I NAME bash -c 'fuzz_target NAME'
}
fuzz_target() { # NAME
    mkdir -p "build/fuzz/$1"
    "build/check-fuzz/bin/$1" -max_total_time="${PLX_FUZZ_SECONDS:-60}" -timeout=10 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/$1-" "build/fuzz/$1" "tests/fuzz/corpus/${1#fuzz_}" >"$logs/$1.log" 2>&1 ||
        { tail -n 30 "$logs/$1.log"; return 1; }
    printf '%s: %s\n' "$1" "$(grep -E '^Done|number_of_executed' "$logs/$1.log" | paste -sd' ')"
}

# The Python package: its types, and the wheel that pip makes of it. 77: skipped.
step_python() {
    local bin=$PWD/build/python/bin work
    [[ -x $bin/mypy ]] || { echo "skipped: no build/python (./dev setup --all makes it)"; return 77; }
    (cd client/python && "$bin/mypy" --cache-dir ../../build/mypy parallax_stereo examples) || return 1
    work=build/check-python
    rm -rf "$work" && mkdir "$work" && cp -rL client core include "$work" && # setuptools writes beside its sources
        "$bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work" "$work/client/python" || return 1
    for file in parallax_stereo/{__init__.py,py.typed,libparallax.so.0} LICENSE; do
        "$bin/python" -m zipfile -l "$work"/parallax_stereo-*.whl | grep -F "$file" || { echo "the wheel has no $file"; return 1; }
    done
}
# The commands of README.md in a fresh Debian 12, as root and as a user.
step_fresh() { toolchain/fresh.sh; }
# The commands of docs/install.md there, with a release.
step_release() { toolchain/fresh.sh release; }

for step in "${@:-$steps}"; do
    for name in $step; do
        [[ " $steps $more_steps " == *" $name "* ]] || { echo "check: unknown step $name; there are: $steps $more_steps" >&2; exit 64; }
        begun=$SECONDS
        printf '%-10s ' "$name"
        code=0
        "step_$name" >"$logs/check-$name.log" 2>&1 || code=$?
        if [[ $code == 0 ]]; then
            printf 'ok (%d s)\n' $((SECONDS - begun))
            sed -n 's/^time: /    /p' "$logs/check-$name.log"
        elif [[ $code == 77 ]]; then
            tail -n 1 "$logs/check-$name.log"
        else
            echo FAILED
            grep -vE '^\[[0-9]+/[0-9]+\] ' "$logs/check-$name.log" | tail -n 40 >&2
            echo "check: $name failed; the whole log: $logs/check-$name.log" >&2
            exit 1
        fi
    done
done
echo "The tree is clean."
