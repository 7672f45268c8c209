/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flight_recorder/pair.h"

#include <stdbool.h>
#include <string.h>

#define ALIGN 64
#define HEADER_BYTES ((sizeof(struct plx_frame) + ALIGN - 1) / ALIGN * ALIGN)

#define KEPT 3

static const enum plx_plane_id kept[KEPT] = {PLX_PLANE_LEFT, PLX_PLANE_RIGHT, PLX_PLANE_COLOUR};

/* Bytes of the picture without gaps between its rows; 0: there is none of the left one's size. */
static size_t picture_bytes(const struct plx_view *view, enum plx_plane_id id)
{
    const struct plx_plane *left = &view->layout[PLX_PLANE_LEFT], *plane = &view->layout[id];
    const bool fits = plane->element == plx_plane_element(id) && plane->width == left->width && plane->height == left->height;
    return view->plane[id] && fits ? (size_t)plane->element * plane->width * plane->height : 0;
}

size_t plx_pair_bytes(const struct plx_view *view)
{
    size_t bytes = HEADER_BYTES;
    for (int i = 0; i < KEPT; i++)
        bytes += picture_bytes(view, kept[i]);
    return picture_bytes(view, PLX_PLANE_LEFT) == 0 ? 0 : bytes;
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
    for (int i = 0; i < KEPT; i++) {
        const enum plx_plane_id id = kept[i];
        const struct plx_plane *from = &view->layout[id];
        const uint32_t pitch = from->element * from->width;
        const size_t bytes = picture_bytes(view, id);
        if (bytes == 0)
            continue;
        for (uint32_t y = 0; y < from->height; y++)
            memcpy((uint8_t *)memory + at + (size_t)y * pitch, (const uint8_t *)view->plane[id] + (size_t)y * from->pitch,
                   pitch);
        pair->plane[id] = (struct plx_plane){
            .offset = (uint32_t)at, .pitch = pitch, .width = from->width, .height = from->height, .element = from->element};
        at += bytes;
    }
    pair->bytes = (uint32_t)at;
}
