/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax cameras`: lists the cameras with formats and controls, and suggests a configuration. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/exit.h"
#include "app/options.h"
#include "app/view/json.h"
#include "drivers/v4l2/controls.h"
#include "drivers/v4l2/format.h"
#include "drivers/v4l2/node.h"

#define MAX_CAMERAS 64
#define SUGGESTION 1024 /* bytes */

/* The suggested configuration of one camera. */
struct proposal {
    char name[PLX_V4L2_PATH];
    char card[32];
    bool single, both; /* it gives one eye, or both eyes side by side */
    uint32_t fourcc;
    struct plx_v4l2_frame_size size; /* picture size */
};

static cJSON *size_json(const struct plx_v4l2_frame_size *size)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "width", size->width);
    cJSON_AddNumberToObject(item, "height", size->height);
    if (size->up_to)
        cJSON_AddTrueToObject(item, "up_to");
    if (size->rate_hz > 0.0)
        cJSON_AddItemToObject(item, "rate_hz", plx_json_number(size->rate_hz, 3));
    return item;
}

static cJSON *formats_json(const struct plx_v4l2_format_info *offer, int count)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        char fourcc[5];
        cJSON *item = cJSON_CreateObject(), *sizes = cJSON_CreateArray();
        plx_v4l2_fourcc_text(offer[i].fourcc, fourcc);
        cJSON_AddStringToObject(item, "format", fourcc);
        cJSON_AddBoolToObject(item, "readable", offer[i].readable);
        for (int k = 0; k < offer[i].size_count; k++)
            cJSON_AddItemToArray(sizes, size_json(&offer[i].size[k]));
        cJSON_AddItemToObject(item, "sizes", sizes);
        cJSON_AddItemToArray(array, item);
    }
    return array;
}

static cJSON *controls_json(const struct plx_v4l2_node *node)
{
    cJSON *array = cJSON_CreateArray();
    struct plx_v4l2_control control = {.id = 0};
    while (plx_v4l2_control_next(node, control.id, &control)) {
        char id[16];
        int64_t value;
        cJSON *item = cJSON_CreateObject();
        snprintf(id, sizeof id, "0x%08x", control.id);
        cJSON_AddStringToObject(item, "name", control.name);
        cJSON_AddStringToObject(item, "id", id);
        cJSON_AddNumberToObject(item, "minimum", (double)control.minimum);
        cJSON_AddNumberToObject(item, "maximum", (double)control.maximum);
        cJSON_AddNumberToObject(item, "step", (double)control.step);
        cJSON_AddNumberToObject(item, "default", (double)control.default_value);
        if (plx_v4l2_control_get(node, &control, &value) == 0)
            cJSON_AddNumberToObject(item, "value", (double)value);
        cJSON_AddItemToArray(array, item);
    }
    return array;
}

/* Everything about one camera; PROPOSAL gets its suggested configuration. */
static cJSON *camera_json(const struct plx_v4l2_node *node, struct proposal *proposal)
{
    static struct plx_v4l2_format_info offer[PLX_V4L2_FORMATS]; /* large */
    const int count = plx_v4l2_enumerate_formats(node, offer);
    cJSON *item = cJSON_CreateObject();

    memset(proposal, 0, sizeof *proposal);
    plx_v4l2_configured_name(node, proposal->name);
    memcpy(proposal->card, node->identity.card, sizeof proposal->card);
    proposal->both = plx_v4l2_suggest_format(offer, count, true, &proposal->fourcc, &proposal->size);
    proposal->single = !proposal->both && plx_v4l2_suggest_format(offer, count, false, &proposal->fourcc, &proposal->size);
    cJSON_AddStringToObject(item, "node", node->path);
    cJSON_AddStringToObject(item, "name", proposal->name);
    cJSON_AddStringToObject(item, "card", node->identity.card);
    cJSON_AddStringToObject(item, "driver", node->identity.driver);
    cJSON_AddStringToObject(item, "bus", node->identity.bus);
    cJSON_AddStringToObject(item, "serial", node->identity.serial);
    cJSON_AddItemToObject(item, "formats", formats_json(offer, count));
    cJSON_AddItemToObject(item, "controls", controls_json(node));
    return item;
}

/* The configuration of the first two cameras of one model, or of the first that gives both eyes. False if there is none. */
static bool suggest(const struct proposal *proposal, int count, char text[SUGGESTION])
{
    const struct proposal *left = NULL, *right = NULL;
    char fourcc[5];

    for (int i = 0; i < count && !left; i++) {
        for (int k = i + 1; k < count && !right; k++)
            if (proposal[i].single && proposal[k].single && strcmp(proposal[i].card, proposal[k].card) == 0)
                right = &proposal[k];
        if (right || proposal[i].both)
            left = &proposal[i];
    }
    if (!left)
        return false;
    plx_v4l2_fourcc_text(left->fourcc, fourcc);
    int used = snprintf(text, SUGGESTION, "source:\n  type: v4l2\n  left: \"%s\"\n", left->name);
    if (right)
        used += snprintf(text + used, SUGGESTION - (size_t)used, "  right: \"%s\"\n", right->name);
    used += snprintf(text + used, SUGGESTION - (size_t)used, "  format: %s\n  width: %d%s\n  height: %d\n", fourcc,
                     left->size.width / (right ? 1 : 2), right ? "" : " # of one eye: the picture shows both side by side",
                     left->size.height);
    if (left->size.rate_hz > 0.0)
        used += snprintf(text + used, SUGGESTION - (size_t)used, "  rate_hz: %g\n", fmin(left->size.rate_hz, 30.0));
    snprintf(text + used, SUGGESTION - (size_t)used,
             "# calibration: /etc/parallax/calibration.yaml # without it: raw pictures, see calibration.md\n");
    return true;
}

static const char *text_of(const cJSON *item, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(item, key));
}

static double number_of(const cJSON *item, const char *key)
{
    const cJSON *number = cJSON_GetObjectItem(item, key);
    return number ? number->valuedouble : 0.0;
}

static void print_formats(const cJSON *formats)
{
    const cJSON *format, *size;
    int others = 0;

    cJSON_ArrayForEach (format, formats) {
        if (!cJSON_IsTrue(cJSON_GetObjectItem(format, "readable"))) {
            others++;
            continue;
        }
        printf("    %-5s", text_of(format, "format"));
        cJSON_ArrayForEach (size, cJSON_GetObjectItem(format, "sizes")) {
            printf(" %s%.0fx%.0f", cJSON_GetObjectItem(size, "up_to") ? "up to " : "", number_of(size, "width"),
                   number_of(size, "height"));
            if (cJSON_GetObjectItem(size, "rate_hz"))
                printf("@%g", number_of(size, "rate_hz"));
        }
        putchar('\n');
    }
    if (others > 0)
        printf("    and %d formats that parallaxd cannot read (--json lists them)\n", others);
}

static void print_camera(const cJSON *camera)
{
    const cJSON *control;

    printf("%s: %s (driver %s, bus %s%s%s)\n", text_of(camera, "node"), text_of(camera, "card"), text_of(camera, "driver"),
           text_of(camera, "bus"), *text_of(camera, "serial") ? ", serial " : "", text_of(camera, "serial"));
    printf("  name      %s\n  formats, with sizes and their highest rates in Hz\n", text_of(camera, "name"));
    print_formats(cJSON_GetObjectItem(camera, "formats"));
    puts("  controls");
    cJSON_ArrayForEach (control, cJSON_GetObjectItem(camera, "controls")) {
        printf("    %-31s %s  %.0f to %.0f, default %.0f", text_of(control, "name"), text_of(control, "id"),
               number_of(control, "minimum"), number_of(control, "maximum"), number_of(control, "default"));
        if (cJSON_GetObjectItem(control, "value"))
            printf(", now %.0f", number_of(control, "value"));
        putchar('\n');
    }
    putchar('\n');
}

static void print_text(const cJSON *root)
{
    const cJSON *camera, *suggestion = cJSON_GetObjectItem(root, "suggestion");

    cJSON_ArrayForEach (camera, cJSON_GetObjectItem(root, "cameras"))
        print_camera(camera);
    if (cJSON_IsString(suggestion))
        printf("Configuration to begin with, for " PLX_DEFAULT_CONFIG ":\n\n%s", cJSON_GetStringValue(suggestion));
    else
        puts(
            "No configuration to suggest: expected two cameras of one model, or one camera that gives both eyes side by side.");
}

/* Every camera that can be opened; *ret_denied counts the video nodes that this user may not open. */
static cJSON *list_cameras(int *ret_denied)
{
    cJSON *root = cJSON_CreateObject(), *cameras = cJSON_CreateArray();
    struct proposal proposal[MAX_CAMERAS];
    int number[MAX_CAMERAS], proposals = 0;
    char text[SUGGESTION];
    const int count = plx_v4l2_node_numbers(number, MAX_CAMERAS);

    *ret_denied = 0;
    for (int i = 0; i < count; i++) {
        struct plx_v4l2_node node;
        char path[32];
        snprintf(path, sizeof path, "/dev/video%d", number[i]);
        int result = plx_v4l2_open(path, &node, NULL);
        *ret_denied += result == PLX_ERR_PERMISSION;
        if (result < 0) /* such as outputs and metadata nodes, which give no pictures */
            continue;
        cJSON_AddItemToArray(cameras, camera_json(&node, &proposal[proposals++]));
        plx_v4l2_close(&node);
    }
    cJSON_AddItemToObject(root, "cameras", cameras);
    cJSON_AddItemToObject(root, "suggestion",
                          suggest(proposal, proposals, text) ? cJSON_CreateString(text) : cJSON_CreateNull());
    return root;
}

int plx_command_cameras(int argc, char **argv)
{
    bool json = false;
    const struct plx_option options[] = {PLX_OPTION("json", NULL, json, "prints JSON"), {0}};
    const struct plx_command_line line = {
        .program = "parallax cameras",
        .about =
            "Lists the cameras of this machine: the name for the configuration, formats with sizes and rates, controls, and a "
            "configuration to begin with. The exit code is 66 if there are none, 77 if this user may open none.",
        .option = options};
    int denied;

    plx_parse_command_line(&line, argc, argv, NULL);
    cJSON *root = list_cameras(&denied);
    if (cJSON_GetArraySize(cJSON_GetObjectItem(root, "cameras")) == 0) {
        cJSON_Delete(root);
        return denied > 0 ? plx_exit_error("parallax cameras", PLX_EXIT_PERMISSION,
                                           "this user may not open %d video nodes; join the group video", denied)
                          : plx_exit_error("parallax cameras", PLX_EXIT_NO_INPUT,
                                           "no camera found: no /dev/videoN gives pictures; connect one or load its driver");
    }
    if (json) {
        plx_json_print(root);
        return PLX_EXIT_OK;
    }
    print_text(root);
    cJSON_Delete(root);
    return PLX_EXIT_OK;
}
