/* SPDX-License-Identifier: Apache-2.0 */
/* The two faces of `parallax watch`: a screen that is redrawn, and plain lines. */
#ifndef PLX_APP_CLI_LIVE_WATCH_H
#define PLX_APP_CLI_LIVE_WATCH_H

#include <stdbool.h>

#include "app/cli/live/frame_stats.h"

struct plx_printed_track {
    uint32_t track;
    float nearest_m; /* when it was last printed */
};

struct plx_watch {
    int64_t started_ns;
    int state;       /* enum plx_state now */
    uint32_t health; /* enum plx_health bits now */
    bool any;        /* a frame is known, however old */
    bool on_gpu;
    struct plx_frame frame;
    struct plx_frame_stats recent, total; /* since the last report, since the start */
    struct plx_printed_track seen[PLX_MAX_OBSTACLES];
    int seen_count;
};

#define PLX_WATCH_FAULTS 640

/* The faults in words, and what must be known of the pictures beside them: "no faults; simulated pictures". */
void plx_watch_faults(const struct plx_watch *watch, char ret_text[PLX_WATCH_FAULTS]);

/* To standard output, where no frame came: "no frames, the last picture is 7.3 s old" */
void plx_watch_print_age(const struct plx_watch *watch);

/* The screen: begin and end switch to it and back. */
void plx_watch_screen_begin(void);
void plx_watch_screen(const struct plx_watch *watch);
void plx_watch_screen_end(void);

/* Lines: the numbers of the last second, what is new among the obstacles of the frame, and at the end the numbers of all. */
void plx_watch_line(const struct plx_watch *watch);
void plx_watch_changes(struct plx_watch *watch);
void plx_watch_summary(const struct plx_watch *watch);

#endif
