/* SPDX-License-Identifier: Apache-2.0 */
/* How old a picture is, in words. */
#ifndef PLX_APP_CLI_LIVE_AGE_H
#define PLX_APP_CLI_LIVE_AGE_H

#include <stddef.h>
#include <stdint.h>

#define PLX_DURATION_TEXT 32 /* bytes for any age */

/* "48 ms", "7.3 s", "4 min 12 s", "2 h 5 min", "3 d 4 h"; "unknown time" for INT64_MAX, as plx_age_ns has it. */
void plx_duration_text(int64_t age_ns, char *ret_text, size_t size);

#endif
