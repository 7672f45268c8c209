/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the matching stages on one thread, for tests/bench/instructions.sh, which counts the instructions of each kernel:
 * `bench_instructions ISA WIDTH HEIGHT DISPARITIES`, on noise and with preset default. The kernels hardly branch on pixels, so
 * noise stands for a real pair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"
#include "oracle/matching.h"
#include "oracle/test_image.h"

static struct plx_image noise(int width, int height)
{
    struct plx_image image = test_image_new(width, height, PLX_U8, 0);
    uint64_t random = test_seed();

    for (size_t i = 0; i < (size_t)width * (size_t)height; i++)
        ((uint8_t *)image.data)[i] = (uint8_t)random_below(&random, 256);
    return image;
}

static enum plx_isa isa_named(const char *name)
{
    int isa = 0;
    while (isa < PLX_ISA_COUNT &&
           !(plx_isa_kernels((enum plx_isa)isa) && !strcmp(plx_isa_kernels((enum plx_isa)isa)->name, name)))
        isa++;
    return (enum plx_isa)isa;
}

int main(int argc, char **argv)
{
    struct plx_limits limits = {.threads = 1};
    struct plx_image grey[PLX_EYES], plane[MATCHING_PLANES];
    struct plx_match match;
    struct plx_stages *stages;

    if (argc == 1) {
        printf("skipped: tests/bench/instructions.sh runs it\n");
        return 77;
    }
    if (argc != 5 || isa_named(argv[1]) == PLX_ISA_COUNT) {
        fprintf(stderr, "usage: bench_instructions ISA WIDTH HEIGHT DISPARITIES, ISA one that this machine has\n");
        return 64;
    }
    limits.width = atoi(argv[2]);
    limits.height = atoi(argv[3]);
    plx_match_default(&match);
    match.disparities = limits.disparities = atoi(argv[4]);
    for (int eye = 0; eye < PLX_EYES; eye++)
        grey[eye] = noise(limits.width, limits.height);
    for (int i = 0; i < MATCHING_PLANES; i++)
        plane[i] = test_image_new(limits.width, limits.height, matching_type(&match, (enum matching_plane)i), 0);

    int result = plx_cpu_create_isa(&limits, isa_named(argv[1]), &stages);
    if (result == 0) {
        result = matching_run(stages, grey, &match, plane);
        stages->ops->destroy(stages);
    }
    if (result < 0)
        fprintf(stderr, "a stage failed: %s\n", plx_strerror(result));
    for (int eye = 0; eye < PLX_EYES; eye++)
        test_image_free(&grey[eye]);
    for (int i = 0; i < MATCHING_PLANES; i++)
        test_image_free(&plane[i]);
    return result < 0;
}
