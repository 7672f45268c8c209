/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a user says about the cameras, without opening any. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <parallax/error.h>

#include "drivers/v4l2/format.h"
#include "drivers/v4l2/v4l2.h"

#define LIST 256 /* bytes: all names of formats */

static void list_formats(char ret_text[LIST])
{
    size_t used = 0;
    for (int i = 0; i < plx_v4l2_format_count; i++) {
        char name[5];
        plx_v4l2_fourcc_text(plx_v4l2_formats[i].fourcc, name);
        used += (size_t)snprintf(ret_text + used, LIST - used, "%s%s", i > 0 ? " " : "", name);
    }
}

static int check_format(const char *format, struct plx_error_message *message)
{
    char known[LIST];
    if (format[0] == '\0' || plx_v4l2_format_find(plx_v4l2_fourcc_parse(format)))
        return 0;
    list_formats(known);
    return plx_fail(message, PLX_ERR_RANGE, "source.format is \"%s\"; expected nothing, or one of %s", format, known);
}

/* Whether both texts name one and the same camera, as far as that is known without opening it: two links may lead to it. */
static bool is_same_camera(const char *left, const char *right)
{
    struct stat a, b;
    if (strcmp(left, right) == 0)
        return true;
    return left[0] == '/' && right[0] == '/' && stat(left, &a) == 0 && stat(right, &b) == 0 && S_ISCHR(a.st_mode) &&
           S_ISCHR(b.st_mode) && a.st_rdev == b.st_rdev;
}

int plx_v4l2_check(const struct plx_camera_options *options, const char **ret_key, struct plx_error_message *message)
{
    static const char *const key[PLX_EYES] = {"source.left", "source.right"};
    const char *left = options->camera[PLX_LEFT], *right = options->camera[PLX_RIGHT];
    struct plx_v4l2_rule rule;

    for (int eye = 0; eye < PLX_EYES; eye++)
        if (options->camera[eye][0] != '\0' && plx_v4l2_rule_parse(options->camera[eye], &rule, message) < 0) {
            *ret_key = key[eye];
            return PLX_ERR_RANGE;
        }
    if (is_same_camera(left, right)) {
        *ret_key = "source.right";
        return plx_fail(
            message, PLX_ERR_RANGE,
            "source.right is the same camera as source.left, \"%s\"; expected another one, or an empty source.right "
            "for a camera that gives both eyes side by side",
            left);
    }
    const int result = check_format(options->format, message);
    if (result < 0)
        *ret_key = "source.format";
    return result;
}
