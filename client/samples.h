/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels of a box, evenly spread: what the planes of a view say of each. Internal to the library. */
#ifndef PLX_CLIENT_SAMPLES_H
#define PLX_CLIENT_SAMPLES_H

#include <stdbool.h>

#include <parallax/client.h>

#define PLX_SAMPLE_LINES 40 /* most rows, and most columns, of the samples of a box */
#define PLX_MAX_SAMPLES (PLX_SAMPLE_LINES * PLX_SAMPLE_LINES)

/* Checked copies of what all boxes of a view share. */
struct plx_sampler {
    const struct plx_view *view;
    struct plx_calibration_info calibration;
    enum plx_plane_id disparity; /* the plane that is read: DENSE, else DISPARITY */
    uint32_t width, height;      /* size of that plane */
    double infinity_px;          /* disparity of infinity, less min_disparity */
    bool has_confidence, has_filled, has_labels, has_stixels;
    float sigma_px[PLX_CONFIDENCES]; /* standard deviation of a disparity by its confidence; 0: not known */
    bool has_ground;
    float ground[3];       /* disparity of the ground at (x, y), px above infinity: [0] x + [1] y + [2] */
    float camera_height_m; /* above that ground */
};

struct plx_sample {
    float disparity_px; /* above infinity */
    uint16_t weight;
    uint8_t column, row; /* among the lines of the samples */
    uint8_t confidence;
    bool is_filled;
};

struct plx_samples {
    int32_t x[PLX_SAMPLE_LINES], y[PLX_SAMPLE_LINES]; /* pixel of each column and row */
    int columns, rows;
    uint32_t asked; /* samples that the mask lets count */
    /* Weight of all with a disparity, of those that are no ground, and of those that are beyond reach as well. */
    uint64_t valid_weight, weight, far_weight;
    int count;
    struct plx_sample sample[PLX_MAX_SAMPLES]; /* no ground, within reach */
};

/* False if VIEW has no disparity, or no calibration. */
bool plx_sampler_init(const struct plx_view *view, struct plx_sampler *ret_sampler);

/* False if no pixel of BOX lies in the picture. */
bool plx_samples_take(const struct plx_sampler *sampler, const struct plx_box *box, struct plx_samples *ret_samples);

#endif
