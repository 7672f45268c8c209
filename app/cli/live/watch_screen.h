/* SPDX-License-Identifier: Apache-2.0 */
/* The screen of `parallax watch`. */
#ifndef PLX_APP_CLI_LIVE_WATCH_SCREEN_H
#define PLX_APP_CLI_LIVE_WATCH_SCREEN_H

#include "app/view/status.h"
#include "core/tracks/confirmed.h"

void plx_watch_screen_begin(void);
/* BEFORE: of the frame before that of STATUS. */
void plx_watch_screen(const struct plx_status *status, const struct plx_confirmed *before);
void plx_watch_screen_end(void); /* restores the terminal */

#endif
