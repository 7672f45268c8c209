/* SPDX-License-Identifier: Apache-2.0 */
#include <parallax/error.h>

#include "core/base/image.h"
#include "cpu/internal.h"

struct convert_job {
    const struct plx_raw *raw;
    const struct plx_image *grey;
};

static void convert_row(void *argument, int y)
{
    const struct convert_job *job = argument;
    plx_raw_grey_row(job->raw, job->grey, y);
}

int plx_cpu_convert(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *grey)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(grey, PLX_U8) && !plx_image_ok(grey, PLX_U16))
        return PLX_ERR_ARG;
    const int result = plx_raw_check(raw, NULL);
    if (result < 0)
        return result;
    if (grey->width != raw->eye_width || grey->height != raw->height)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, grey))
        return PLX_ERR_RANGE;

    struct convert_job job = {raw, grey};
    plx_pool_run_rows(cpu->pool, grey->height, convert_row, &job);
    return 0;
}
