#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the GPU backend for every GPU that it is to run on, no GPU needed; called by ./dev check cuda.
#
#   CUDA 13.0   Orin, Hopper, Thor: everything of the preset cuda-only, by nvcc; where there is none of it, from NVIDIA's Python wheels
#   CUDA 12.6   Xavier, Orin (JetPack 5 and 6): the library, linked. Its wheels hold headers, runtime, libdevice and ptxas, but
#               no nvcc, so clang compiles CUDA down to what that ptxas assembles
#
# Warnings are errors, and toolchain/cuda_report.awk judges what ptxas says of registers and shared memory.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
clang=clang-19
. toolchain/cuda_wheels.sh

# Judges the report of ptxas in FILE...
judge() { # "GPU..." FILE...
    local wanted=$1; shift
    cat "$@" | c++filt | awk -v wanted="$wanted" -f toolchain/cuda_report.awk
}

cuda_13() {
    local nvcc=${CUDACXX:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)} dir=build/check-cuda-13
    if [[ ! $nvcc ]] || ! "$nvcc" --version | grep -q 'release 13\.0'; then
        cuda_wheels build/cuda-13.0 "$(uname -m)" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
            nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
        ln -sfn lib build/cuda-13.0/lib64
        nvcc=$PWD/build/cuda-13.0/bin/nvcc
    fi
    cmake --preset cuda-only -B "$dir" -DPLX_WERROR=ON -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_FLAGS=-Xptxas=-v \
        -DCMAKE_CUDA_ARCHITECTURES='87-real;90-real;110-real'
    cmake --build "$dir" -j "$jobs" --clean-first >"$dir/report.txt" 2>&1 || { cat "$dir/report.txt"; return 1; }
    judge "sm_87 sm_90 sm_110" "$dir/report.txt"
}

# One file of the backend, for one GPU or (host) its other half; what ptxas says goes to OUT/NAME.GPU.txt.
compile_12() { # FILE GPU
    local file=$1 gpu=$2 half=(--cuda-host-only)
    local out=$out/${file//\//_}.$gpu
    [[ $gpu == host ]] || half=(--cuda-device-only --cuda-gpu-arch="$gpu" -Xcuda-ptxas -v)
    "$clang" -x cuda --cuda-path="$toolkit" -isystem "$toolkit/include" "${half[@]}" -std=c++17 -O2 -fPIC -ffp-contract=off \
        -D_GNU_SOURCE -I. -Iinclude -include toolchain/clang_cuda.h -Wall -Werror -Wno-unknown-cuda-version \
        -c "$file" -o "$out.o" >"$out.txt" 2>&1 || { cat "$out.txt"; return 1; }
}

cuda_12() {
    local file
    export out=build/check-cuda-12 toolkit=$PWD/build/cuda-12.6 clang
    export -f compile_12
    cuda_wheels "$toolkit" "$(uname -m)" 'nvidia-cuda-nvcc-cu12==12.6.*' 'nvidia-cuda-runtime-cu12==12.6.*' 'nvidia-cuda-cccl-cu12==12.6.*'
    rm -rf "$out" && mkdir -p "$out"
    for file in gpu/*/*.cu; do printf '%s\n' "$file sm_72" "$file sm_87" "$file host"; done |
        xargs -P "$jobs" -L 1 bash -c 'compile_12 "$@"' compile_12
    printf '%s\n' gpu/*/*.c core/*/*.c | xargs -P "$jobs" -L 1 bash -c '"$clang" -std=gnu11 -O1 -fPIC -D_GNU_SOURCE -I. \
        -Iinclude -isystem "$toolkit/include" -Wall -Wextra -Werror -c "$1" -o "$out/${1//\//_}.host.o"' clang
    gcc -shared -Wl,-z,defs "$out"/*.host.o -o "$out/libplx_gpu.so" "$toolkit/lib/libcudart.so.12" -lstdc++ -lpthread -lm
    judge "sm_72 sm_87" "$out"/*.cu.sm_*.txt
}

cuda_13
command -v "$clang" >/dev/null || { echo "check: no $clang, which CUDA 12.6 needs here: ./dev check cuda installs it" >&2; exit 1; }
cuda_12
