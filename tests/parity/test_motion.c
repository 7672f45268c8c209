/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of ego-motion: pyramid, corners, flow and the disparities of both, on texture that moves, on noise, black and
 * white.
 */
#include <stdio.h>
#include <string.h>

#include <parallax/frame.h>

#include "core/motion/corners.h"
#include "tests/motion_patterns.h"
#include "tests/parity/parity.h"

static const int sizes[][2] = {{1, 1},   {2, 7},   {7, 2},    {21, 22},  {22, 40},   {33, 31},   {65, 64},
                               {130, 9}, {513, 2}, {513, 40}, {40, 513}, {131, 147}, {640, 480}, {1241, 377}};

static uint64_t state;

static void test_corners(struct parity *parity, int width, int height)
{
    for (int kind = 0; kind < MOTION_PATTERNS; kind++) {
        struct twin left = twin_new(parity->gpu, width, height, PLX_U8);
        struct twin cells = twin_new(parity->gpu, plx_corner_cells(width), plx_corner_cells(height), PLX_U128);
        char what[64];

        motion_pattern_draw(&left.want, (enum motion_pattern)kind, 0, 0, &state);
        twin_share(&left);
        snprintf(what, sizeof what, "corners of image %d", kind);
        parity_done(parity, parity->cpu->ops->corners(parity->cpu, &left.want, &cells.want),
                    parity->gpu->ops->corners(parity->gpu, &left.got, &cells.got), what);
        parity_compare(parity, &cells, what);
        twin_free(parity->gpu, &left);
        twin_free(parity->gpu, &cells);
    }
}

/* Surfaces with edges, holes, and small steps that are none. */
static void fill_disparity(struct twin *twin)
{
    for (int y = 0; y < twin->want.height; y++)
        for (int x = 0; x < twin->want.width; x++)
            ((uint16_t *)plx_row(&twin->want, y))[x] = random_below(&state, 200) == 0
                                                           ? PLX_DISPARITY_INVALID
                                                           : (uint16_t)(400 + x / 40 * 90 + y + (int)random_below(&state, 14));
    twin_share(twin);
}

/* An image with memory for BYTES. */
static struct twin new_bytes(struct parity *parity, size_t bytes)
{
    return twin_new(parity->gpu, 4096, (int)(bytes / 4096) + 1, PLX_U8);
}

static void test_disparities(struct parity *parity, int width, int height)
{
    struct twin disparity = twin_new(parity->gpu, width, height, PLX_U16), left = twin_new(parity->gpu, width, height, PLX_U8);
    struct twin cells = twin_new(parity->gpu, plx_corner_cells(width), plx_corner_cells(height), PLX_U128);
    struct twin jobs = new_bytes(parity, sizeof(struct plx_flow_job)),
                found = new_bytes(parity, PLX_MAX_CORNERS * sizeof(struct plx_flow_found));
    struct plx_flow_job *job = jobs.want.data;
    struct plx_flow_found *point = found.want.data;

    motion_pattern_draw(&left.want, MOTION_TEXTURE, 0, 0, &state);
    fill_disparity(&disparity);
    memset(job, 0, sizeof *job);
    job->count = random_below(&state, PLX_MAX_CORNERS + 1);
    for (uint32_t i = 0; i < job->count; i++)
        point[i] = (struct plx_flow_found){.at = {(double)random_below(&state, (uint32_t)width * 16) / 16 - 1,
                                                  (double)random_below(&state, (uint32_t)height * 16) / 16 - 1}};
    parity_done(parity, parity->cpu->ops->corners(parity->cpu, &left.want, &cells.want), 0, "corners");
    twin_share(&cells);
    twin_share(&jobs);
    twin_share(&found);
    parity_done(parity, parity->cpu->ops->corner_disparities(parity->cpu, &disparity.want, job, &cells.want, point),
                parity->gpu->ops->corner_disparities(parity->gpu, &disparity.got, jobs.got.data, &cells.got, found.got.data),
                "disparities of corners");
    parity_compare(parity, &cells, "disparities of corners");
    parity_compare(parity, &found, "disparities of points");
    twin_free(parity->gpu, &disparity);
    twin_free(parity->gpu, &left);
    twin_free(parity->gpu, &cells);
    twin_free(parity->gpu, &jobs);
    twin_free(parity->gpu, &found);
}

/* Points all over the image and beyond, expected near or far from where they are. */
static void draw_job(struct plx_flow_job *job, int width, int height)
{
    job->levels = 1 + random_below(&state, PLX_PYRAMID_LEVELS);
    job->count = random_below(&state, PLX_MAX_CORNERS + 1);
    for (uint32_t i = 0; i < job->count; i++)
        for (int k = 0; k < 2; k++) {
            const uint32_t size = (uint32_t)(k == 0 ? width : height);
            job->point[i].from[k] =
                (double)random_below(&state, size * 16) / 16 + (random_below(&state, 16) == 0 ? 1e9 - (double)size * 3e8 : 0);
            job->point[i].to[k] = job->point[i].from[k] + (double)random_below(&state, 160) / 16 - 5;
        }
}

/* Both pyramids in the memory of a twin of each; SIDE 0: the CPU's, 1: the GPU's. */
static void lay_out(const struct twin memory[2], int side, int width, int height, struct plx_pyramid ret[2])
{
    for (int i = 0; i < 2; i++)
        plx_pyramid_lay_out(side == 0 ? memory[i].want.data : memory[i].got.data, width, height, &ret[i]);
}

static void test_flow(struct parity *parity, int width, int height, enum motion_pattern kind, uint32_t now)
{
    struct twin memory[2] = {new_bytes(parity, plx_pyramid_bytes(width, height)),
                             new_bytes(parity, plx_pyramid_bytes(width, height))};
    struct twin jobs = new_bytes(parity, sizeof(struct plx_flow_job)),
                found = new_bytes(parity, PLX_MAX_CORNERS * sizeof(struct plx_flow_found));
    struct plx_flow_job *job = jobs.want.data;
    struct plx_pyramid cpu[2], gpu[2];
    char what[64];

    lay_out(memory, 0, width, height, cpu);
    lay_out(memory, 1, width, height, gpu);
    snprintf(what, sizeof what, "flow in image %d, pyramid %u", (int)kind, now);
    memset(job, 0, sizeof *job);
    for (int i = 1; i >= 0; i--) { /* the key image's, then the new one's */
        struct twin left = twin_new(parity->gpu, width, height, PLX_U8);
        motion_pattern_draw(&left.want, kind, 2.3 * i, -1.4 * i, &state);
        twin_share(&left);
        job->now = i == 1 ? 1 - now : now;
        twin_share(&jobs);
        parity_done(parity, parity->cpu->ops->pyramid(parity->cpu, &left.want, job, cpu),
                    parity->gpu->ops->pyramid(parity->gpu, &left.got, jobs.got.data, gpu), what);
        parity_compare(parity, &memory[job->now], what);
        twin_free(parity->gpu, &left);
    }
    draw_job(job, width, height);
    twin_share(&jobs);
    parity_done(parity, parity->cpu->ops->flow(parity->cpu, cpu, job, found.want.data),
                parity->gpu->ops->flow(parity->gpu, gpu, jobs.got.data, found.got.data), what);
    parity_compare(parity, &found, what);
    for (int i = 0; i < 2; i++)
        twin_free(parity->gpu, &memory[i]);
    twin_free(parity->gpu, &jobs);
    twin_free(parity->gpu, &found);
}

int main(void)
{
    const struct plx_limits limits = {1241, 513, 64, 0};
    struct parity parity;

    state = test_seed();
    parity_open(&limits, &parity);
    for (int i = 0; i < PARITY_COUNT(sizes); i++) {
        test_corners(&parity, sizes[i][0], sizes[i][1]);
        test_disparities(&parity, sizes[i][0], sizes[i][1]);
        for (int kind = 0; kind < MOTION_PATTERNS; kind++)
            test_flow(&parity, sizes[i][0], sizes[i][1], (enum motion_pattern)kind, (uint32_t)(kind % 2));
    }
    return parity_close(&parity);
}
