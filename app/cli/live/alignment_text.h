/* SPDX-License-Identifier: Apache-2.0 */
/* How well the rows of both images match, for people and programs. */
#ifndef PLX_APP_CLI_LIVE_ALIGNMENT_TEXT_H
#define PLX_APP_CLI_LIVE_ALIGNMENT_TEXT_H

#include <stddef.h>

#include <cjson/cJSON.h>
#include <parallax/frame.h>

#define PLX_ALIGNMENT_TEXT 160 /* bytes: room for one line */

/* "8.1 px off, no depth can be trusted: calibrate again (pitch 0.72 deg, roll 0.00 deg, scale 1.0001)". The further rows are
 * off, the more it says. */
void plx_alignment_text(const struct plx_alignment_info *alignment, char *ret_text, size_t size);

/* An object; null where it is not measured. The caller's. */
cJSON *plx_alignment_json(const struct plx_alignment_info *alignment);

#endif
