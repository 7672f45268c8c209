/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes that a page has drawn into the left picture, and where the things in them are. */
#ifndef PLX_APP_WEB_BOXES_H
#define PLX_APP_WEB_BOXES_H

#include <cjson/cJSON.h>
#include <parallax/client.h>

#define PLX_WEB_MAX_BOXES 16
#define PLX_WEB_BOXES_EXPECTED "expected at most 16 boxes, each [x, y, width, height] in whole pixels, none of them empty"

struct plx_web_boxes {
    struct plx_box box[PLX_WEB_MAX_BOXES];
    uint32_t count;
};

/* Reads LIST, what a page has sent. ARG: it is not PLX_WEB_BOXES_EXPECTED. */
int plx_web_boxes_read(const cJSON *list, struct plx_web_boxes *ret_boxes);

/* A new item, the caller's: {"sequence", "boxes": [...]} with the place of each box in FRAME, a whole copy; a box as `parallax
 * locate --json` has it, and "reason", words, where its place is unknown. */
cJSON *plx_web_boxes_locate(const struct plx_web_boxes *boxes, const struct plx_frame *frame);

#endif
