#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages of a preset into build/package-PRESET/packages; called by ./dev package. Further arguments go to cmake.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
[[ $# -ge 1 ]] || { echo 'usage: toolchain/package.sh PRESET [CMAKE_OPTION...]' >&2; exit 64; }
preset=$1; shift
umask 022 # modes are part of a package
build=build/package-$preset

case $preset in
arm64-* | jetson-*) multiarch=aarch64-linux-gnu ;;
*) multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH) ;;
esac
# As distributions build: paths below /usr, and the linker's protections, which a service that runs for years should have. Symbols go before
# the linker computes the build's number, for nvcc puts names of temporary files and folders among them; paths for libraries never come in.
cmake --preset "$preset" -B "$build" -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR="lib/$multiarch" \
    -DCMAKE_INSTALL_SYSCONFDIR=/etc -DBUILD_TESTING=OFF -DCMAKE_SKIP_RPATH=ON \
    -DCMAKE_C_FLAGS="-D_FORTIFY_SOURCE=2 -fstack-protector-strong" \
    -DCMAKE_EXE_LINKER_FLAGS="-s -pie -Wl,-z,relro,-z,now" -DCMAKE_SHARED_LINKER_FLAGS="-s -Wl,-z,relro,-z,now" "$@"
cmake --build "$build" -j "$(nproc)"
rm -rf "$build"/{packages,_CPack_Packages}
(cd "$build" && cpack)
