# SPDX-License-Identifier: Apache-2.0
# Enables the language CUDA as PLX_GPU asks; leaves CMAKE_CUDA_COMPILER empty where there is to be no GPU backend. Included by
# the top CMakeLists.txt, because a language counts from where it was enabled downwards.
include(CheckLanguage)
if(PLX_GPU)
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER AND NOT PLX_GPU STREQUAL AUTO)
        message(FATAL_ERROR "PLX_GPU is ${PLX_GPU}, but there is no CUDA compiler: put nvcc into PATH, or set CUDACXX")
    endif()
else()
    set(CMAKE_CUDA_COMPILER "")
endif()
if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
        set(CMAKE_CUDA_ARCHITECTURES 87-real 90) # Jetson Orin, Hopper, and by just-in-time compilation what comes after
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
else()
    message(STATUS "Without the GPU backend (PLX_GPU=${PLX_GPU})")
endif()
