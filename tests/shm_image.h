/* SPDX-License-Identifier: Apache-2.0 */
/* A small region that tests and fuzzers damage, and a reader that trusts every size of a view. */
#ifndef PLX_TESTS_SHM_IMAGE_H
#define PLX_TESTS_SHM_IMAGE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "client/map.h"
#include "core/base/clock.h"

#define REGION_IMAGE_SLOTS 4

/* A small region of one frame, as a service would have made it, on the heap; the caller's. */
static inline struct plx_shm_header *shm_image_make(size_t *ret_bytes)
{
    size_t stride = (sizeof(struct plx_frame) + 8192 + 7) / 8 * 8;
    size_t frames = sizeof(struct plx_shm_header) + REGION_IMAGE_SLOTS * sizeof(struct plx_shm_slot);
    size_t bytes = frames + REGION_IMAGE_SLOTS * stride;
    unsigned char *memory = calloc(1, bytes);
    if (!memory)
        abort();
    struct plx_shm_header *header = (struct plx_shm_header *)(void *)memory;
    *header = (struct plx_shm_header){.magic = PLX_SHM_MAGIC,
                                      .abi_version = PLX_ABI_VERSION,
                                      .slot_count = REGION_IMAGE_SLOTS,
                                      .region_bytes = bytes,
                                      .slots_offset = sizeof *header,
                                      .frames_offset = frames,
                                      .frame_stride = stride,
                                      .frame_bytes = sizeof(struct plx_frame) + 8192,
                                      .epoch = 1};
    struct plx_shm_slot *slot = (struct plx_shm_slot *)(header + 1);
    slot[1].lock = 2;
    header->newest = 1;
    header->status = PLX_STATE_RUNNING;
    struct plx_frame *frame = (struct plx_frame *)(void *)(memory + frames + stride);
    frame->sequence = 1;
    frame->bytes = sizeof *frame + 8192;
    frame->published_ns = plx_now_ns();
    frame->suspended_ns = plx_suspended_ns();
    frame->capture[PLX_LEFT].capture_ns = frame->published_ns;
    frame->fresh_ns = 24 * 3600 * PLX_NS_PER_S;
    frame->obstacle_count = 2;
    frame->calibration = (struct plx_calibration_info){500, 500, 32, 16, 32, 0.1};
    frame->plane[PLX_PLANE_LEFT] = (struct plx_plane){sizeof *frame, 64, 64, 32, 1, 0};
    frame->plane[PLX_PLANE_DISPARITY] = (struct plx_plane){sizeof *frame + 2048, 128, 64, 32, 2, 0};
    frame->plane[PLX_PLANE_HISTOGRAM] = (struct plx_plane){sizeof *frame + 6144, 256, 64, 8, 4, 0};
    *ret_bytes = bytes;
    return header;
}

/* Reads all that a view offers, as a program would; out of bounds is AddressSanitizer's to see (the image is on the heap). */
static inline unsigned shm_image_read(const struct plx_view *view)
{
    unsigned sum = 0;
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        const unsigned char *plane = view->plane[id];
        const struct plx_plane *layout = &view->layout[id];
        for (uint32_t y = 0; plane && y < layout->height; y++)
            for (uint64_t x = 0; x < (uint64_t)layout->width * layout->element; x++)
                sum += plane[(uint64_t)y * layout->pitch + x];
    }
    for (uint32_t i = 0; i < view->obstacle_count; i++)
        sum += view->frame->obstacle[i].label;
    const uint32_t at[] = {0, 1, 63, 64, UINT32_MAX};
    for (size_t i = 0; i < 25; i++) {
        float point[3] = {0};
        if (!plx_point(view, at[i / 5], at[i % 5], point) && (!isfinite(point[0]) || !isfinite(point[1]) || !(point[2] > 0)))
            abort();
    }
    const struct plx_box box[] = {{.width = INT32_MAX, .height = INT32_MAX}, {.x = 3, .y = 1, .width = 20, .height = 9}};
    for (size_t i = 0; i < 2; i++) {
        struct plx_location found;
        const bool is_known = plx_locate(view, &box[i], 1, &found) == 0 && found.state == PLX_LOCATION_KNOWN;
        if (is_known && !(found.distance_m > 0))
            abort();
    }
    return sum + (plx_age_ns(view->frame) < 0);
}

#endif
