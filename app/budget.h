/* SPDX-License-Identifier: Apache-2.0 */
/* The health table: how long each stage and camera may go without progress, and which flag says that it is late. */
#ifndef PLX_APP_BUDGET_H
#define PLX_APP_BUDGET_H

#include <stdint.h>

#include "core/heartbeat.h"

/* PACE_NS is the time from one pair to the next, or what one takes if that is more. WHAT is an enum plx_watched; another
 * number is judged as the start. */
int64_t plx_budget_warn_ns(int what, int64_t pace_ns);  /* after that it is flagged */
int64_t plx_budget_fatal_ns(int what, int64_t pace_ns); /* after that the engine is replaced */
int64_t plx_budget_fresh_ns(int64_t pace_ns);           /* for so long after its publication a frame is news */
uint32_t plx_budget_health(int what);                   /* the flag, an enum plx_health */
const char *plx_budget_name(int what);                  /* "stage sgm"; static storage */
const char *plx_budget_thread(int thread);              /* of an enum plx_thread: "the working thread"; static storage */

#endif
