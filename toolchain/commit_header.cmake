# SPDX-License-Identifier: Apache-2.0
# cmake -D PLX_SOURCE_DIR=DIR -D OUTPUT=FILE -P commit_header.cmake: writes the commit as a C macro, if FILE says another one.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/commit.cmake)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define PLX_COMMIT \"@PLX_COMMIT@\"\n" @ONLY)
