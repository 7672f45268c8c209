/* SPDX-License-Identifier: Apache-2.0 */
#include "app/gpio/line.h"

#include <errno.h>
#include <gpiod.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

static const char consumer[] = "parallax-gpio"; /* what gpioinfo shows */

struct plx_gpio_line {
    struct gpiod_chip *chip;
    struct gpiod_line *line; /* belongs to CHIP and is gone with it */
};

static int fail_to_open(const char *chip, int number, struct plx_error_message *message)
{
    switch (number) {
    case EACCES:
    case EPERM:
        return plx_fail(message, PLX_ERR_PERMISSION,
                        "--chip %s: this user may not open it; add the user to the group that /dev/gpiochip* belongs to, or "
                        "give it one by a udev rule (verdict.md)",
                        chip);
    case ENODEV:
    case ENOTTY:
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "--chip %s: this is no GPIO chip; gpiodetect lists them", chip);
    default:
        /* libgpiod looks for a label in no chip, if it may not open every one. */
        return plx_fail(message, plx_error_of_errno(number),
                        "--chip %s: cannot be opened (%s); expected name, path or label of a chip as gpiodetect lists them; "
                        "labels are found only by a user who may open every chip",
                        chip, strerror(number));
    }
}

/* The line, or NULL with *ret_error set. */
static struct gpiod_line *find_line(struct gpiod_chip *chip, const char *name, int *ret_error,
                                    struct plx_error_message *message)
{
    const unsigned lines = gpiod_chip_num_lines(chip);
    struct gpiod_line *line;

    errno = 0;
    if (name[0] && strspn(name, "0123456789") == strlen(name)) {
        const unsigned long offset = strtoul(name, NULL, 10);
        if (errno || offset >= lines) {
            *ret_error = plx_fail(message, PLX_ERR_RANGE, "--line %s: %s (%s) has %u lines; expected 0 to %u, or a name", name,
                                  gpiod_chip_name(chip), gpiod_chip_label(chip), lines, lines - 1);
            return NULL;
        }
        line = gpiod_chip_get_line(chip, (unsigned)offset);
    } else {
        line = gpiod_chip_find_line(chip, name);
    }
    if (!line && (errno == ENOENT || errno == 0))
        *ret_error = plx_fail(message, PLX_ERR_NOT_FOUND, "--line %s: %s (%s) has no line of this name; gpioinfo %s lists them",
                              name, gpiod_chip_name(chip), gpiod_chip_label(chip), gpiod_chip_name(chip));
    else if (!line)
        *ret_error = plx_fail(message, plx_error_of_errno(errno), "--line %s: %s tells nothing of it: %s", name,
                              gpiod_chip_name(chip), strerror(errno));
    return line;
}

static int fail_to_request(const struct plx_gpio_line *line, const char *name, int number, struct plx_error_message *message)
{
    const char *chip = gpiod_chip_name(line->chip), *user = gpiod_line_consumer(line->line);

    switch (number) {
    case EBUSY:
        return plx_fail(message, PLX_ERR_BUSY, "--line %s: the line of %s is taken by \"%s\"; end that, or choose another line",
                        name, chip, user ? user : "the kernel");
    case EACCES:
    case EPERM:
        return plx_fail(message, PLX_ERR_PERMISSION, "--line %s: this user may not take the line of %s (%s)", name, chip,
                        strerror(number));
    case ENOMEM:
        return plx_fail(message, PLX_ERR_NOMEM, "out of memory");
    default:
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "--line %s: the line of %s cannot be an output (%s); choose one that is no input and no interrupt",
                        name, chip, strerror(number));
    }
}

int plx_gpio_line_open(const char *chip, const char *line, struct plx_gpio_line **ret_line, struct plx_error_message *message)
{
    int result = 0;
    struct plx_gpio_line *opened = calloc(1, sizeof *opened);
    if (!opened)
        return plx_fail(message, PLX_ERR_NOMEM, "out of memory");

    opened->chip = gpiod_chip_open_lookup(chip);
    if (!opened->chip) {
        result = fail_to_open(chip, errno, message);
        goto fail;
    }
    opened->line = find_line(opened->chip, line, &result, message);
    if (!opened->line)
        goto fail;
    if (gpiod_line_request_output(opened->line, consumer, 0) < 0) {
        result = fail_to_request(opened, line, errno, message);
        goto fail;
    }
    *ret_line = opened;
    return 0;

fail:
    if (opened->chip)
        gpiod_chip_close(opened->chip);
    free(opened);
    return result;
}

int plx_gpio_line_set(struct plx_gpio_line *line, bool high, struct plx_error_message *message)
{
    if (gpiod_line_set_value(line->line, high) == 0)
        return 0;
    return plx_fail(message, PLX_ERR_IO, "line %u of %s: cannot be set: %s", gpiod_line_offset(line->line),
                    gpiod_chip_name(line->chip), strerror(errno));
}

void plx_gpio_line_close(struct plx_gpio_line *line)
{
    if (!line)
        return;
    gpiod_line_set_value(line->line, 0);
    gpiod_chip_close(line->chip); /* releases the line */
    free(line);
}
