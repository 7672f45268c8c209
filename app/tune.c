/* SPDX-License-Identifier: Apache-2.0 */
#include "app/tune.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/version.h"
#include "config/yaml.h"
#include "gpu/gpu.h"

#define WORDS 512 /* bytes of a value */

/* The keys, in the order of the file; all but the last two must say what describe() does. */
enum { VERSION, DEVICE, PICTURE, MATCH, LINES, MS, KEYS };
static const char *const key[KEYS] = {"version", "device", "picture", "match", "lines", "ms"};

/* Everything that the time of a choice depends on. */
static void describe(const struct plx_tune_conditions *what, char value[KEYS][WORDS])
{
    const struct plx_match *match = what->match;
    snprintf(value[VERSION], WORDS, "%s", plx_version);
    snprintf(value[DEVICE], WORDS, "%s", what->device);
    snprintf(value[PICTURE], WORDS, "%d x %d", what->width, what->height);
    snprintf(value[MATCH], WORDS, "%d disparities, %d paths, P2 %s", match->disparities, match->paths,
             match->p2_scale > 0 && match->p2_min < match->p2 ? "varies" : "fixed");
}

/* The error that the last system call left. */
static int fail_here(struct plx_error_message *message, const char *path)
{
    const int error = errno;
    const int result = error == EACCES || error == EPERM || error == EROFS ? PLX_ERR_PERMISSION
                       : error == ENOENT                                   ? PLX_ERR_NOT_FOUND
                                                                           : PLX_ERR_IO;
    return plx_fail(message, result, "%s cannot be written: %s", path, strerror(error));
}

int plx_tune_save(const char *path, const struct plx_tune_conditions *what, int choice, double ms,
                  struct plx_error_message *message)
{
    char value[KEYS][WORDS], temporary[PATH_MAX];

    if (snprintf(temporary, sizeof temporary, "%s.new", path) >= (int)sizeof temporary)
        return plx_fail(message, PLX_ERR_RANGE, "%s: the path is too long; expected less than %d bytes", path, PATH_MAX);
    describe(what, value);
    snprintf(value[LINES], WORDS, "%s", plx_gpu_schedule_name(choice));
    snprintf(value[MS], WORDS, "%.4f", ms);
    FILE *file = fopen(temporary, "we");
    if (!file)
        return fail_here(message, temporary);
    fputs("# What `parallax tune` measured on this machine: how the GPU makes the same disparity fastest. Safe to delete.\n",
          file);
    for (int i = 0; i < KEYS; i++)
        fprintf(file, "%s: \"%s\"\n", key[i], value[i]);
    bool whole = fflush(file) == 0 && !ferror(file) && fsync(fileno(file)) == 0;
    whole = fclose(file) == 0 && whole;
    if (whole && rename(temporary, path) == 0)
        return 0;
    int result = fail_here(message, path);
    unlink(temporary);
    return result;
}

static int choice_named(const char *name)
{
    for (int choice = 0; choice < PLX_GPU_SCHEDULES; choice++)
        if (plx_gpu_schedule_name(choice) && strcmp(plx_gpu_schedule_name(choice), name) == 0)
            return choice;
    return -1;
}

/* What YAML says of WHAT: a choice. */
static int look_up(const struct plx_yaml *yaml, const struct plx_tune_conditions *what, int *ret_choice,
                   struct plx_error_message *message)
{
    const struct plx_yaml_node *root = plx_yaml_root(yaml), *node = NULL;
    char value[KEYS][WORDS];

    describe(what, value);
    for (int i = 0; i <= LINES; i++) {
        node = plx_yaml_get(root, key[i]);
        if (!node || node->kind != PLX_YAML_SCALAR)
            return plx_yaml_fail(yaml, node ? node : root, message, PLX_ERR_FORMAT,
                                 "expected the key %s with a text; run parallax tune", key[i]);
        if (i != LINES && strcmp(node->text, value[i]) != 0)
            return plx_yaml_fail(yaml, node, message, PLX_ERR_UNSUPPORTED,
                                 "measured for %s \"%.80s\", but here it is \"%s\"; run parallax tune", key[i], node->text,
                                 value[i]);
    }
    const int choice = choice_named(node->text);
    if (choice < 0)
        return plx_yaml_fail(yaml, node, message, PLX_ERR_UNSUPPORTED,
                             "no way to launch lines is called \"%.80s\"; run parallax tune", node->text);
    *ret_choice = choice;
    return 0;
}

int plx_tune_load(const char *path, const struct plx_tune_conditions *what, int *ret_choice, struct plx_error_message *message)
{
    struct plx_yaml *yaml = NULL;

    int result = plx_yaml_read(path, &yaml, message);
    if (result == 0)
        result = look_up(yaml, what, ret_choice, message);
    plx_yaml_destroy(yaml);
    return result;
}
