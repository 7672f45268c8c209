/* SPDX-License-Identifier: Apache-2.0 */
#include "app/tune.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/version.h"
#include "config/replace.h"
#include "config/yaml.h"
#include "gpu/gpu.h"

#define VALUE_BYTES 512

/* The keys, in the order of the file. The first four hold the conditions. */
enum { VERSION, DEVICE, PICTURE, MATCH, SCHEDULE, MS, KEYS };
static const char *const key[KEYS] = {"version", "device", "picture", "match", "schedule", "ms"};

/* Writes the conditions as values of the first four keys. */
static void describe(const struct plx_tune_conditions *conditions, char value[KEYS][VALUE_BYTES])
{
    const struct plx_match *match = conditions->match;
    snprintf(value[VERSION], VALUE_BYTES, "%s", plx_version);
    snprintf(value[DEVICE], VALUE_BYTES, "%s", conditions->device);
    snprintf(value[PICTURE], VALUE_BYTES, "%d x %d", conditions->width, conditions->height);
    snprintf(value[MATCH], VALUE_BYTES, "%d disparities, %d paths, P2 %s", match->disparities, match->paths,
             match->p2_scale > 0 && match->p2_min < match->p2 ? "varies" : "fixed");
}

int plx_tune_save(const char *path, const struct plx_tune_conditions *conditions, int schedule, double ms,
                  struct plx_error_message *message)
{
    const struct stat like = {.st_mode = 0644, .st_uid = geteuid(), .st_gid = getegid()};
    char value[KEYS][VALUE_BYTES];
    struct plx_replacement replacement;

    describe(conditions, value);
    snprintf(value[SCHEDULE], VALUE_BYTES, "%s", plx_gpu_schedule_name(schedule));
    snprintf(value[MS], VALUE_BYTES, "%.4f", ms);
    const int result = plx_replacement_begin(path, &replacement, message);
    if (result < 0)
        return result;
    fputs("# The fastest GPU schedule on this machine, measured by `parallax tune`. You can delete this file.\n",
          replacement.file);
    for (int i = 0; i < KEYS; i++)
        fprintf(replacement.file, "%s: \"%s\"\n", key[i], value[i]);
    return plx_replacement_finish(&replacement, &like, message);
}

static int schedule_named(const char *name)
{
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++)
        if (plx_gpu_schedule_name(schedule) && strcmp(plx_gpu_schedule_name(schedule), name) == 0)
            return schedule;
    return -1;
}

/* The schedule in YAML, if it was measured under CONDITIONS. */
static int read_schedule(const struct plx_yaml *yaml, const struct plx_tune_conditions *conditions, int *ret_schedule,
                         struct plx_error_message *message)
{
    const struct plx_yaml_node *root = plx_yaml_root(yaml), *node = NULL;
    char value[KEYS][VALUE_BYTES];

    describe(conditions, value);
    for (int i = 0; i <= SCHEDULE; i++) {
        node = plx_yaml_get(root, key[i]);
        if (!node || node->kind != PLX_YAML_SCALAR)
            return plx_yaml_fail(yaml, node ? node : root, message, PLX_ERR_FORMAT,
                                 "expected the key %s with a text; run parallax tune", key[i]);
        if (i != SCHEDULE && strcmp(node->text, value[i]) != 0)
            return plx_yaml_fail(yaml, node, message, PLX_ERR_UNSUPPORTED,
                                 "measured for %s \"%.80s\", but here it is \"%s\"; run parallax tune", key[i], node->text,
                                 value[i]);
    }
    const int schedule = schedule_named(node->text);
    if (schedule < 0)
        return plx_yaml_fail(yaml, node, message, PLX_ERR_UNSUPPORTED, "unknown schedule \"%.80s\"; run parallax tune",
                             node->text);
    *ret_schedule = schedule;
    return 0;
}

int plx_tune_load(const char *path, const struct plx_tune_conditions *conditions, int *ret_schedule,
                  struct plx_error_message *message)
{
    struct plx_yaml *yaml = NULL;

    int result = plx_yaml_read(path, &yaml, message);
    if (result == 0)
        result = read_schedule(yaml, conditions, ret_schedule, message);
    plx_yaml_destroy(yaml);
    return result;
}

/* --- as clients read it ------------------------------------------------------------------------------------------------- */

#define MEASURED (1u << 16)

uint32_t plx_tune_pack(int schedule, bool is_measured)
{
    return (uint32_t)schedule + 1 + (is_measured ? MEASURED : 0);
}

const char *plx_tune_schedule_name(uint32_t packed)
{
    const int schedule = (int)(packed & (MEASURED - 1)) - 1;
    const char *name = plx_gpu_schedule_name(schedule);
    return schedule < 0 ? NULL : name ? name : "unknown";
}

bool plx_tune_is_measured(uint32_t packed)
{
    return (packed & MEASURED) != 0;
}
