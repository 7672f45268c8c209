/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw frames: header and planes of the GPU are the CPU's, byte by byte, in every format and awkward size, both eyes in one
 * buffer of padded rows, with each kind of shared memory that the device has. Frames take turns between two slots, so that each
 * is recorded as a graph once and replayed later.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/image.h"
#include "core/pipeline/pipeline.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"
#include "tests/parity/parity.h"

#define FRAMES 6
#define SLOTS 2
#define PADDING 6 /* bytes behind each row: rows of the buffer begin at odd multiples of 2 */

/* One backend with the pairs and slots that it reaches. */
struct side {
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_frame *slot[SLOTS];
    uint8_t *pair[FRAMES];
    struct plx_raw raw[FRAMES][PLX_EYES];
    uint32_t bytes; /* size of a frame */
};

struct kind {
    enum plx_format format;
    enum plx_bayer bayer;
    bool msb_aligned;
    int width, height; /* size of one eye */
};

static void *take_memory(struct side *side, size_t bytes)
{
    void *data;
    parity_must(side->stages->ops->alloc(side->stages, bytes, &data), &side->stages->message);
    return data;
}

/* The same noise on each side: it begins at SEED. */
static void make_pair(struct side *side, const struct kind *kind, int number, uint64_t seed)
{
    const size_t pitch = (plx_raw_row_bytes(kind->format, 2 * kind->width) + PADDING + 1) / 2 * 2;
    const size_t rows = plx_raw_rows(kind->format, kind->height);

    side->pair[number] = take_memory(side, rows * pitch);
    for (size_t i = 0; i < rows * pitch; i++)
        side->pair[number][i] = (uint8_t)random_next(&seed);
    for (int eye = 0; eye < PLX_EYES; eye++)
        side->raw[number][eye] = (struct plx_raw){.data = side->pair[number],
                                                  .bytes = rows * pitch,
                                                  .width = 2 * kind->width,
                                                  .height = kind->height,
                                                  .pitch = pitch,
                                                  .format = kind->format,
                                                  .bayer = kind->bayer,
                                                  .msb_aligned = kind->msb_aligned,
                                                  .eye_x = eye * kind->width,
                                                  .eye_width = kind->width};
}

/* SIDE->stages is there. */
static void open_side(struct side *side, const struct kind *kind, uint64_t seed)
{
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_error_message message = {""};

    parity_must(plx_pipeline_create_raw(side->stages, kind->width, kind->height, &side->pipeline, &message), &message);
    side->bytes = plx_pipeline_layout_raw(kind->width, kind->height, plane);
    for (int i = 0; i < SLOTS; i++)
        side->slot[i] = take_memory(side, side->bytes);
    for (int i = 0; i < FRAMES; i++)
        make_pair(side, kind, i, seed + (uint64_t)i);
}

static void close_side(struct side *side)
{
    plx_pipeline_destroy(side->pipeline);
    for (int i = 0; i < SLOTS; i++)
        side->stages->ops->free(side->stages, side->slot[i]);
    for (int i = 0; i < FRAMES; i++)
        side->stages->ops->free(side->stages, side->pair[i]);
}

static int run(struct side *side, int number)
{
    struct plx_frame *frame = side->slot[number % SLOTS];

    const int result = plx_pipeline_process(side->pipeline, side->raw[number], number, frame);
    memset(frame->stage_us, 0, sizeof frame->stage_us);
    return result;
}

static void compare(struct parity *parity, struct plx_stages *gpu_stages, const struct kind *kind, int memory)
{
    struct side cpu = {.stages = parity->cpu}, gpu = {.stages = gpu_stages};
    const uint64_t seed = test_seed() + (uint64_t)(kind->format * 1000 + kind->width);

    open_side(&cpu, kind, seed);
    open_side(&gpu, kind, seed);
    for (int i = 0; i < FRAMES; i++) {
        char what[128];
        snprintf(what, sizeof what, "raw frame %d, %s, order %d, %s, %d x %d, memory %d", i,
                 plx_format_layout(kind->format)->name, (int)kind->bayer, kind->msb_aligned ? "MSB" : "LSB", kind->width,
                 kind->height, memory);
        const int on_cpu = run(&cpu, i), on_gpu = run(&gpu, i);
        parity_done(parity, on_cpu, on_gpu, what);
        parity_frames(parity, cpu.slot[i % SLOTS], gpu.slot[i % SLOTS], cpu.bytes, what);
    }
    close_side(&cpu);
    close_side(&gpu);
}

/* All variants of a format: Bayer orders, and words whose samples lie in the low or the high bits. */
static void compare_format(struct parity *parity, struct plx_stages *gpu_stages, enum plx_format format, int width, int height,
                           int memory)
{
    const struct plx_format_layout *layout = plx_format_layout(format);

    if (layout->bayer && (width < 2 || height < 2))
        return;
    for (int bayer = 0; bayer <= (layout->bayer ? PLX_BAYER_GBRG : 0); bayer++)
        for (int msb = 0; msb <= layout->words; msb++) {
            const struct kind kind = {format, (enum plx_bayer)bayer, msb, width, height};
            compare(parity, gpu_stages, &kind, memory);
        }
}

int main(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 2}, {2, 1},   {2, 2},   {7, 1},    {1, 7},
                                   {7, 2}, {7, 7}, {513, 7}, {7, 513}, {513, 513}};
    const struct plx_limits limits = {513, 513, 64, 2};
    struct parity parity;

    parity_open(&limits, &parity);
    for (int memory = PLX_GPU_MEMORY_AUTO; memory <= PLX_GPU_MEMORY_COPIED; memory++) {
        struct plx_stages *gpu;
        struct plx_error_message message = {""};
        if (plx_gpu_create_memory(&limits, (enum plx_gpu_memory)memory, &gpu, &message) < 0) {
            printf("memory %d: %s\n", memory, message.text);
            continue;
        }
        for (int i = 0; i < PARITY_COUNT(sizes); i++)
            for (int format = 0; format < PLX_FORMAT_COUNT; format++)
                compare_format(&parity, gpu, (enum plx_format)format, sizes[i][0], sizes[i][1], memory);
        gpu->ops->destroy(gpu);
    }
    return parity_close(&parity);
}
