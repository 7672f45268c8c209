#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The test of the tests: each runner (service, command, Python, ROS, browser, package, guests) fails when what it runs does not start,
# crashes, ends at once or says nothing. Arguments: source directory, build directory, Python environment of toolchain/python.txt.
set -euo pipefail
source=$1 build=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PLX_TEST_PATIENCE_S=3 # nothing is expected to happen
export PYTHONPATH=$source/client/python:$source/tests/python PARALLAX_LIBRARY=$build/lib/libparallax.so PYTHONDONTWRITEBYTECODE=1

# What the subjects are: subject_absent is no file.
subjects="absent crash silent end"
mkdir "$work/subjects"
for subject in crash silent end; do cp "$build/bin/subject" "$work/subjects/subject_$subject"; done

# COMMAND must fail, and not skip. Runs in the background: the runners wait for a long time.
running=()
must_fail() { # WHAT COMMAND...
    local what=$1 name=${1//[^a-z0-9]/_}
    shift
    (
        code=0
        timeout 500 "$@" >"$work/$name.log" 2>&1 </dev/null || code=$?
        case $code in
        0) echo "runners.sh: $what: the runner passed" ;;
        77) echo "runners.sh: $what: the runner skipped" ;;
        124) echo "runners.sh: $what: the runner does not end" ;;
        *) echo "ok: $what: failed, with exit code $code"; exit 0 ;;
        esac
        tail -n 20 "$work/$name.log"
        exit 1
    ) &
    running+=($!)
}
all_failed() {
    local process wrong=0
    for process in "${running[@]}"; do wait "$process" || wrong=1; done
    running=()
    return $wrong
}

# The build, whose programs can be replaced; prints its folder.
build_copy() { # NAME
    mkdir -p "$work/$1/bin"
    ln -s "$build"/bin/* "$work/$1/bin"
    ln -s "$build/lib" "$build/systemd" "$work/$1"
    echo "$work/$1"
}
build_with() { # PROGRAM SUBJECT = that replaces it
    local folder
    folder=$(build_copy "$1-$2")
    rm "$folder/bin/$1"
    printf '#!/bin/sh\nexec "%s"\n' "$work/subjects/subject_$2" >"$folder/bin/$1"
    chmod +x "$folder/bin/$1"
    [[ $2 != absent ]] || rm "$folder/bin/$1"
    echo "$folder"
}

for subject in $subjects; do
    for test in test_fault_config test_metrics; do
        must_fail "$test: parallaxd $subject" env PLX_TEST_PARALLAXD="$work/subjects/subject_$subject" "$build/bin/$test"
    done
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped in part: no NumPy here (./dev setup --all)"; continue; }
    must_fail "python: parallaxd $subject" env PLX_BINARY_DIR="$(build_with parallaxd "$subject")" \
        /usr/bin/python3 "$source/tests/python/test_frames.py" Frames.test_numbers
    must_fail "python: ring_peer $subject" env PLX_BINARY_DIR="$(build_with ring_peer "$subject")" \
        /usr/bin/python3 "$source/tests/python/test_ring.py" Ring.test_timeouts
done
all_failed

if "$python/bin/python3" -c 'import cyclonedds, numpy, selenium, websocket' 2>/dev/null && [[ -x $build/bin/parallax-ros ]] && command -v chromedriver >/dev/null; then
    for subject in $subjects; do
        must_fail "ros: parallax-ros $subject" env PLX_BINARY_DIR="$(build_with parallax-ros "$subject")" \
            "$python/bin/python3" "$source/tests/ros/test_ros.py" Topics.test_best_effort_readers_match
        must_fail "browser: parallax-web $subject" env PLX_BINARY_DIR="$(build_with parallax-web "$subject")" \
            "$python/bin/python3" "$source/tests/web/test_page_controls.py" Controls.test_keys_open_every_view
    done
    all_failed
else
    echo "skipped in part: no ROS or no browser here (./dev setup --all)"
fi

# A package is what cmake and cpack make. Without these tools its test skips before it runs cmake.
missing=
for tool in dpkg-deb dpkg-shlibdeps ninja; do command -v "$tool" >/dev/null || missing+=" $tool"; done
if [[ $missing ]]; then
    echo "skipped in part: no$missing here (./dev setup --all)"
else
    for subject in crash end; do
        mkdir "$work/tools-$subject"
        cp "$work/subjects/subject_$subject" "$work/tools-$subject/cmake"
        must_fail "package: cmake $subject" env PATH="$work/tools-$subject:$PATH" PLX_PACKAGE_TEST="$work/package-$subject" "$source/tests/system/package.sh" "$source"
    done
    all_failed
fi

# The guests: QEMU and what the guest says on its console, of both machines.
cd "$source"
guest_says() { # ARCH QEMU_CODE LINES = what QEMU would print and return
    printf '#!/bin/sh\nprintf %%b "%s"\nexit %s\n' "$3" "$2" >"$work/qemu"
    chmod +x "$work/qemu"
    (
        arch=$1 here=toolchain/guest
        . toolchain/guest/initramfs.sh
        machine=("$work/qemu")
        guest_boot 10 "$work/archive" >/dev/null
    )
}
for arch in amd64 arm64; do
    guest_says $arch 0 'boot\r\nguest: exit 0\r\n' || { echo "runners.sh: $arch: a guest that passes fails"; exit 1; }
    ! guest_says $arch 0 '' || { echo "runners.sh: $arch: a guest that says nothing passes"; exit 1; }
    ! guest_says $arch 0 'guest: exit 3\r\n' || { echo "runners.sh: $arch: a guest that fails passes"; exit 1; }
    ! guest_says $arch 1 '' || { echo "runners.sh: $arch: QEMU that does not start passes"; exit 1; }
    ! guest_says $arch 139 'guest: exit 0\r\n' || { echo "runners.sh: $arch: QEMU that crashes passes"; exit 1; }
    echo "ok: guest $arch"
done

# And a real one.
result() { # CASE EXPECTED_CODE
    local code=0
    toolchain/guest/result.sh "$work/results" "$1" >"$work/said" || code=$?
    [[ $code == "$2" ]] || { cat "$work/said"; echo "runners.sh: guest: $1 gave $code instead of $2"; exit 1; }
    echo "ok: guest: $1 gave $code"
}
guest=$(build_copy guest)
ln -s "$work"/subjects/* "$guest/bin"
PLX_GUEST_QEMU_OPTION=-no-such-option toolchain/guest/run.sh "$guest" "$work/results" subject_end >"$work/said" 2>&1 &&
    result subject_end 77 && { cat "$work/said"; echo "skipped in part: no guest here"; exit 0; }
result subject_end 1
toolchain/guest/run.sh "$guest" "$work/results" subject_crash subject_end subject_silent
result subject_crash 139
result subject_end 1
result subject_silent 137
result subject_silent 1 # a result counts once
