/* SPDX-License-Identifier: Apache-2.0 */
/* The rows' differences of matches as a picture, before and after a correction. */
#ifndef PLX_APP_CORRECTIONS_RESIDUALS_H
#define PLX_APP_CORRECTIONS_RESIDUALS_H

#include "core/drift/job.h"

/* Writes an SVG of two panels: each match as an arrow, 25 times as long as its rows differ. IO. */
int plx_residuals_write(const char *path, const struct plx_correction_evidence *evidence, struct plx_error_message *message);

#endif
