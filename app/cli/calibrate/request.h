/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of `parallax calibrate` asks for. */
#ifndef PLX_APP_CLI_CALIBRATE_REQUEST_H
#define PLX_APP_CLI_CALIBRATE_REQUEST_H

#include "app/calibrate/outcome.h"
#include "app/options.h"

#define PLX_CALIBRATE "parallax calibrate"

struct plx_calibrate_request {
    const char *chess, *tags, *model_word, *output, *config, *socket; /* as given */
    double square_m, gap_m;
    bool json, live, install;
    struct plx_option_list set;

    struct plx_board board; /* what they say */
    enum plx_distortion model;
};

/* One line on standard error. Returns the exit code. */
int plx_calibrate_fail(int error, const struct plx_error_message *message);

/* Takes pairs from the service until they suffice. Returns the exit code. */
int plx_calibrate_live(const struct plx_calibrate_request *request);

/* Fits BOARDS, writes the file, installs it if asked to, and prints the result. NUMBER [boards->count]: of each kept pair, for
 * people (NULL: 1, 2, ...); PAIRS: those that were looked at; LEFT_OUT: why others were not kept, or "". Returns the exit code.
 */
int plx_calibrate_finish(const struct plx_calibrate_request *request, const struct plx_boards *boards, const int *number,
                         int pairs, const char *left_out);

#endif
