/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker's arithmetic on doubles, which every backend shares: flow.h says what for. */
#ifndef PLX_CORE_MOTION_FLOW_STEP_H
#define PLX_CORE_MOTION_FLOW_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/both.h"
#include "core/base/image.h"

#define PLX_FLOW_WINDOW 12    /* side, pixels of each level */
#define PLX_FLOW_ONE 128      /* bilinear factors: 7 bits */
#define PLX_FLOW_VALUE_BITS 5 /* fraction of a sample */
#define PLX_FLOW_PIXELS (PLX_FLOW_WINDOW * PLX_FLOW_WINDOW)
#define PLX_FLOW_MAX_STEPS 8
#define PLX_FLOW_STOP_PX 0.01        /* a smaller step is the last */
#define PLX_FLOW_STOP_COARSE_PX 0.04 /* likewise at coarse levels, which the next level refines */
#define PLX_FLOW_MAX_DIFFERENCE 20   /* grey levels, mean of absolute values */

/* The structure tensor of a window's gradients less their means, times PLX_FLOW_PIXELS, and the sums of the gradients. */
struct plx_flow_tensor {
    double xx, xy, yy;
    double inverse; /* 1 / determinant; 0: it is singular, there is texture in at most one direction */
    int32_t sum_x, sum_y;
};

PLX_BOTH struct plx_flow_tensor plx_flow_tensor_of(int64_t xx, int64_t xy, int64_t yy, int32_t sum_x, int32_t sum_y)
{
    struct plx_flow_tensor tensor;
    tensor.xx = (double)(PLX_FLOW_PIXELS * xx - (int64_t)sum_x * sum_x);
    tensor.xy = (double)(PLX_FLOW_PIXELS * xy - (int64_t)sum_x * sum_y);
    tensor.yy = (double)(PLX_FLOW_PIXELS * yy - (int64_t)sum_y * sum_y);
    const double determinant = tensor.xx * tensor.yy - tensor.xy * tensor.xy;
    tensor.inverse = determinant > 0 ? 1 / determinant : 0;
    tensor.sum_x = sum_x;
    tensor.sum_y = sum_y;
    return tensor;
}

/* One Gauss-Newton step, in pixels. BX, BY: sums of the gradients times the differences of what is seen; SUM: the differences.
 */
PLX_BOTH void plx_flow_step(const struct plx_flow_tensor *tensor, int64_t bx, int64_t by, int32_t sum, double ret_step[2])
{
    const double x = (double)(PLX_FLOW_PIXELS * bx - (int64_t)sum * tensor->sum_x);
    const double y = (double)(PLX_FLOW_PIXELS * by - (int64_t)sum * tensor->sum_y);
    ret_step[0] = -2 * (tensor->yy * x - tensor->xy * y) * tensor->inverse; /* gradients are per 2 px */
    ret_step[1] = -2 * (tensor->xx * y - tensor->xy * x) * tensor->inverse;
}

/* Upper left pixel, in 1/128 px, of the window of SIZE pixels around POSITION; negative if that is far outside. */
PLX_BOTH int plx_flow_corner(double position, int size)
{
    const double corner = position - 0.5 * (size - 1);
    return corner >= 0 && corner < PLX_MAX_SIDE ? (int)(corner * PLX_FLOW_ONE + 0.5) : -1;
}

/* The middle of the window of SIZE pixels whose upper left one is CORNER. */
PLX_BOTH double plx_flow_middle(int corner, int size)
{
    return (double)corner / PLX_FLOW_ONE + 0.5 * (size - 1);
}

/* False if the window of SIZE pixels at (X, Y), 1/128 px, leaves an image. */
PLX_BOTH bool plx_flow_inside(int x, int y, int size, int width, int height)
{
    return x >= 0 && y >= 0 && x / PLX_FLOW_ONE + size < width && y / PLX_FLOW_ONE + size < height;
}

/* From coordinate P at full size to level N, and back. */
PLX_BOTH double plx_flow_at_level(double p, int n)
{
    return (p + 0.5) / (1 << n) - 0.5;
}

PLX_BOTH double plx_flow_from_level(double p, int n)
{
    return (p + 0.5) * (1 << n) - 0.5;
}

#endif
