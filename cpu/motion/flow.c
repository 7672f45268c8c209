/* SPDX-License-Identifier: Apache-2.0 */
/* Stages pyramid and flow: the tracker of ego-motion on all threads. */
#include <parallax/error.h>

#include "core/motion/flow.h"
#include "cpu/internal.h"

#define POINTS 16 /* a task has */

struct pyramid_job {
    const struct plx_image *left;
    const struct plx_pyramid *pyramid;
};

struct flow_job {
    const struct plx_kernels *kernels;
    const struct plx_pyramid *pyramid;
    const struct plx_flow_job *flow;
    int count;
    struct plx_flow_found *found;
};

static void build_strip(void *argument, int strip)
{
    const struct pyramid_job *job = argument;
    plx_pyramid_build_strip(job->pyramid, job->left, strip * PLX_PYRAMID_STRIP);
}

int plx_cpu_pyramid(struct plx_stages *self, const struct plx_image *left, const struct plx_flow_job *flow,
                    const struct plx_pyramid *pyramids)
{
    struct plx_cpu *cpu = plx_cpu(self);
    struct pyramid_job job = {left, &pyramids[flow->now & 1]};

    const int result =
        PLX_CPU_CHECK_IMAGES(cpu, {left, PLX_U8}, {&pyramids[0].level[0], PLX_U8}, {&pyramids[1].level[0], PLX_U8});
    if (result == 0)
        plx_pool_run(cpu->pool, (left->height + PLX_PYRAMID_STRIP - 1) / PLX_PYRAMID_STRIP, build_strip, &job);
    return result;
}

static void follow_points(void *argument, int task)
{
    const struct flow_job *job = argument;
    const uint32_t now = job->flow->now & 1;
    const int end = (task + 1) * POINTS < job->count ? (task + 1) * POINTS : job->count;

    for (int i = task * POINTS; i < end; i++) {
        const struct plx_flow_point *point = &job->flow->point[i];
        struct plx_flow_found *found = &job->found[i];
        *found = (struct plx_flow_found){.at = {point->to[0], point->to[1]}};
        found->is_found = job->kernels->flow_track(&job->pyramid[1 - now], &job->pyramid[now], (int)job->flow->levels,
                                                   point->from, found->at);
    }
}

int plx_cpu_flow(struct plx_stages *self, const struct plx_pyramid *pyramids, const struct plx_flow_job *flow,
                 struct plx_flow_found *ret_found)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int count = flow->count < PLX_MAX_CORNERS ? (int)flow->count : PLX_MAX_CORNERS;
    struct flow_job job = {cpu->kernels, pyramids, flow, count, ret_found};

    const int result = PLX_CPU_CHECK_IMAGES(cpu, {&pyramids[0].level[0], PLX_U8}, {&pyramids[1].level[0], PLX_U8});
    if (result == 0)
        plx_pool_run(cpu->pool, (count + POINTS - 1) / POINTS, follow_points, &job);
    return result;
}
