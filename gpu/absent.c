/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for the whole folder where there is no CUDA compiler. */
#include "gpu/gpu.h"

#include <parallax/error.h>

int plx_gpu_create(const struct plx_limits *limits, struct plx_stages **ret_stages, struct plx_why *why)
{
    (void)limits;
    (void)ret_stages;
    return plx_fail(why, PLX_ERR_UNSUPPORTED, "this program was built without a GPU backend");
}
