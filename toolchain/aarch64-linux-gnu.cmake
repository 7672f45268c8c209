# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for 64-bit ARM with the distribution's gcc, against the libraries that toolchain/sysroot assembled. Programs of
# the build, the tests among them, run under qemu-aarch64 where it is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

get_filename_component(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-arm64 REALPATH)
if(NOT EXISTS ${CMAKE_SYSROOT}/usr/include)
    message(FATAL_ERROR "No arm64 libraries in ${CMAKE_SYSROOT}: run ./dev cross, or toolchain/sysroot")
endif()
if(PLX_CUDA_TARGET) # toolchain/cuda_arm64 made it
    set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PLX_CUDA_TARGET)
    include(${PLX_CUDA_TARGET}/compiler.cmake)
    set(CMAKE_FIND_ROOT_PATH ${PLX_CUDA_TARGET})
    set(CUDAToolkit_ROOT ${PLX_CUDA_TARGET})
endif()
add_link_options(--sysroot=${CMAKE_SYSROOT}) # CMake forgets it for programs with CUDA in them
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# pkg-config sees the target's libraries and no other.
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

find_program(PLX_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(PLX_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${PLX_QEMU} -L ${CMAKE_SYSROOT})
endif()
