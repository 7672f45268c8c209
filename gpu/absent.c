/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for the whole folder where there is no CUDA compiler. */
#include "gpu/gpu.h"

#include <stddef.h>

#include <parallax/error.h>

#include "core/base/text.h"

int plx_gpu_create_memory(const struct plx_limits *limits, enum plx_gpu_memory memory, struct plx_stages **ret_stages,
                          struct plx_error_message *message)
{
    (void)limits;
    (void)memory;
    (void)ret_stages;
    return plx_fail(message, PLX_ERR_UNSUPPORTED, "this program was built without a GPU backend");
}

/* Nobody has stages of this backend to call the rest with. */
const char *plx_gpu_schedule_name(int schedule)
{
    (void)schedule;
    return NULL;
}

int plx_gpu_set_schedule(struct plx_stages *stages, int schedule)
{
    (void)stages;
    (void)schedule;
    return PLX_ERR_UNSUPPORTED;
}

void plx_gpu_plan(const struct plx_stages *stages, int width, int height, const struct plx_match *match,
                  struct plx_gpu_plan *ret_plan)
{
    (void)stages;
    (void)width;
    (void)height;
    (void)match;
    *ret_plan = (struct plx_gpu_plan){.schedule = -1};
}

const char *plx_gpu_device(const struct plx_stages *stages)
{
    (void)stages;
    return "none";
}
