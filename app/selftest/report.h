/* SPDX-License-Identifier: Apache-2.0 */
/* Results for people and machines: TAP 14 (testanything.org) and JUnit's XML as common tools read it. */
#ifndef PLX_APP_SELFTEST_REPORT_H
#define PLX_APP_SELFTEST_REPORT_H

#include <stdio.h>

#include "app/selftest/check.h"

struct check_result {
    const char *name;
    struct check_outcome outcome;
    double seconds;
};

void report_tap_begin(FILE *file, int count);
/* NUMBER counts from 1. Notes go after the line, as comments. */
void report_tap(FILE *file, int number, const struct check_result *result);

/* Writes PATH whole, through a file beside it. 0 or a negative errno. */
int report_junit(const char *path, const struct check_result *result, int count);

#endif
