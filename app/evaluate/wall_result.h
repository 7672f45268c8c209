/* SPDX-License-Identifier: Apache-2.0 */
/* What a measurement before a wall says, for the command and for the page: its verdict with advice, its JSON. */
#ifndef PLX_APP_EVALUATE_WALL_RESULT_H
#define PLX_APP_EVALUATE_WALL_RESULT_H

#include <cjson/cJSON.h>

#include "app/evaluate/wall.h"

#define PLX_WALL_WORD_BYTES 24
#define PLX_WALL_LINE_BYTES 96

struct plx_wall_result {
    struct plx_wall_report report;
    double distance_m; /* by tape; NAN: none */
    double rows_px;    /* median difference of the rows; NAN: not measured */
    struct plx_wall_light light;
    uint32_t source; /* enum plx_source_type */
    enum plx_wall_verdict verdict;
    unsigned missing; /* bits of enum plx_wall_missing */
};

const char *plx_wall_part_name(int part); /* "upper left" */

/* Bias of PART, which has its offset in it; NAN without a distance. */
double plx_wall_part_bias_px(const struct plx_wall_report *report, int part);
double plx_wall_part_bias_percent(const struct plx_wall_report *report, int part);

void plx_wall_verdict_word(enum plx_wall_verdict verdict, char ret_word[PLX_WALL_WORD_BYTES]); /* "calibrate_again" */

/* "unproven: good as far as measured; not measured: bias, rows" */
void plx_wall_verdict_line(enum plx_wall_verdict verdict, unsigned missing, char ret_line[PLX_WALL_LINE_BYTES]);

/* What is MISSING, as words, "rows"; and back, false: an item is no such word. The list is the caller's. */
cJSON *plx_wall_missing_json(unsigned missing);
bool plx_wall_missing_read(const cJSON *list, unsigned *ret_missing);

/* What to do now; NULL: nothing. */
const char *plx_wall_advice(const struct plx_wall_result *result);

/* What `parallax wall --json` prints. The caller's. */
cJSON *plx_wall_json(const struct plx_wall_result *result);

#endif
