/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline of the service, in this process. */
#ifndef PLX_APP_CLI_OFFLINE_LOCAL_PIPELINE_H
#define PLX_APP_CLI_OFFLINE_LOCAL_PIPELINE_H

#include <stdint.h>

#include <parallax/frame.h>

#include "config/config.h"

struct plx_local_pipeline;

/* For 8-bit grey pairs of WIDTH x HEIGHT. CALIBRATION NULL: the pairs are rectified, and results in metres have no meaning.
 * CONFIG chooses the backend. Errors with a sentence. */
int plx_local_pipeline_create(int width, int height, const struct plx_pipeline_params *params,
                              const struct plx_stereo_calibration *calibration, const struct plx_config *config,
                              struct plx_local_pipeline **ret_pipeline, struct plx_error_message *message);
void plx_local_pipeline_destroy(struct plx_local_pipeline *local); /* NULL is fine */

/* As plx_pipeline_save and plx_pipeline_restore. */
void plx_local_pipeline_save(struct plx_local_pipeline *local, struct plx_pipeline_state *ret_state);
int plx_local_pipeline_restore(struct plx_local_pipeline *local, const struct plx_pipeline_state *state);
const struct plx_stereo_calibration *plx_local_pipeline_calibration(const struct plx_local_pipeline *local);

/* LEFT and RIGHT: U8, of the size given to create. LOCAL owns *ret_frame, which is valid until the next call. */
int plx_local_pipeline_process(struct plx_local_pipeline *local, const struct plx_image *left, const struct plx_image *right,
                               int64_t capture_ns, struct plx_frame **ret_frame);

#endif
