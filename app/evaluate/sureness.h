/* SPDX-License-Identifier: Apache-2.0 */
/* Whether disparities are as sure as their frame says: the confidence plane and the table of errors against ground truth. */
#ifndef PLX_APP_EVALUATE_SURENESS_H
#define PLX_APP_EVALUATE_SURENESS_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"

#define PLX_SURENESS_CLASSES 10                                /* equally wide in probability */
#define PLX_SURENESS_CURVE 6                                   /* points of the sparsification curve */
extern const double plx_sureness_left_out[PLX_SURENESS_CURVE]; /* shares of the pixels, the least sure ones: 0, 0.05, .. 0.5 */

/* Pixels with ground truth, so that results of several images can be added. */
struct plx_sureness {
    uint64_t pixels[PLX_CONFIDENCES]; /* by their confidence: with a dense disparity, */
    uint64_t right[PLX_CONFIDENCES];  /* and within 1 px of the truth */
    uint64_t strict;                  /* with a strict disparity whose error is stated; */
    uint64_t in_sigma, in_bound;      /* the error is at most sigma_px, bound_px */
};

struct plx_sureness_figures {
    struct {
        double said, right; /* mean probability, and share that is right; NAN: no pixel */
        double share;       /* among all pixels with a statement */
    } class[PLX_SURENESS_CLASSES];
    double unknown;                   /* share of all pixels, without a statement */
    double sigma, bound;              /* share of the errors that they cover; NAN: no error is stated */
    double wrong[PLX_SURENESS_CURVE]; /* share of the pixels left that are wrong */
    double area, least_area;          /* under the sparsification curve; and if wrong pixels had the least confidence of all */
};

/* Adds the pixels of FRAME, which has the planes dense and confidence, where TRUTH (U16, pixels times TRUTH_SCALE, 0 = unknown)
 * is known and MASK (U8; NULL: everywhere) is 255. ARG if a plane is missing or sizes differ. */
int plx_sureness_add(struct plx_frame *frame, const struct plx_image *truth, double truth_scale, const struct plx_image *mask,
                     struct plx_sureness *sum);

/* Adds OTHER to SUM. */
void plx_sureness_join(const struct plx_sureness *other, struct plx_sureness *sum);

/* The sparsification curve: the share of wrong pixels among those left as the least sure ones are taken away (Ilg et al.:
 * Uncertainty Estimates and Multi-Hypotheses Networks for Optical Flow, 2018). */
void plx_sureness_figures(const struct plx_sureness *sum, struct plx_sureness_figures *ret_figures);

#endif
