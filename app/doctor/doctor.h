/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the installation of this robot: one finding for each thing that is looked at. `parallax doctor` prints
 * them. Nothing is changed, and root is not needed. */
#ifndef PLX_APP_DOCTOR_DOCTOR_H
#define PLX_APP_DOCTOR_DOCTOR_H

#include <stdbool.h>

/* In the order in which one counts more than another. */
enum doctor_state {
    DOCTOR_NOT_APPLICABLE, /* this robot does not have it */
    DOCTOR_GOOD,
    DOCTOR_UNKNOWN, /* it could not be looked at; never taken for good */
    DOCTOR_DOUBTFUL,
    DOCTOR_BAD
};

/* Plain data without pointers: a check runs in its own process and sends it. */
struct doctor_finding {
    enum doctor_state state; /* the worst of what was found */
    char found[1024];        /* a line for each thing */
    char advice[2048];       /* likewise, what to do; "": nothing */
};

struct doctor_request {
    const char *root;        /* directory of /proc, /sys, /etc: "", except in tests */
    const char *config_path; /* NULL: the default path, which may be missing */
    const char *socket;      /* as plx_connect takes it */
    bool all;                /* also checks what this machine does not have installed */
};

struct doctor_row {
    const char *name; /* in static storage */
    struct doctor_finding finding;
};

#define DOCTOR_ROWS 15

/* Fills RET_ROW. Takes some seconds at most: a check that hangs is given up. */
void doctor_examine(const struct doctor_request *request, struct doctor_row ret_row[DOCTOR_ROWS]);

enum doctor_state doctor_worst(const struct doctor_row row[DOCTOR_ROWS]);

const char *doctor_state_word(enum doctor_state state); /* "not applicable" */

/* PLX_EXIT_OK, PLX_EXIT_FAILURE if something is bad, PLX_EXIT_DOUBT if something is doubtful or unknown. */
int doctor_exit_code(enum doctor_state worst);

#endif
