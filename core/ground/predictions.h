/* SPDX-License-Identifier: Apache-2.0 */
/* What tracks say of a frame before it is computed: where the obstacles of the frame before will be seen. An input of the stage
 * segments, in integers, so that every backend reads the same bits. */
#ifndef PLX_CORE_GROUND_PREDICTIONS_H
#define PLX_CORE_GROUND_PREDICTIONS_H

#include <stdint.h>

#include <parallax/frame.h>

/* The predicted box of one obstacle, with margins: pixels, both ends included, also outside of the image; disparities in 1/16
 * px above that of infinity, both ends included. */
struct plx_predicted_box {
    int32_t left, right, top, bottom;
    int32_t far_disparity, near_disparity;
};

struct plx_predictions {
    int32_t count;
    struct plx_predicted_box box[PLX_MAX_OBSTACLES];
};

#endif
