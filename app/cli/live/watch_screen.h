/* SPDX-License-Identifier: Apache-2.0 */
/* The screen of `parallax watch`. */
#ifndef PLX_APP_CLI_LIVE_WATCH_SCREEN_H
#define PLX_APP_CLI_LIVE_WATCH_SCREEN_H

#include "app/view/status.h"

void plx_watch_screen_begin(void);
void plx_watch_screen(const struct plx_status *status);
void plx_watch_screen_end(void); /* restores the terminal */

#endif
