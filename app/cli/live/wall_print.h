/* SPDX-License-Identifier: Apache-2.0 */
/* What `parallax wall` prints: of one distance, and of several together. */
#ifndef PLX_APP_CLI_LIVE_WALL_PRINT_H
#define PLX_APP_CLI_LIVE_WALL_PRINT_H

#include "app/evaluate/wall_result.h"
#include "core/base/text.h"

#define PLX_WALL_MAX_FILES 32

void plx_wall_print(const struct plx_wall_result *result);
void plx_wall_print_json(const struct plx_wall_result *result);

/* A file that plx_wall_print_json made, as far as the next functions need it: fill, noise, disparities, verdict, what is
 * missing. NOT_FOUND, PERMISSION, IO, FORMAT, with a sentence. */
int plx_wall_read(const char *path, struct plx_wall_result *ret_result, struct plx_error_message *message);

/* COUNT results at different distances together, and how their bias splits; NAN: it does not. */
struct plx_wall_series {
    struct plx_wall_result result[PLX_WALL_MAX_FILES];
    int count;
    double offset_px, scale;
    enum plx_wall_verdict verdict;
    unsigned missing; /* bits of enum plx_wall_missing */
};

void plx_wall_judge_series(struct plx_wall_series *series);
void plx_wall_print_series(const struct plx_wall_series *series);
void plx_wall_print_series_json(const struct plx_wall_series *series);

#endif
