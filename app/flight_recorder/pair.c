/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flight_recorder/pair.h"

#include <stdbool.h>
#include <string.h>

#define ALIGN 64
#define HEADER_BYTES ((sizeof(struct plx_frame) + ALIGN - 1) / ALIGN * ALIGN)

static const enum plx_plane_id kept[PLX_EYES] = {PLX_PLANE_LEFT, PLX_PLANE_RIGHT};

/* Bytes of the image without gaps between its rows; 0: there is none of the left one's size. */
static size_t image_bytes(const struct plx_view *view, enum plx_eye eye)
{
    const struct plx_plane *left = &view->layout[PLX_PLANE_LEFT], *plane = &view->layout[kept[eye]];
    const bool fits = plane->element == 1 && plane->width == left->width && plane->height == left->height;
    return view->plane[kept[eye]] && fits ? (size_t)plane->width * plane->height : 0;
}

size_t plx_pair_bytes(const struct plx_view *view)
{
    const size_t left = image_bytes(view, PLX_LEFT);
    return left == 0 ? 0 : HEADER_BYTES + left + image_bytes(view, PLX_RIGHT);
}

void plx_pair_copy(const struct plx_view *view, void *memory)
{
    struct plx_frame *pair = memory;
    size_t at = HEADER_BYTES;

    memcpy(pair, view->frame, sizeof *pair);
    memset(pair->plane, 0, sizeof pair->plane);
    pair->width = view->layout[PLX_PLANE_LEFT].width;
    pair->height = view->layout[PLX_PLANE_LEFT].height;
    pair->obstacle_count = view->obstacle_count;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_plane *from = &view->layout[kept[eye]];
        const size_t bytes = image_bytes(view, (enum plx_eye)eye);
        if (bytes == 0)
            continue;
        for (uint32_t y = 0; y < from->height; y++)
            memcpy((uint8_t *)memory + at + (size_t)y * from->width,
                   (const uint8_t *)view->plane[kept[eye]] + (size_t)y * from->pitch, from->width);
        pair->plane[kept[eye]] = (struct plx_plane){
            .offset = (uint32_t)at, .pitch = from->width, .width = from->width, .height = from->height, .element = 1};
        at += bytes;
    }
    pair->bytes = (uint32_t)at;
}
