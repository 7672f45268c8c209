/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/labels.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "app/cli/draw.h"
#include "app/cli/frame_text.h"

static int clamp(int64_t value, int64_t least, int64_t most)
{
    return (int)(value > most ? most : value < least ? least : value);
}

static bool is_free(const struct plx_label *label, const struct plx_label *placed, int count)
{
    for (int i = 0; i < count; i++)
        if (label->x < placed[i].x + placed[i].width && placed[i].x < label->x + label->width &&
            label->y < placed[i].y + placed[i].height && placed[i].y < label->y + label->height)
            return false;
    return true;
}

/* Moves LABEL to a free row as near to its wish Y as possible; false if its columns are full. */
static bool find_row(struct plx_label *label, int64_t y, int height, const struct plx_label *placed, int count)
{
    const int most = height - label->height, wish = clamp(y, 0, most);
    for (int step = 0; step <= most; step++)
        for (int side = -1; side <= 1; side += 2) {
            label->y = wish + side * step;
            if (label->y >= 0 && label->y <= most && is_free(label, placed, count))
                return true;
        }
    return false;
}

int plx_place_labels(const struct plx_frame *frame, int width, int height, int scale, struct plx_label ret[PLX_MAX_OBSTACLES])
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    const int seen = plx_obstacles_by_distance(frame, sorted);
    int count = 0;
    for (int i = 0; i < seen; i++) {
        const struct plx_obstacle *o = sorted[i];
        struct plx_label label = {.obstacle = o};
        snprintf(label.text, sizeof label.text, "#%u %.1fm", o->track, (double)o->nearest_m);
        plx_text_size(scale, label.text, &label.width, &label.height);
        if (label.width > width || label.height > height)
            continue;
        label.x = clamp(o->x, 0, width - label.width);
        label.y = clamp((int64_t)o->y - label.height, 0, height - label.height);
        if (!is_free(&label, ret, count))
            label.y = clamp((int64_t)o->y + o->height, 0, height - label.height);
        if (is_free(&label, ret, count) || find_row(&label, (int64_t)o->y - label.height, height, ret, count))
            ret[count++] = label;
    }
    return count;
}
