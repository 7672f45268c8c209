# SPDX-License-Identifier: Apache-2.0
# To be sourced. NVIDIA's Python wheels as a CUDA toolkit.

# Unpacks wheels, once, into DIR: bin, include, lib, nvvm. MACHINE: whose wheels, x86_64 or aarch64; it need not be this one.
cuda_wheels() { # DIR MACHINE PACKAGE...
    local dir=$1 machine=$2 part; shift 2
    [[ -d $dir ]] && return
    rm -rf "$dir.part" && mkdir -p "$dir.part/all"
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --target "$dir.part/wheels" \
        --platform "manylinux2014_$machine" --platform "manylinux_2_27_$machine" --platform "manylinux_2_28_$machine" "$@"
    for part in "$dir.part"/wheels/nvidia/*/; do cp -r "$part". "$dir.part/all"; done
    [[ ! -d $dir.part/all/bin ]] || chmod -R u+x "$dir.part/all/bin"
    [[ ! -d $dir.part/all/nvvm ]] || chmod -R u+x "$dir.part/all/nvvm"
    mv "$dir.part/all" "$dir" && rm -r "$dir.part"
}
