/* SPDX-License-Identifier: Apache-2.0 */
/* Whole frames of the synthetic scene: compared with hashes from another machine, and the GPU's frames with the CPU's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/selftest/fixture.h"

#ifdef PLX_MUTANT_GOLDEN
#    define MUTATION 1 /* for the test that a wrong hash is noticed */
#else
#    define MUTATION 0
#endif

/* Hashes of the drawn pictures, and of planes and obstacles of the FIXTURE_PAIRS frames computed from them. */
static const struct {
    int width, height, disparities, paths;
    bool classic;
    uint64_t pictures, frames;
} golden[] = {
    {320, 240, 64, 8, false, UINT64_C(0x2452baeeb4c9f4c9), UINT64_C(0x38308813adb2c0ad)},
    {321, 239, 128, 4, false, UINT64_C(0x411a8f9ab86580db), UINT64_C(0xd7d828039f72beec)},
    {320, 240, 64, 8, true, UINT64_C(0x2452baeeb4c9f4c9), UINT64_C(0x57ac2aae3997e957)},
    {640, 480, 128, 8, false, UINT64_C(0xdf1434e2398eac66), UINT64_C(0x12be6256c97753f6)},
};
#define GOLDEN ((int)(sizeof golden / sizeof *golden))

/* FNV-1a, 64 bits (Fowler, Noll, Vo) */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_pictures(const struct fixture *fixture)
{
    uint64_t hash = HASH_BEGIN;
    for (int i = 0; i < FIXTURE_PAIRS * PLX_EYES; i++) {
        const struct plx_raw *raw = &fixture->raw[i / PLX_EYES][i % PLX_EYES];
        hash = hash_bytes(hash, raw->data, raw->bytes);
    }
    return hash;
}

/* All planes but the map, and the integer fields of the obstacles: the last bit of real numbers depends on the C library's
 * sine, and where things lie in the map depends on them. */
static uint64_t hash_frame(uint64_t hash, struct plx_frame *frame)
{
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        const struct plx_image plane = plx_pipeline_plane(frame, (enum plx_plane_id)id);
        for (int y = 0; plane.data && id != PLX_PLANE_MAP && y < plane.height; y++)
            hash = hash_bytes(hash, plx_row(&plane, y), (size_t)plane.width * (size_t)plane.type);
    }
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        hash = hash_bytes(hash, &frame->obstacle[i], offsetof(struct plx_obstacle, centroid_x));
    return hash;
}

static void params_of(int index, struct plx_pipeline_params *ret)
{
    plx_pipeline_params_default(ret);
    ret->correction = PLX_CORRECTION_OFF; /* the hashes are those of the stages alone */
    if (golden[index].classic)
        plx_match_classic(&ret->match);
    ret->match.disparities = golden[index].disparities;
    ret->match.paths = golden[index].paths;
}

static void check_golden_case(enum plx_backend_kind kind, int index, struct check_outcome *ret)
{
    struct plx_pipeline_params params;
    struct fixture fixture;
    char what[64];

    snprintf(what, sizeof what, "%d x %d, D %d, %d paths, %s", golden[index].width, golden[index].height,
             golden[index].disparities, golden[index].paths, golden[index].classic ? "classic" : "default");
    params_of(index, &params);
    if (!fixture_open_check(kind, golden[index].width, golden[index].height, &params, &fixture, ret))
        return;
    uint64_t hash = HASH_BEGIN;
    for (int i = 0; i < FIXTURE_PAIRS && fixture_run_check(&fixture, i, ret); i++)
        hash = hash_frame(hash, fixture.frame);
    const uint64_t pictures = hash_pictures(&fixture);
    check_note(ret, "%s: pictures 0x%016" PRIx64 ", frames 0x%016" PRIx64, what, pictures, hash);
    if (pictures != golden[index].pictures)
        check_fail(ret, "%s: the pictures of the synthetic scene differ from the golden ones", what);
    else if (hash != (golden[index].frames ^ MUTATION))
        check_fail(ret, "%s: the frames are not the golden ones: 0x%016" PRIx64 ", expected 0x%016" PRIx64, what, hash,
                   golden[index].frames ^ MUTATION);
    fixture_close(&fixture);
}

void check_golden(const struct check_options *options, struct check_outcome *ret)
{
    for (int i = 0; i < (options->full ? GOLDEN : GOLDEN - 1) && ret->verdict != CHECK_SKIPPED; i++)
        check_golden_case(options->backend, i, ret);
}

void check_gpu_equals_cpu(const struct check_options *options, struct check_outcome *ret)
{
    const int frames = options->full ? 20 * FIXTURE_PAIRS : FIXTURE_PAIRS;
    struct plx_pipeline_params params;
    struct fixture cpu, gpu;

    for (int index = 0; index < GOLDEN && ret->verdict == CHECK_PASSED; index++) {
        params_of(index, &params);
        const int width = golden[index].width, height = golden[index].height;
        if (!fixture_open_check(PLX_BACKEND_GPU, width, height, &params, &gpu, ret))
            return;
        if (fixture_open_check(PLX_BACKEND_CPU, width, height, &params, &cpu, ret)) {
            for (int i = 0; i < frames && fixture_run_check(&cpu, i, ret) && fixture_run_check(&gpu, i, ret); i++)
                if (memcmp(cpu.frame, gpu.frame, cpu.bytes) != 0)
                    check_fail(ret, "%d x %d: frame %d differs between GPU and CPU", width, height, i);
            fixture_close(&cpu);
        }
        fixture_close(&gpu);
    }
    check_note(ret, "%d frames of each of %d kinds, byte by byte", frames, GOLDEN);
}
