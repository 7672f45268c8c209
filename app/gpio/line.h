/* SPDX-License-Identifier: Apache-2.0 */
/* One output line of a GPIO chip, by libgpiod 1. */
#ifndef PLX_APP_GPIO_LINE_H
#define PLX_APP_GPIO_LINE_H

#include <stdbool.h>

#include "core/base/text.h"

struct plx_gpio_line;

/* Takes LINE (an offset, or a name) of CHIP (name, path, label or number) as an output at low. *ret_line belongs to the caller
 * until plx_gpio_line_close. Errors, each with what to do: NOT_FOUND (no such chip or name), RANGE (offset), PERMISSION, BUSY
 * (somebody else has the line), UNSUPPORTED (no GPIO chip, or the line cannot be an output), NOMEM, IO. */
int plx_gpio_line_open(const char *chip, const char *line, struct plx_gpio_line **ret_line, struct plx_error_message *message);

/* Drives the line high or low. Errors: IO (the chip is gone). */
int plx_gpio_line_set(struct plx_gpio_line *line, bool high, struct plx_error_message *message);

/* Drives the line low and gives it back; NULL is fine. What the line does afterwards is the chip's: most keep the level. */
void plx_gpio_line_close(struct plx_gpio_line *line);

#endif
