/* SPDX-License-Identifier: Apache-2.0 */
#include "app/version.h"

#include <stdio.h>

#include "commit.h" /* made by toolchain/commit_header.cmake; the other words come from app/CMakeLists.txt */

const char plx_version[] = PLX_VERSION;

void plx_print_version(const char *program)
{
    printf("%s " PLX_VERSION "\n"
           "commit     " PLX_COMMIT "\n"
           "compiler   " PLX_COMPILER "\n"
           "processor  " PLX_PROCESSOR "\n"
           "CUDA       " PLX_CUDA "\n",
           program);
}
