/* SPDX-License-Identifier: Apache-2.0 */
/* What a measurement before a wall says, for the command and for the page: its verdict with advice, its JSON. */
#ifndef PLX_APP_EVALUATE_WALL_RESULT_H
#define PLX_APP_EVALUATE_WALL_RESULT_H

#include <cjson/cJSON.h>

#include "app/evaluate/wall.h"

#define PLX_WALL_WORD_BYTES 24

struct plx_wall_result {
    struct plx_wall_report report;
    double distance_m; /* by tape; NAN: none */
    double rows_px;    /* median difference of the rows; NAN: not measured */
    struct plx_wall_light light;
    uint32_t source; /* enum plx_source_type */
    enum plx_wall_verdict verdict;
};

const char *plx_wall_part_name(int part); /* "upper left" */

/* Bias of PART, which has its offset in it; NAN without a distance. */
double plx_wall_part_bias_px(const struct plx_wall_report *report, int part);
double plx_wall_part_bias_percent(const struct plx_wall_report *report, int part);

void plx_wall_verdict_word(enum plx_wall_verdict verdict, char ret_word[PLX_WALL_WORD_BYTES]); /* "calibrate_again" */

/* What to do now; NULL: nothing. */
const char *plx_wall_advice(const struct plx_wall_result *result);

/* What `parallax wall --json` prints. The caller's. */
cJSON *plx_wall_json(const struct plx_wall_result *result);

#endif
