/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges of parameters, each stated once: for the checks here, and for the configuration and its documentation. */
#ifndef PLX_CORE_BASE_RANGE_H
#define PLX_CORE_BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>

struct plx_error_message;

enum plx_number { PLX_NUMBER_WHOLE, PLX_NUMBER_ODD, PLX_NUMBER_CHOICE, PLX_NUMBER_REAL };

struct plx_range {
    enum plx_number number;
    double min, max;
    int choices, choice[3]; /* CHOICE: the only values */
};

/* Initializers of a member `range`. */
#define PLX_WHOLE(least, most) .range.number = PLX_NUMBER_WHOLE, .range.min = (least), .range.max = (most)
#define PLX_ODD(least, most) .range.number = PLX_NUMBER_ODD, .range.min = (least), .range.max = (most)
#define PLX_REAL(least, most) .range.number = PLX_NUMBER_REAL, .range.min = (least), .range.max = (most)
#define PLX_CHOICE(count, ...) .range.number = PLX_NUMBER_CHOICE, .range.choices = (count), .range.choice = {__VA_ARGS__}

/* One field of a struct of parameters: a double if its range is REAL, else an int or an enum. */
struct plx_parameter {
    const char *name;
    size_t offset; /* bytes */
    struct plx_range range;
};

/* All fields of a struct that have a range. */
struct plx_parameters {
    const struct plx_parameter *list;
    int count;
};

/* The parameter that is out of its range. */
struct plx_parameter_error {
    const char *name; /* static storage */
    size_t offset;    /* the field's place in the struct that was checked, bytes; SIZE_MAX: it is no field of that struct */
    double value;
    char expected[160]; /* in words: "a whole number from 0 to 120" */
};

/* False also for NAN. */
bool plx_range_contains(const struct plx_range *range, double value);

/* RANGE in words: "an odd number from 1 to 31", "64, 128 or 256". */
#define PLX_RANGE_TEXT 64
void plx_range_text(const struct plx_range *range, char ret_text[PLX_RANGE_TEXT]);

/* The range of the field at OFFSET, or NULL. */
const struct plx_range *plx_parameter_range(const struct plx_parameters *parameters, size_t offset);

/* RANGE, with the first parameter in *ret_error (NULL is fine), if a field of VALUES is out of its range. */
int plx_parameters_check(const struct plx_parameters *parameters, const void *values, struct plx_parameter_error *ret_error);

/* Fills *ret_error (NULL is fine) and returns RANGE. */
int plx_parameter_refuse(struct plx_parameter_error *ret_error, const char *name, size_t offset, double value,
                         const char *expected, ...) __attribute__((format(printf, 5, 6)));

/* Writes ERROR with the name of its field, and returns RANGE. */
int plx_parameter_fail(struct plx_error_message *message, const struct plx_parameter_error *error);

#endif
