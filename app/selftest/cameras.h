/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a source of pictures: checks of any source, used on the configured cameras. */
#ifndef PLX_APP_SELFTEST_CAMERAS_H
#define PLX_APP_SELFTEST_CAMERAS_H

#include "app/selftest/check.h"
#include "core/source.h"

/* For SECONDS: the rate that SOURCE promises, both eyes at the same time within TOLERANCE_NS, nothing lost. */
void check_source_pairs(struct plx_source *source, int64_t tolerance_ns, int seconds, struct check_outcome *ret);

/* A longer exposure makes brighter pictures. STAGES must reach the source's buffers and hold a picture. */
void check_source_control(struct plx_source *source, struct plx_stages *stages, struct check_outcome *ret);

#endif
