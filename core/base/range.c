/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/range.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/text.h"

bool plx_range_contains(const struct plx_range *range, double value)
{
    if (range->number == PLX_NUMBER_CHOICE) {
        for (int i = 0; i < range->choices; i++)
            if (value == range->choice[i])
                return true;
        return false;
    }
    return value >= range->min && value <= range->max && (range->number != PLX_NUMBER_ODD || (int)value % 2 != 0);
}

void plx_range_text(const struct plx_range *range, char ret_text[PLX_RANGE_TEXT])
{
    static const char *const number[] = {
        [PLX_NUMBER_WHOLE] = "a whole number", [PLX_NUMBER_ODD] = "an odd number", [PLX_NUMBER_REAL] = "a number"};
    size_t used = 0;

    if (range->number != PLX_NUMBER_CHOICE) {
        snprintf(ret_text, PLX_RANGE_TEXT, "%s from %.10g to %.10g", number[range->number], range->min, range->max);
        return;
    }
    for (int i = 0; i < range->choices; i++) {
        const char *before = i == 0 ? "" : i + 1 < range->choices ? ", " : " or ";
        used += (size_t)snprintf(ret_text + used, PLX_RANGE_TEXT - used, "%s%d", before, range->choice[i]);
    }
}

const struct plx_range *plx_parameter_range(const struct plx_parameters *parameters, size_t offset)
{
    for (int i = 0; i < parameters->count; i++)
        if (parameters->list[i].offset == offset)
            return &parameters->list[i].range;
    return NULL;
}

static double read_value(const struct plx_parameter *parameter, const void *values)
{
    const void *field = (const char *)values + parameter->offset;
    double real;
    int whole;

    if (parameter->range.number == PLX_NUMBER_REAL) {
        memcpy(&real, field, sizeof real);
        return real;
    }
    memcpy(&whole, field, sizeof whole);
    return whole;
}

int plx_parameters_check(const struct plx_parameters *parameters, const void *values, struct plx_parameter_error *ret_error)
{
    for (int i = 0; i < parameters->count; i++) {
        const struct plx_parameter *parameter = &parameters->list[i];
        const double value = read_value(parameter, values);
        char text[PLX_RANGE_TEXT];
        if (plx_range_contains(&parameter->range, value))
            continue;
        plx_range_text(&parameter->range, text);
        return plx_parameter_refuse(ret_error, parameter->name, parameter->offset, value, "%s", text);
    }
    return 0;
}

int plx_parameter_refuse(struct plx_parameter_error *ret_error, const char *name, size_t offset, double value,
                         const char *expected, ...)
{
    if (ret_error) {
        va_list args;
        ret_error->name = name;
        ret_error->offset = offset;
        ret_error->value = value;
        va_start(args, expected);
        vsnprintf(ret_error->expected, sizeof ret_error->expected, expected, args);
        va_end(args);
    }
    return PLX_ERR_RANGE;
}

int plx_parameter_fail(struct plx_error_message *message, const struct plx_parameter_error *error)
{
    return plx_fail(message, PLX_ERR_RANGE, "%s is %g; expected %s", error->name, error->value, error->expected);
}
